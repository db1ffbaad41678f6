"""How claims on generated text are measured: its quality, what it cost, and how people rated it."""

import math
from collections.abc import Hashable, Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from ..stats import PairedDifference, compare_runs, ratio_of_sums
from .competence import Place
from .paired import GAIN, BySeed, compare_cells, stack_sides
from .questions import Question, find_margin, find_p, list_measures, read_interval, read_masking
from .study import Study
from .tables import COMPUTE


def ask_difference(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Question]:
    """Compare two arms on the same blanks, by every measure; no row of an optional condition whose arms were not run."""
    masking = read_masking(condition.get("cells", claim["cells"]))
    first, second = ((corpus, condition[side]["arm"], *masking) for side in ("first", "second"))
    if not condition.get("optional") or {first, second} <= {*study.scored}:
        yield from _ask_pair(claim, condition, first, second, study)


def _ask_pair(claim: dict, condition: dict, first: Place, second: Place, study: Study) -> Iterator[Question]:
    for measure in list_measures(claim, condition):
        margin = find_margin(claim["margin"], measure, study.find_range(first, measure))
        estimate = study.compare(first, second, measure, claim.get("noise"))
        yield Question(claim, condition, first[0], first, second, measure, estimate, margin)


def ask_trend(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Question]:
    """Compare each arm at its lowest random ratio with the same arm at its highest."""
    for arm in condition["arms"]:
        ratios = sorted(place[3] for place in study.scored if place[:3] == (corpus, arm, "random")) or [
            math.nan
        ]
        first, second = ((corpus, arm, "random", ratio) for ratio in (ratios[0], ratios[-1]))
        if len(ratios) > 1:
            yield from _ask_pair(claim, condition, first, second, study)
            continue
        few = PairedDifference(reason=f"not run: {arm} at two random ratios")
        for measure in list_measures(claim, condition):
            yield Question(claim, condition, corpus, first, second, measure, few)


def ask_equal_share(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Question]:
    """Compare each arm at the words of a class with the same arm at as many random words."""
    for arm, strategy in product(condition["arms"], claim["strategies"]):
        first, second = ((corpus, arm, name, 1.0) for name in (strategy, f"random_as_{strategy}"))
        yield from _ask_pair(claim, condition, first, second, study)


def ask_share_of_gain(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Question]:
    """Ask which share of the gain from one arm to another a third arm has, and whether it is above `at_least`."""
    names = [condition["arm"], claim["from"], claim["to"]]
    places: list[Place] = [(corpus, name, *read_masking(claim["cells"])) for name in names]
    arm, low, high = (study.scored.get(place, {}) for place in places)
    for scope, metric in list_measures(claim, condition):
        gain = (scope, metric + GAIN)
        ends = [stack_sides((side, low, high), (scope, metric), gain) for side in (arm, low)]
        estimate = compare_cells(ends[0], ends[1], gain, study.resamples, (names[0], names[1]))
        if absent := [name for name, side in zip(names, (arm, low, high), strict=True) if not side]:
            estimate = PairedDifference(reason=f"not run: {' and '.join(absent)}")
        estimate = replace(estimate, p=find_p(estimate, claim["at_least"]))
        about = (corpus, places[0], places[1], (scope, metric), estimate)
        margin = find_margin(claim["margin"], (scope, metric), 1.0)
        yield Question(claim, condition, *about, margin, "share of the gain", claim["at_least"])


def ask_cost(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Question]:
    """Compare FLOPs per document as a logarithm of their ratio, or quality at equal FLOPs where it can be read off."""
    arms = [condition[side]["arm"] for side in ("first", "second")]
    if "comparison" in condition:
        yield from _ask_frontier(claim, condition, corpus, study)
        return
    first, second = (study.rows("ledger", corpus, arm=arm) for arm in arms)
    place = (corpus, arms[0], "", 0.0), (corpus, arms[1], "", 0.0)
    about = (claim, condition, corpus, *place, ("document", "flops"))
    margin = math.log1p(claim["margin"])
    absent = [arm for arm, rows in zip(arms, (first, second), strict=True) if rows.empty]
    if absent:
        yield Question(*about, PairedDifference(reason=f"not run: {' and '.join(absent)}"), margin)
        return
    paired = first.merge(second, on=["strategy", "ratio", "seed"], suffixes=("_first", "_second"))
    paired = paired[(paired["flops_first"] > 0) & (paired["flops_second"] > 0)]
    if paired.empty:
        reason = "not run: no cell in which the FLOPs of both were counted"
        yield Question(*about, PairedDifference(reason=reason), margin)
        return
    counted, law = (
        np.log(paired[f"{name}_first"] / paired["documents_first"])
        - np.log(paired[f"{name}_second"] / paired["documents_second"])
        for name in ("flops", "token_forwards")
    )
    mean, low, high = (float(value) for value in (counted.mean(), counted.min(), counted.max()))
    estimate = PairedDifference(mean, low, high, n=len(paired))
    ends = sorted({f"{math.exp(end):.2g}" for end in (estimate.low, estimate.high)}, key=float)
    note = (
        f"{math.exp(estimate.difference):.2g} times the FLOPs ({' to '.join(ends)} over the maskings); "
        f"passes x length read predict {math.exp(law.mean()):.2g} times"
    )
    yield Question(*about, estimate, margin, note)


def _ask_frontier(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Question]:
    """Read the difference in exact match where one arm takes the FLOPs of the other."""
    cell = {"kind": COMPUTE, "comparison": condition["comparison"], "metric": "exact_match"}
    rows = study.rows("comparisons", corpus, **cell)
    rows = rows[rows["at"] != "equal documents"] if len(rows) else rows
    masking = read_masking(claim["main"])
    places = [(corpus, condition[side]["arm"], *masking) for side in ("first", "second")]
    estimate = PairedDifference(reason="not run: neither arm was run at costs on both sides of the other's")
    note = ""
    defined = rows[rows["value"].notna()] if len(rows) else rows
    if len(defined):
        row = defined.iloc[0]
        estimate = replace(read_interval(row, int(row["n"])), runs=study.count_runs(corpus))
        note = f"exact match at the {row['at']}"
    measure = ("fills", "exact_match")
    margin = condition["margin"] * study.find_range(places[0], measure)
    yield Question(claim, condition, corpus, places[0], places[1], measure, estimate, margin, note)


def _list_rated_units(cells: BySeed, rated: pd.DataFrame) -> list[Hashable]:
    """Return the unit of each rated document, by its artifact and its place there."""
    units = {cell.artifact: cell.units for cell in cells.values()}
    places = rated["place"].astype(int)
    return [units[artifact][place] for artifact, place in zip(rated["artifact"], places, strict=True)]


def _find_ratings(place: Place, question: str, study: Study) -> pd.DataFrame:
    """Return the ratings of an arm's texts of this study at a place; a folder of ratings may have those of others, too."""
    rows = study.rows("ratings", place[0], question=question, arm=place[1])
    texts = {cell.artifact for cell in study.scored.get(place, {}).values()}
    return rows[rows["artifact"].isin(texts)] if len(rows) else rows


def ask_ratings(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Question]:
    """Compare two arms over the documents that raters saw of both, raters averaged, by author where authors repeat."""
    masking = read_masking(claim["cells"])
    places = [(corpus, condition[side]["arm"], *masking) for side in ("first", "second")]
    for measure in list_measures(claim, condition):
        sides = [_find_ratings(place, measure[1], study) for place in places]
        estimate = PairedDifference(reason="not run: no ratings of these texts")
        if all(map(len, sides)):
            means = [rows.groupby("document")["rating"].mean() for rows in sides]
            paired = pd.concat(means, axis=1, join="inner")
            rows = [np.stack([paired.iloc[:, side], np.ones(len(paired))], axis=1) for side in (0, 1)]
            rated = sides[0].groupby("document")[["artifact", "place"]].first().loc[paired.index]
            units = [_list_rated_units(study.scored.get(places[0], {}), rated)]
            estimate = compare_runs([(rows[0], rows[1])], ratio_of_sums, study.resamples, clusters=units)
            if math.isnan(estimate.difference):
                estimate = replace(
                    estimate, reason=f"not run: {estimate.n} documents were rated for both arms"
                )
        margin = claim["margin"] * claim["range"]
        yield Question(claim, condition, corpus, places[0], places[1], measure, estimate, margin)
