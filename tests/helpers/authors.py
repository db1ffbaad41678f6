"""Documents of simulated authors, each with favourite words."""

import numpy as np

from mlm_vs_clm.documents import Document

VOCABULARY = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnrst"]


def write_author(name, n, seed):
    """Yield n documents of an author with favourite words, so that similarity separates authors."""
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(len(VOCABULARY), 0.15))
    for i in range(n):
        words = rng.choice(VOCABULARY, size=60, p=probabilities)
        yield Document(f"{name}-{i}", " ".join(words), ("R",), author=name, date=f"2013-0{1 + i}-10")


def write_many(n_authors, start):
    """Return four documents of each author."""
    return [d for a in range(n_authors) for d in write_author(f"a{start + a}", 4, start + a)]
