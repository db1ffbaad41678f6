"""Random draws named by what they are for, so that no order of work can change them."""

import hashlib

import numpy as np


def keyed_rng(*key: object) -> np.random.Generator:
    """Return a generator that depends on nothing but its key, such as (seed, "fill", document id, blank)."""
    digest = hashlib.sha256(repr(key).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))


def keyed_uniform(*key: object) -> float:
    """Return one number in [0, 1) that depends on nothing but its key."""
    digest = hashlib.sha256(repr(key).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
