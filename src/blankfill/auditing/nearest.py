"""The distance from texts to the closest training text: a description, which neither proves nor rules out a leak."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from .runs import Words

QUANTILES = (0.0, 0.05, 0.5, 0.95)


def describe_nearest(texts: Sequence[Words], train: Sequence[Words]) -> dict[float, float]:
    """Return quantiles of the distance of each text to its closest training text.

    The distance is that of Jaccard between the sets of words: 0 for the same words, 1 for none in common.
    """
    postings: dict[str, list[int]] = defaultdict(list)
    for i, words in enumerate(train):
        for word in {*words}:
            postings[word].append(i)
    places = {word: np.array(numbers) for word, numbers in postings.items()}
    sizes = np.array([len({*words}) for words in train])
    distances = [_distance({*words}, places, sizes) for words in texts if words]
    return {share: float(np.quantile(distances, share)) for share in QUANTILES} if distances else {}


def _distance(words: set[str], places: dict[str, np.ndarray], sizes: np.ndarray) -> float:
    common = np.zeros(len(sizes))
    for word in words & places.keys():
        common[places[word]] += 1
    return 1 - float((common / (sizes + len(words) - common)).max())
