"""The degree of reproduction: how much paired values vary, whether arms rank alike, whether verdicts agree."""

import math

import numpy as np
import pandas as pd

from ..stats import kendall
from .tables import KEYS

RANKED = {"scores": "arm", "downstream": "trained_on"}
# The expected standard deviation of two normal values over their true one, sqrt(2 / pi).
C4_OF_TWO = math.sqrt(2 / math.pi)


def summarise(fresh: dict[str, pd.DataFrame], committed: dict[str, pd.DataFrame]) -> list[str]:
    """Return lines: coefficient of variation, rank agreement, verdicts agreed; each says what it lacks."""
    lines = ["degree of reproduction"]
    for name, ranked in RANKED.items():
        pairs = pair_values(name, fresh, committed)
        lines += [f"  {name}: {tell_variation(pairs)}", f"  {name}: {tell_ranks(pairs, name, ranked)}"]
    return [*lines, f"  claims: {tell_verdicts(fresh, committed)}"]


def pair_values(name: str, fresh: dict, committed: dict) -> pd.DataFrame:
    """Return the rows of one table that both sides hold, with `value_fresh` and `value_committed`."""
    sides = [tables.get(name, pd.DataFrame()) for tables in (fresh, committed)]
    columns = [*KEYS[name], "value"]
    if any(not set(columns) <= set(side.columns) for side in sides):
        return pd.DataFrame(columns=[*KEYS[name], "value_fresh", "value_committed"])
    first, second = (side[columns].drop_duplicates(KEYS[name]) for side in sides)
    paired = first.merge(second, on=KEYS[name], suffixes=("_fresh", "_committed"))
    return paired.dropna(subset=["value_fresh", "value_committed"])


def vary(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the coefficient of variation, in percent, of pairs; NaN where the mean is not above zero.

    CV* of Belz, Popovic and Mille (2022): (1 + 1/4n) times the unbiased standard deviation over the mean, n = 2.
    """
    mean = (first + second) / 2
    deviation = np.abs(first - second) / math.sqrt(2) / C4_OF_TWO
    return np.where(mean > 0, 100 * (1 + 1 / 8) * deviation / np.where(mean > 0, mean, 1), np.nan)


def tell_variation(pairs: pd.DataFrame) -> str:
    """Return the middle and largest coefficient of variation; gains have no true zero and are left out."""
    values = pairs[~pairs["metric"].astype(str).str.endswith("_gain")]
    variation = vary(*(values[f"value_{side}"].to_numpy(dtype=float) for side in ("fresh", "committed")))
    variation = variation[~np.isnan(variation)]
    if not variation.size:
        return "coefficient of variation not defined (no paired value above zero)"
    middle, largest = np.median(variation), variation.max()
    return (
        f"coefficient of variation {middle:.2f} % (median), {largest:.2f} % (largest), n = {variation.size}"
    )


def tell_ranks(pairs: pd.DataFrame, name: str, ranked: str) -> str:
    """Return how alike the arms rank within cells, as Kendall's tau-b, over the cells where it is defined."""
    cell = [column for column in KEYS[name] if column != ranked]
    taus = [rank_agreement(group) for _, group in pairs.groupby(cell, dropna=False)]
    defined = [tau for tau in taus if not np.isnan(tau)]
    if not defined:
        return "rank agreement not defined (no cell with three arms that differ)"
    mean, least, undefined = np.mean(defined), min(defined), len(taus) - len(defined)
    return (
        f"rank agreement (Kendall) {mean:.3f} (mean), {least:.3f} (least), "
        f"{len(defined)} cells, {undefined} not defined"
    )


def rank_agreement(group: pd.DataFrame) -> float:
    """Return Kendall's tau-b of fresh and committed values of one cell; NaN below three arms."""
    if len(group) < 3:
        return float("nan")
    sides = (group[f"value_{side}"].to_numpy(dtype=float) for side in ("fresh", "committed"))
    return float(kendall(np.ones((1, len(group))), *sides)[0])


def tell_verdicts(fresh: dict[str, pd.DataFrame], committed: dict[str, pd.DataFrame]) -> str:
    """Return how many verdicts agree, overall and a corpus, or which side has none."""
    sides = [tables.get("claims", pd.DataFrame()) for tables in (fresh, committed)]
    if any(not {"claim", "corpus", "verdict"} <= set(side.columns) for side in sides):
        return "verdicts not compared (claims.csv is not in both folders)"
    first, second = (list_verdicts(side) for side in sides)
    both = first.index.intersection(second.index)
    agreed = (first.loc[both] == second.loc[both]).sum()
    return f"{agreed} of {len(both)} verdicts agree, {len(first.index.union(second.index)) - len(both)} on one side"


def list_verdicts(claims: pd.DataFrame) -> pd.Series:
    """Return the verdict of each claim and corpus, without the comparisons behind it."""
    if "comparison" in claims.columns:
        claims = claims[claims["comparison"] == "verdict"]
    return claims.drop_duplicates(["claim", "corpus"]).set_index(["claim", "corpus"])["verdict"]
