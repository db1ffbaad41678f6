"""The table `sensitivity`: what the answers would say by wider and narrower margins."""

import pandas as pd

from .tables import COLUMNS
from .verdicts import DIFFERENCE, MADE, SLOPE, Criterion, judge

TIMES = (0.5, 1.0, 2.0)  # the margin of the rules


def vary_margins(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the verdict on each difference that was made, by each of TIMES its margin; nothing else is changed."""
    is_varied = (
        (answers["status"] == MADE) & answers["kind"].isin([DIFFERENCE, SLOPE]) & answers["margin"].notna()
    )
    named = [name for name in COLUMNS["sensitivity"] if name not in ("times", "margin", "direction", "size")]
    rows = []
    for row in answers[is_varied].to_dict("records"):
        for times in TIMES:
            margin = times * row["margin"]
            verdict = judge(row["low"], row["high"], row["p"], Criterion(margin, row["kind"]), row["n"])
            said = {"direction": verdict.direction, "size": verdict.size}
            rows.append({name: row[name] for name in named} | {"times": times, "margin": margin} | said)
    return pd.DataFrame(rows, columns=COLUMNS["sensitivity"])
