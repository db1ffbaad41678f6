"""Can a metric be trusted? Whether it ranks the original above competent arms, those above floors, floors above unfilled.

Of the proxies of coherence and grammar: whether they agree on which arms write better.
"""

import math
from dataclasses import asdict
from itertools import combinations

import numpy as np
import pandas as pd

from ..arms.baselines import BOUNDS
from ..correlations import correlate_ranks
from ..metrics import METRICS, PROXIES, is_lower_better
from .competence import COMPETENT, NOT_RUN
from .tables import COLUMNS, at_main_cell

RANKS, UNFILLED = "ranks", "unfilled"
# The blanks on which an arm must be competent.
BLANKS = {"exact_match": "all", "exact_match_content": "content"}
MISRANKED = {  # the step of the order -> what is wrong where it is not above zero
    "above_arms": "an arm above the original",
    "above_floors": "a floor above an arm",
    "above_unfilled": "unfilled text above a floor",
}


def judge_metrics(scores: pd.DataFrame, competence: pd.DataFrame, main: tuple[str, float]) -> pd.DataFrame:
    """Return the table `sanity`: one row per corpus and metric at the main cell, over the seeds of all arms.

    Steps, of a metric of which less is better with the sign turned, are shares of (oracle - unfilled): from the best competent arm up to the oracle, from the floor up to its arm
    for the arm that clears it least (`arm` and `floor`), and from unfilled text up to the lowest of the other floors.
    """
    if scores.empty or competence.empty:
        return pd.DataFrame(columns=COLUMNS["sanity"])
    scores, competent = at_main_cell(scores, main), at_main_cell(competence, main)
    competent = competent[competent["outcome"] == COMPETENT]
    rows = []
    for (corpus, scope, metric), cells in scores.groupby(["corpus", "scope", "metric"]):
        if metric in (*METRICS, *BLANKS):
            allowed = competent["word_class"] == BLANKS.get(metric, "all")
            pairs = competent[allowed & (competent["corpus"] == corpus)][["arm", "floor"]]
            is_shared = cells.groupby("seed")["arm"].transform("nunique") == cells["arm"].nunique()
            values = (cells[is_shared] if is_shared.any() else cells).groupby("arm")["value"].mean().to_dict()
            judged = _judge(values, list(pairs.itertuples(index=False, name=None)), is_lower_better(metric))
            rows.append({"corpus": corpus, "scope": scope, "metric": metric} | judged)
    return pd.DataFrame(rows, columns=COLUMNS["sanity"])


def _judge(measured: dict[str, float], pairs: list[tuple[str, str]], is_lower: bool) -> dict:
    oracle, unfilled = (measured.get(name, math.nan) for name in ("oracle", UNFILLED))
    about = {"oracle_value": oracle, "unfilled_value": unfilled, "outcome": NOT_RUN}
    sign = -1 if is_lower else 1
    values = {name: sign * value for name, value in measured.items()}  # more is better
    oracle, unfilled = sign * oracle, sign * unfilled
    pairs = [pair for pair in pairs if not any(math.isnan(values.get(name, math.nan)) for name in pair)]
    if math.isnan(oracle - unfilled) or np.isclose(oracle, unfilled):
        return about | {"reason": "no value for oracle and unfilled that differ"}
    if not pairs:
        return about | {"reason": "no competent arm"}
    arm, floor = min(pairs, key=lambda pair: values[pair[0]] - values[pair[1]])
    # Unfilled text is the floor of an arm that writes anew.
    floor_values = [values[floor_arm] for _, floor_arm in pairs if floor_arm != UNFILLED]
    steps = {
        "above_arms": oracle - max(values[competent_arm] for competent_arm, _ in pairs),
        "above_floors": values[arm] - values[floor],
        "above_unfilled": min(floor_values, default=math.nan) - unfilled,
    }
    wrong = [words for step, words in MISRANKED.items() if steps[step] <= 0]
    shares = {name: step / (oracle - unfilled) for name, step in steps.items()}
    named = {"arm": arm, "arm_value": measured[arm], "floor": floor, "floor_value": measured[floor]}
    return about | named | shares | {"outcome": "; ".join(wrong) or RANKS, "reason": ""}


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
            estimate = correlate_ranks(by_arm[first], by_arm[second])
            rows.append({"corpus": corpus, "first": first, "second": second} | asdict(estimate))
    return pd.DataFrame(rows)
