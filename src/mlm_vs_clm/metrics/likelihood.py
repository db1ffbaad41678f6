"""How likely the original fills are under the arm itself, measured while it fills; lower is better."""

import numpy as np

from ..stats import ratio_of_sums
from .metric import Metric

NATS = "nats_per_character"


def stack_likelihoods(nats: list[float], characters: list[int]) -> np.ndarray:
    """Return (n documents, 2): minus the log-likelihood (nats) of the original fills, and their characters."""
    return np.array([nats, characters], dtype=float).T.reshape(-1, 2)


LIKELIHOOD = Metric(
    stack_likelihoods,
    ratio_of_sums,
    lambda: "nats of the originals by their characters|softmax over all tokens",
)
