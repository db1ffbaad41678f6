"""Does better text make better training data? Quality against usefulness over many writers at one masking of one task.

A writer is an arm or a variant of one: a network, a word table or a floor. Texts that read the originals of their own blanks
are references and no writers.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from ..arms.baselines import find_baseline
from ..correlations import spearman
from ..stats import NORMAL, Estimate, draw_weights, undefined
from ..tasks import TASKS
from ..tasks.outcome import weigh_clusters
from .cells import ScoredCell, TrainedCell, group_by
from .correlation import BENT, DECISIONS, STRAIGHT, correct_rows, describe_curve
from .differences import score_answers
from .paired import find_aggregate
from .scores import round_numbers
from .tables import COLUMNS, over_seeds
from .threshold import find_threshold
from .verdicts import find_size

FEWEST_WRITERS = 20  # at one masking, below which no rank correlation has an interval worth reading
NETWORK, TABLE, FLOOR, REFERENCE = "network", "word table", "floor", "reference"
MEASURES = (
    ("fills", "exact_match"),
    ("fills", "exact_match_content"),
    ("document", "bleu"),
    ("document", "bertscore"),
)
BROKEN, UNBROKEN = "a threshold", "no threshold shown"
LARGEST = 0.9999  # of a correlation, whose Fisher z is finite
PLACE = ["corpus", "strategy", "ratio"]
Masking = tuple[str, str, float]  # corpus, strategy, ratio
Tables = Mapping[str, pd.DataFrame]


def find_kind(arm: str) -> str:
    """Return which kind of writer an arm is."""
    baseline = find_baseline(arm)
    if baseline is None:
        return NETWORK
    return REFERENCE if baseline.is_reference else FLOOR if baseline.context == "none" else TABLE


def list_writers(tables: Tables) -> dict[Masking, list[str]]:
    """Return the writers at each masking that has FEWEST_WRITERS or more: scored arms whose text task models learned from."""
    scored = tables["scores"].get([*PLACE, "arm"], pd.DataFrame(columns=[*PLACE, "arm"]))
    learned = tables["downstream"]
    learned = learned[learned["strategy"].fillna("") != ""] if len(learned) else learned
    if scored.empty or learned.empty:
        return {}
    learned_from = scored.merge(learned, left_on=[*PLACE, "arm"], right_on=[*PLACE, "trained_on"])
    arms = learned_from[[*PLACE, "arm"]].drop_duplicates()
    arms = arms[arms["arm"].map(find_kind) != REFERENCE]
    return {
        place: sorted(group["arm"])
        for place, group in arms.groupby(PLACE, sort=True)
        if len(group) >= FEWEST_WRITERS
    }


def list_usefulness(tables: Tables) -> pd.DataFrame:
    """Return the table `usefulness`: of each text, at every masking of a corpus with many writers, quality by each measure and usefulness.

    `value` is the main measure of the task, `share` its share of headroom; variants that only teach the task otherwise have
    the quality of the text that they share.
    """
    corpora = {corpus for corpus, *_ in list_writers(tables)}
    if not corpora:
        return pd.DataFrame(columns=COLUMNS["usefulness"])
    learned = tables["downstream"]
    main = learned[learned["metric"] == learned["task"].map(lambda task: TASKS[task].main_metric)]
    main = main[main["corpus"].isin(corpora) & (main["strategy"].fillna("") != "")]
    cells = over_seeds(main, ["task", *PLACE, "trained_on", "metric"])
    cells = cells.rename(columns={"trained_on": "arm", "metric": "utility_metric"})
    of_task = _find_texts(tables)
    cells["text"] = cells["arm"].map(lambda arm: of_task.get(arm, arm))
    texts = main.assign(arm=main["trained_on"].map(lambda arm: of_task.get(arm, arm)))
    drawn = texts[[*PLACE, "arm", "seed"]].drop_duplicates()  # those that a task model learned from
    quality = _list_quality(tables["scores"].merge(drawn, on=[*PLACE, "arm", "seed"]))
    rows = cells.drop(columns=["reason", "n", "seeds"]).merge(quality, on=[*PLACE, "text"])
    names = {"trained_on": "arm", "value": "share", "low": "share_low", "high": "share_high"}
    shares = tables["headroom"].rename(columns=names)[[*PLACE, *names.values()]]
    rows = rows.drop(columns="share").merge(shares, on=[*PLACE, "arm"], how="left")
    return rows.assign(kind=rows["arm"].map(find_kind))[COLUMNS["usefulness"]]


def _list_quality(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the quality of each text by MEASURES, with its interval, seeds averaged."""
    measured = pd.MultiIndex.from_arrays([scores["scope"], scores["metric"]]).isin(MEASURES)
    cells = over_seeds(scores[measured], [*PLACE, "arm", "scope", "metric"])
    names = {"arm": "text", "value": "quality", "low": "quality_low", "high": "quality_high"}
    return cells.rename(columns=names)[[*PLACE, "scope", "metric", *names.values()]]


def _find_texts(tables: Tables) -> dict[str, str]:
    """Return, for variants that only teach a task otherwise, the arm whose text each shares: the longest name it extends."""
    scored = {*tables["scores"].get("arm", ())}
    learned = {*tables["downstream"].get("trained_on", ())} - scored
    shared = {arm: [text for text in scored if arm.startswith(f"{text} ")] for arm in learned}
    return {arm: max(texts, key=len) for arm, texts in shared.items() if texts}


def correlate_writers(
    scored: Iterable[ScoredCell],
    trained: Iterable[TrainedCell],
    tables: Tables,
    resamples: int,
    bound: float,
) -> pd.DataFrame:
    """Return the table `writers`: for each masking with many writers and each measure of quality, what relates it to usefulness.

    Statistics: `spearman` with its interval and decision; `reliability`, the share of the variance of usefulness between
    writers that is no noise; `room`, headroom over its detectable difference; the spline against the line; and the
    `threshold`, its slopes and its p. p is Holm's over the rows of its statistic.
    """
    texts_scored, learned = list(scored), list(trained)
    rows: list[dict] = []
    for place, arms in list_writers(tables).items():
        models = group_by(
            (model for model in learned if _is_at(model, place, arms) and not model.reason),
            lambda model: model.cell.arm,
        )
        first = {arm: min(model.cell.seed for model in of_arm) for arm, of_arm in models.items()}
        texts = {
            cell.arm: scored_cell  # the text that the first of these models learned from
            for scored_cell in texts_scored
            if _is_at(scored_cell, place, arms) and (cell := scored_cell.cell).seed == first.get(cell.arm)
        }
        if len(models) < FEWEST_WRITERS:  # of the others no task model could be trained
            continue
        usefulness, reliability = _draw_usefulness(models, resamples)
        for measure in MEASURES:
            named = [arm for arm in usefulness if arm in texts and measure in texts[arm].statistics]
            if len(named) < FEWEST_WRITERS:
                continue
            quality = _draw_quality([texts[arm] for arm in named], measure, resamples)
            utility = np.array([usefulness[arm] for arm in named])
            statistics_found = _describe(quality, utility, bound, resamples)
            statistics_found += [
                _row("reliability", Estimate(reliability, n=len(named))),
                _find_room(tables["headroom"], place, len(named)),
            ]
            task = models[named[0]][0].task
            about = dict(zip(PLACE, place, strict=True)) | {"task": task, "scope": measure[0]}
            about |= {"metric": measure[1], "utility_metric": TASKS[task].main_metric}
            rows += [about | round_numbers(row) for row in statistics_found]
    for statistic, decisions in (("spline_p", (BENT, STRAIGHT)), ("threshold_p", (BROKEN, UNBROKEN))):
        correct_rows(rows, statistic, decisions)
    return pd.DataFrame(rows, columns=COLUMNS["writers"])


def _is_at(scored: ScoredCell | TrainedCell, place: Masking, arms: Collection[str]) -> bool:
    cell = scored.cell
    return (cell.corpus, cell.strategy, cell.ratio) == place and cell.arm in arms and not cell.budget


def _draw_usefulness(
    models: Mapping[str, Sequence[TrainedCell]], resamples: int
) -> tuple[dict[str, np.ndarray], float]:
    """Return the usefulness of each arm's text on the same draws of test units, (1 + resamples,), and its reliability.

    The first draw is the test set as it is. Reliability is the share of the variance between arms that neither test units nor
    task seeds explain, 0 at least.
    """
    # (texts x task seeds, 1 + resamples) of an arm.
    runs = {
        arm: np.concatenate(score_answers(of_arm, resamples)[0]) for arm, of_arm in sorted(models.items())
    }
    draws = {arm: of_arm.mean(axis=0) for arm, of_arm in runs.items()}
    by_arm = np.array(list(draws.values()))
    units = (by_arm - by_arm.mean(axis=0))[:, 1:].var(axis=1, ddof=1).mean()
    between_seeds = [of_arm[:, 0].var(ddof=1) / len(of_arm) for of_arm in runs.values() if len(of_arm) > 1]
    noise = units + (float(np.mean(between_seeds)) if between_seeds else 0.0)
    total = by_arm[:, 0].var(ddof=1)
    return draws, float(max(0.0, 1 - noise / total)) if total > 0 else 0.0


def _draw_quality(cells: Sequence[ScoredCell], measure: tuple[str, str], resamples: int) -> np.ndarray:
    """Return a measure of each text on the same draws of documents, (texts, 1 + resamples), the first as it is."""
    weights = weigh_clusters(tuple(cells[0].units), resamples, "documents of writers")
    aggregate = find_aggregate(measure[1])
    return np.array([aggregate(weights @ np.nan_to_num(text.statistics[measure])) for text in cells])


def _describe(quality: np.ndarray, utility: np.ndarray, bound: float, resamples: int) -> list[dict]:
    """Return the rows of the correlation, of the spline and of the threshold from draws (writers, 1 + resamples)."""
    estimate = estimate_correlation(quality, utility, resamples)
    size = find_size(estimate.low, estimate.high, (-bound, bound))
    decision = "" if np.isnan(estimate.low) else DECISIONS[size]
    points = pd.DataFrame({"quality": quality[:, 0], "utility": utility[:, 0]})
    curve = [{key: row[key] for key in ("statistic", "value", "reason")} for row in describe_curve(points)]
    fit = find_threshold(quality[:, 0], utility[:, 0])
    broken = {"threshold": fit.place, "threshold_p": fit.p}
    broken |= {"slope_below": fit.slope_below, "slope_above": fit.slope_above}
    n = len(points)
    return [
        _row("spearman", estimate, bound, decision),
        *(row | {"n_writers": n} for row in curve),
        *(_row(name, Estimate(value, n=n, reason=fit.reason)) for name, value in broken.items()),
    ]


def estimate_correlation(quality: np.ndarray, utility: np.ndarray, resamples: int) -> Estimate:
    """Return the rank correlation of quality and usefulness, both (writers, 1 + draws), with its interval.

    The variance of Fisher's z is that over draws of writers plus that over draws of the documents and test units which they
    share. (Ranks of one joint draw would have the noise of the units twice and lie nearer to 0.)
    """
    n = len(quality)
    value = float(spearman(np.ones((1, n)), quality[:, 0], utility[:, 0])[0])
    if np.isnan(value):
        return undefined(n, "a variable does not vary")
    over_writers = spearman(draw_weights(n, resamples), quality[:, 0], utility[:, 0])
    draws = (over_writers, _rank_draws(quality, utility))
    error = np.sqrt(sum(np.nanvar(_to_z(drawn), ddof=1) for drawn in draws))
    z = _to_z(value)
    return Estimate(value, float(np.tanh(z - NORMAL * error)), float(np.tanh(z + NORMAL * error)), n)


def _to_z(correlation: Any) -> Any:
    return np.arctanh(np.clip(correlation, -LARGEST, LARGEST))


def _rank_draws(quality: np.ndarray, utility: np.ndarray) -> np.ndarray:
    """Return the rank correlation (draws,) of each draw of documents and test units."""
    from scipy.stats import rankdata

    x, y = (rankdata(side[:, 1:], axis=0) - (len(side) + 1) / 2 for side in (quality, utility))
    spread = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    return (x * y).sum(axis=0) / np.where(spread > 0, spread, np.nan)


def _find_room(headroom: pd.DataFrame, place: Masking, n: int) -> dict:
    rows = headroom[
        np.logical_and.reduce([headroom[key] == value for key, value in zip(PLACE, place, strict=True)])
    ]
    ratios = (rows["headroom"] / rows["detectable"]).dropna()
    if ratios.empty:
        return _row("room", undefined(n, "no headroom was measured"))
    return _row("room", Estimate(float(ratios.iloc[0]), n=n))


def _row(statistic: str, estimate: Estimate, bound: float = np.nan, decision: str = "") -> dict:
    about = {"statistic": statistic, "n_writers": estimate.n, "bound": bound, "decision": decision}
    return about | asdict(estimate)
