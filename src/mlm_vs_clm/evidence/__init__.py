"""Findings: pure functions on tables and cells. Nothing here needs a network, Hydra or the store."""
