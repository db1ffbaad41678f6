"""Whether the proxies of coherence and grammar agree on which arms write better."""

from itertools import combinations

import pandas as pd

from ..arms.baselines import BOUNDS
from ..correlations import correlations
from ..metrics import PROXIES
from .tables import at_main_cell


def rank_alike(scores: pd.DataFrame, main: tuple[str, float]) -> pd.DataFrame:
    """Return Spearman's correlation of each two proxies over the arms of a corpus at the main cell, seeds averaged.

    Columns: corpus, first, second, value, low, high (a bootstrap over arms), n (arms), reason. The bounds (unfilled and
    original text) are no arms.
    """
    cells = at_main_cell(scores, main)
    cells = cells[cells["metric"].isin(PROXIES) & ~cells["arm"].isin(BOUNDS)]
    rows = []
    for corpus, of_corpus in cells.groupby("corpus"):
        by_arm = of_corpus.pivot_table("value", "arm", "metric", dropna=False).reindex(columns=[*PROXIES])
        for first, second in combinations([name for name in PROXIES if by_arm[name].notna().any()], 2):
            estimate = correlations(by_arm[first].to_list(), by_arm[second].to_list())["spearman"]
            named = {"corpus": corpus, "first": first, "second": second, "value": estimate.value}
            rows.append(
                named
                | {"low": estimate.low, "high": estimate.high, "n": estimate.n, "reason": estimate.reason}
            )
    return pd.DataFrame(rows)
