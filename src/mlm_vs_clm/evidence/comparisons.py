"""The comparisons of texts: what claim C1 compares, at every masking of a study and by every measure that both arms have."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from ..stats import PairedDifference
from .cells import Comparison
from .competence import Place, mark
from .differences import name_comparison, to_values
from .study import Study
from .tables import COLUMNS, TEXT


def compare_maskings(
    comparisons: Sequence[Comparison], study: Study, noise: Mapping[str, float]
) -> pd.DataFrame:
    """Return one row per comparison, corpus, masking and measure; p is two-sided and not corrected.

    Only what was run has a row. A difference is above 0 where the first arm is ahead, over all seeds at which both filled the
    same blanks; of one training each its interval has the `noise` between trainings. `excluded_because` says which arm is not competent at that masking.
    """
    rows, reasons = [], []
    for comparison in comparisons:
        for first, second in _pair_places(comparison, study):
            for measure in _share_measures(first, second, study):
                rows.append(_to_row(comparison, study.compare(first, second, measure, noise), first, measure))
                reasons.append([study.competence.explain(place) for place in (first, second)])
    return mark(pd.DataFrame(rows, columns=COLUMNS["comparisons"]), list(zip(*reasons, strict=True)))


def _pair_places(comparison: Comparison, study: Study) -> Iterator[tuple[Place, Place]]:
    """Yield the places of both arms at every corpus and masking where both were run."""
    for first in study.scored:
        second = (first[0], comparison.second, *first[2:])
        if first[1] == comparison.first and second in study.scored:
            yield first, second


def _share_measures(first: Place, second: Place, study: Study) -> list[tuple[str, str]]:
    """Return the measures (scope, metric) that cells of both arms have."""
    sides = [
        {name for cell in study.scored[place].values() for name in cell.statistics}
        for place in (first, second)
    ]
    return sorted(set.intersection(*sides))


def _to_row(
    comparison: Comparison, estimate: PairedDifference, first: Place, measure: tuple[str, str]
) -> dict:
    return {
        **{"kind": TEXT, "corpus": first[0], "strategy": first[2], "ratio": first[3]},
        **{"scope": measure[0], "metric": measure[1]},
        **name_comparison(comparison),
        **to_values(estimate),
    }
