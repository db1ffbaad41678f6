"""The comparisons of texts: what claim C1 compares, at every masking of a study and by every measure that both arms have."""

from collections.abc import Mapping, Sequence
from itertools import product

import pandas as pd

from .cells import Comparison
from .competence import mark
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
    for comparison, first in product(comparisons, study.scored):
        second = (first[0], comparison.second, *first[2:])
        if first[1] != comparison.first or second not in study.scored:
            continue
        about = {"kind": TEXT, "corpus": first[0], "strategy": first[2], "ratio": first[3]}
        about |= name_comparison(comparison)
        silent = [study.competence.explain(place) for place in (first, second)]
        for scope, metric in sorted(study.list_measures(first) & study.list_measures(second)):
            estimate = study.compare(first, second, (scope, metric), noise)
            rows.append(about | {"scope": scope, "metric": metric} | to_values(estimate))
            reasons.append(silent)
    return mark(pd.DataFrame(rows, columns=COLUMNS["comparisons"]), list(zip(*reasons, strict=True)))
