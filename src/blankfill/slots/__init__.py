"""Slots: the places of a text that are filled, what may stand there, in which order, and what it costs."""
