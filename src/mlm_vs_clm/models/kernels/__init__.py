"""Attention and linear layers that compute the same function in less time or memory."""
