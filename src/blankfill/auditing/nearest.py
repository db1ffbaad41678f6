"""The distance from texts to the closest training text: a description, which neither proves nor rules out a leak."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from .runs import Words

QUANTILES = (0.0, 0.05, 0.5, 0.95)
OCCURRENCES = 20_000  # of a text's words in training texts, rarest words first, that are looked at
CLOSEST = 100  # training texts that a text is compared with


class TrainingTexts:
    """The sets of words of training texts, and in which of them each word stands."""

    def __init__(self, train: Sequence[Words]):
        self.sets = [frozenset(words) for words in train]
        self.sizes = np.array([*map(len, self.sets)])
        places: dict[str, list[int]] = defaultdict(list)
        for place, words in enumerate(self.sets):
            for word in words:
                places[word].append(place)
        self.places = {word: np.array(numbers) for word, numbers in places.items()}

    def distance(self, words: set[str]) -> float:
        """Return the distance of a text to the closest of the training texts that share its rarest words."""
        found, left = [np.array([], dtype=int)], OCCURRENCES
        for word in sorted(words & self.places.keys(), key=lambda word: (len(self.places[word]), word)):
            found.append(self.places[word][:left])
            left -= len(found[-1])
            if not left:
                break
        numbers, common = np.unique(np.concatenate(found), return_counts=True)
        likely = np.argsort(-common / (self.sizes[numbers] + len(words) - common), kind="stable")
        closest = [self.sets[i] for i in numbers[likely[:CLOSEST]]]
        return 1 - max((len(words & others) / len(words | others) for others in closest), default=0.0)


def describe_nearest(texts: Sequence[Words], train: Sequence[Words]) -> dict[float, float]:
    """Return quantiles of the distance of each text to its closest training text.

    The distance is that of Jaccard between the sets of words: 0 for the same words, 1 for none in common. Where the
    words of a text stand more than OCCURRENCES times in the training texts, its rarest words say with which CLOSEST of
    them it is compared: the closest may then be missed, and the distance too large.
    """
    trained = TrainingTexts(train)
    distances = [trained.distance({*words}) for words in texts if words]
    return {share: float(np.quantile(distances, share)) for share in QUANTILES} if distances else {}
