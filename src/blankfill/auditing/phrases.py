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
    ours, controls = {*phrases} - {()}, {*control} - {()}
    shared = ours & controls
    ours, controls = ours - shared, controls - shared
    if not ours or not controls:
        return None
    runs = _runs_of(generated, {len(words) for words in ours | controls})
    hits = [len(side & runs) for side in (ours, controls)]
    return Returned(contrast_shares(hits[0], len(ours), hits[1], len(controls)), len(shared))


def _runs_of(texts: Sequence[Words], sizes: Collection[int]) -> set[Words]:
    """Return all runs of words of these sizes."""
    return {words[i : i + n] for words in texts for n in sizes for i in range(len(words) - n + 1)}
