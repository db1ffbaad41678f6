"""Random texts to score, in pairs of candidates and references."""

import random

WORDS = "the a dose of aspirin reduced fever in mice doctor physician cats cat , . (".split()


def write_pairs(n=12, seed=0, longest=30):
    """Return n candidates and n references of 1 to `longest` words."""
    rng = random.Random(seed)
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(1, longest))) for _ in range(2 * n)]
    return texts[:n], texts[n:]
