"""The steps of the gap run by run: how far a difference moves when every language model is trained anew."""

from collections.abc import Iterable

import pandas as pd

from .cells import Cell, Trained
from .gap import explain_gap
from .utility_gap import explain_utility

COLUMNS = "corpus step first second scope metric seed value low high n reason".split()


def compare_by_run(
    cells: dict[str, list[Cell]], trained: dict[tuple[str, str], list[Trained]], resamples: int
) -> pd.DataFrame:
    """Return one row a corpus, step, measure and seed; none where there is one seed.

    `cells` by corpus, `trained` by (corpus, task); scope `utility` is the difference as training data. Intervals are over
    documents or test units and, as training data, over task seeds.
    """
    rows = [
        row | {"seed": seed}
        for corpus, made in cells.items()
        for seed in _seeds(made)
        for row in explain_gap(corpus, [cell for cell in made if cell.seed == seed], resamples)
    ]
    rows += [
        row | {"seed": seed, "scope": "utility"}
        for (corpus, task), made in trained.items()
        for seed in _seeds(made)
        for row in explain_utility(corpus, task, [one for one in made if one.seed == seed], resamples)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _seeds(made: Iterable[Cell | Trained]) -> list[int]:
    seeds = sorted({one.seed for one in made})
    return seeds if len(seeds) > 1 else []
