"""How far arms are apart in a table of stored scores: every pair of models, and each model against each word table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..arms.roles import is_floor, is_network
from ..evidence.cells import ScoredCell, group_by
from ..evidence.paired import BySeed, by_seed, compare_cells
from ..metrics import find_scope, is_lower_better
from ..report import style
from .cells import read_scored

SHOWN = (
    "exact_match exact_match_content bleu rouge1 rouge2 rougeL meteor bertscore nats_per_character".split()
)
PLACE = ("corpus", "strategy", "ratio")
NOT_SHARED = ("arm", "model", "seed")  # what the two sides of a difference, or their seeds, may differ in
COLUMNS = "first second scope metric difference low high p n trainings reason".split()
Row = Mapping[str, Any]


def compare_arms(table: pd.DataFrame, store: Path, resamples: int = 1000) -> pd.DataFrame:
    """Return one row per place of a table of scores, pair of arms and measure that both have: first minus second.

    A place has its corpus, masking, and every other setting that the table was swept over; a word table, which has no model, is
    compared with each model. Above 0 the first arm is ahead, also by a measure of which less is better. Seeds are pooled; of
    several trainings the interval is over them, and p is not corrected.
    """
    keys = [name for name in dict.fromkeys([*PLACE, *table.attrs.get("swept", ())]) if name in table]
    keys = [name for name in keys if name not in NOT_SHARED]
    stored = table[table["artifact"].notna()]
    rows = []
    for place, scores in stored.groupby(keys, sort=False):
        about = dict(zip(keys, place, strict=True))
        sides = dict(_gather_sides(scores.to_dict("records"), store))
        rows += [about | row for pair in _list_pairs(sides) for row in _compare(*pair, sides, resamples)]
    return pd.DataFrame(rows, columns=[*keys, *COLUMNS])


def _gather_sides(rows: Iterable[Row], store: Path) -> Iterator[tuple[tuple[str, str], BySeed]]:
    """Yield the scored cells of each (arm, model) by seed; not where a seed has two texts, of settings no column names."""
    for side, side_rows in group_by(rows, lambda row: (row["arm"], row["model"])).items():
        cells = group_by(
            [read_scored(store / row["artifact"]) for row in side_rows], lambda scored: scored.cell.seed
        )
        if all(map(_is_one_text, cells.values())):
            by_text = [max(alike, key=lambda scored: len(scored.statistics)) for alike in cells.values()]
            yield side, by_seed(by_text)


def _is_one_text(cells: Sequence[ScoredCell]) -> bool:
    """Return whether cells have the same statistics by every measure that they share, as the scores of one text do."""
    return all(
        np.array_equal(first.statistics[measure], second.statistics[measure])
        for first, second in combinations(cells, 2)
        for measure in first.statistics.keys() & second.statistics.keys()
    )


def _list_pairs(sides: Iterable[tuple[str, str]]) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Return the models in pairs, in their reading order, and then each model with each word table."""
    places = {arm: place for place, arm in enumerate(style.ordered((arm for arm, _ in sides), style.ARMS))}
    ranked = sorted(sides, key=lambda side: (places[side[0]], side[1]))
    models = [side for side in ranked if is_network(side[0])]
    tables = [side for side in ranked if is_floor(side[0])]
    return [*combinations(models, 2), *((model, table) for model in models for table in tables)]


def _compare(
    first: tuple[str, str],
    second: tuple[str, str],
    sides: Mapping[tuple[str, str], BySeed],
    resamples: int,
) -> Iterator[dict]:
    """Yield the difference of two sides by every measure that both have."""
    ends = [(sides[side], _name_side(side, sides)) for side in (first, second)]
    measured = [{name for cell in cells.values() for name in cell.statistics} for cells, _ in ends]
    for metric, scope in zip(SHOWN, map(find_scope, SHOWN), strict=True):
        if not all((scope, metric) in measures for measures in measured):
            continue
        (better, better_name), (other, other_name) = ends[::-1] if is_lower_better(metric) else ends
        paired = compare_cells(better, other, (scope, metric), resamples, (better_name, other_name))
        yield {
            **{"first": ends[0][1], "second": ends[1][1], "scope": scope, "metric": metric},
            **{"difference": paired.difference, "low": paired.low, "high": paired.high, "p": paired.p},
            **{"n": paired.n, "trainings": paired.runs, "reason": paired.reason},
        }


def _name_side(side: tuple[str, str], sides: Iterable[tuple[str, str]]) -> str:
    """Return the arm, with its model where the arm has several."""
    return " ".join(side) if [arm for arm, _ in sides].count(side[0]) > 1 else side[0]


def widen_measures(differences: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return differences for reading: a row per pair and place, a column per measure with its interval."""
    words = [
        f"{row.difference:+.{digits}f} [{row.low:+.{digits}f}, {row.high:+.{digits}f}]"
        if pd.notna(row.difference)
        else "–"
        for row, digits in zip(
            differences.itertuples(index=False),
            differences["metric"].map(style.decimals_of),
            strict=True,
        )
    ]
    named = differences.assign(words=words, pair=differences["first"] + " - " + differences["second"])
    places = named.groupby([*keys, "pair"], sort=False, dropna=False)
    rows = [
        dict(zip([*keys, "pair"], place, strict=True))
        | dict(zip(group["metric"], group["words"], strict=True))
        for place, group in places
    ]
    table = pd.DataFrame(rows)
    measures = [metric for metric in SHOWN if metric in table]
    return table[[*keys, "pair", *measures]].rename(columns=style.name_metric).fillna("–")
