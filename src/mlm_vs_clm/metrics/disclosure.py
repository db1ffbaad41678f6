"""What a text and its writer give away of the texts that the writer was trained on, and of the words that were masked.

Each count stands beside the same count of a control that the writer did not read. Lower is better. No word of a text is
in a row.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np

from blankfill.auditing.runs import Words, words_of

from ..documents import classify_word
from ..stats import ratio_of_sums
from .metric import Metric, share_statistics

COPIED, NAMES, MEMBERSHIP = "copied", "names_returned", "membership"
CANARY_LOSS, CANARY_TEXT = "canary_loss", "canary_text"
SIZE = 3  # words of a run that is looked for
RULE = "words without case and punctuation"


def count_copied(texts: Sequence[str], read: Sequence[str], held_out: Sequence[str]) -> np.ndarray:
    """Return (n documents, 3): runs of SIZE words that stand in the texts read, those that stand in held-out texts, and all runs.

    A document of fewer words is a NaN row. `read` and `held_out` should have equally many words.
    """
    run_sets = [{run for text in side for run in _list_runs(words_of(text))} for side in (read, held_out)]
    runs_of = (_list_runs(words_of(text)) for text in texts)
    return share_statistics(
        ((*(sum(run in side for run in runs) for side in run_sets), len(runs)) for runs in runs_of), 3
    )


def _list_runs(words: Words) -> list[Words]:
    return [words[i : i + SIZE] for i in range(len(words) - SIZE + 1)]


def count_names(fills: Sequence[Sequence[str]], originals: Sequence[Sequence[str]]) -> np.ndarray:
    """Return (n documents, 4): masked names among the fills of their document, such names; and the same of names of the next document.

    A name is a masked word that is no stopword, counted once a document. The control leaves out names of the document
    itself. A document where one side has no name is a NaN row.
    """
    names = [_list_names(words) for words in originals]
    rows = []
    for number, words in enumerate(fills):
        names_of_document, filled = names[number], {word for fill in words for word in words_of(fill)}
        names_of_next = names[(number + 1) % len(names)] - names_of_document
        counts = (
            len(names_of_document & filled),
            len(names_of_document),
            len(names_of_next & filled),
            len(names_of_next),
        )
        rows.append(counts if names_of_document and names_of_next else (np.nan,) * 4)
    return np.array(rows, dtype=float).reshape(-1, 4)


def _list_names(words: Sequence[str]) -> set[str]:
    return {name_word for word in words if classify_word(word) == "content" for name_word in words_of(word)}


def place_losses(members: np.ndarray, control: np.ndarray) -> np.ndarray:
    """Return (n,) values whose mean is the AUC of `the lower loss was trained on`, from losses (n,) of n pairs.

    A value is that of a text among the other side's, for both texts of a pair, minus the AUC: the mean of n such values
    has the variance of DeLong et al. (1988).
    """
    lower = (members[:, None] < control).astype(float) + (members[:, None] == control) / 2
    return lower.mean(axis=1) + lower.mean(axis=0) - lower.mean()


def measure_surprise(phrases: Sequence[Words], texts: Sequence[str]) -> np.ndarray:
    """Return (n phrases,) the mean of minus the log-probability of the words after the first, in nats, by tables of the texts.

    A word has a third of its share after the word before, a third of its share of all words, and a third of one word in as
    many as there are: an attack that needs the released texts alone.
    """
    words = [words_of(text) for text in texts]
    singles = Counter(chain.from_iterable(words))
    pairs = Counter(pair for of_text in words for pair in pairwise(of_text))
    n_words, n_kinds = max(1, singles.total()), len(singles) + 1

    def probability(before: str, word: str) -> float:
        follows = pairs[before, word] / max(1, singles[before])
        return (follows + singles[word] / n_words + 1 / n_kinds) / 3

    return np.array(
        [-np.mean([math.log(probability(*pair)) for pair in pairwise(phrase)]) for phrase in phrases]
    )


def subtract_control(sums: np.ndarray) -> np.ndarray:
    """Turn sums (..., 3) of a count, its control and their total into the difference of the two shares."""
    sums = np.asarray(sums, dtype=float)
    return ratio_of_sums(np.stack([sums[..., 0] - sums[..., 1], sums[..., 2]], axis=-1))


def subtract_share(sums: np.ndarray) -> np.ndarray:
    """Turn sums (..., 4) of two counts, each before its total, into the first share minus the second."""
    sums = np.asarray(sums, dtype=float)
    return ratio_of_sums(sums[..., :2]) - ratio_of_sums(sums[..., 2:])


DISCLOSURE: dict[str, Metric] = {
    COPIED: Metric(
        count_copied,
        lambda: f"share of {SIZE}-word runs in texts read minus in as many held-out words|{RULE}",
    ),
    NAMES: Metric(
        count_names,
        lambda: f"share of masked content words among the fills minus that of the next document|{RULE}",
    ),
    MEMBERSHIP: Metric(place_losses, lambda: "AUC of the lower loss per token|pairs of texts"),
    CANARY_LOSS: Metric(place_losses, lambda: "AUC of the lower loss per token|the drawn words of canaries"),
    CANARY_TEXT: Metric(
        place_losses,
        lambda: f"AUC of the lower surprise by word tables|the drawn words of canaries|{RULE}",
    ),
}
