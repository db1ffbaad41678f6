"""Names and canaries: whether phrases of the training texts come back more often than phrases that were never in them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from .intervals import Contrast, contrast_shares
from .runs import Words


@dataclass(frozen=True)
class Returned:
    """Phrases that stand in the generated texts, against control phrases that do; `n_shared` were in both and left out."""

    share: Contrast
    n_shared: int


def measure_phrases(
    phrases: Iterable[Words], control: Iterable[Words], generated: Sequence[Words]
) -> Returned | None:
    """Return the share of the different phrases that come back; None where one side has none of its own."""
    ours, others = {*phrases} - {()}, {*control} - {()}
    shared = ours & others
    ours, others = ours - shared, others - shared
    if not ours or not others:
        return None
    known = _runs_of(generated, {len(words) for words in ours | others})
    hits = [len(side & known) for side in (ours, others)]
    return Returned(contrast_shares(hits[0], len(ours), hits[1], len(others)), len(shared))


def _runs_of(texts: Sequence[Words], sizes: Collection[int]) -> set[Words]:
    """Return all runs of words of these sizes."""
    return {words[i : i + n] for words in texts for n in sizes for i in range(len(words) - n + 1)}
