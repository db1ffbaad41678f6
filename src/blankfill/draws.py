"""Random draws named by what they are for, so that no order of work can change them."""

import hashlib

import numpy as np

MEAN_RUN = 3  # words, of the runs that `pick_runs` draws


def keyed_rng(*key: object) -> np.random.Generator:
    """Return a generator that depends on nothing but its key, such as (seed, "fill", document id, blank)."""
    digest = hashlib.sha256(repr(key).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))


def keyed_uniform(*key: object) -> float:
    """Return one number in [0, 1) that depends on nothing but its key."""
    digest = hashlib.sha256(repr(key).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def name_text(text: str) -> str:
    """Return the name of a text in a key: the same for the same text, wherever it stands."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def pick_singly(n_eligible: int, n_masked: int, rng: np.random.Generator) -> list[int]:
    """Return places among the eligible words, each with the same probability."""
    return [int(place) for place in rng.choice(n_eligible, size=n_masked, replace=False)] if n_masked else []


def pick_runs(n_eligible: int, n_masked: int, rng: np.random.Generator) -> list[int]:
    """Return places in runs separated by kept words, of geometric length (mean MEAN_RUN where enough are kept)."""
    n_kept = n_eligible - n_masked
    lengths = _draw_lengths(n_masked, rng)
    n_runs = min(len(lengths), n_kept + 1)
    merged = [sum(lengths[first::n_runs]) for first in range(n_runs)]
    kept_before = sorted(rng.choice(n_kept + 1, size=n_runs, replace=False).tolist())
    starts = [n_before + sum(merged[:i]) for i, n_before in enumerate(kept_before)]
    return [start + step for start, length in zip(starts, merged, strict=True) for step in range(length)]


def _draw_lengths(total: int, rng: np.random.Generator) -> list[int]:
    """Draw lengths of runs until they add up to `total`, the last one cut."""
    lengths: list[int] = []
    while (left := total - sum(lengths)) > 0:
        lengths.append(min(left, int(rng.geometric(1 / MEAN_RUN))))
    return lengths
