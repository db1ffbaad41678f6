"""The rows of the tables `scores` and `downstream`: from sums over documents, and from the answers of task models."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from ..stats import Estimate, average_runs, bootstrap, gather_units, normalised_gain, point
from ..tasks.outcome import NO_ROOM, UNDEFINED, UNTRAINED, Mean, Measure, weigh_clusters
from .paired import GAIN, find_aggregate

COLUMNS = ["scope", "metric", "value", "low", "high", "n", "signature", "reason"]
TASK_COLUMNS = ["metric", "value", "low", "high", "n", "reason"]
DIGITS = ".7g"  # the last bits depend on the machine


def score_measure(
    measure: tuple[str, str],
    rows: np.ndarray,
    clusters: Sequence[Hashable] | None,
    resamples: int,
    signature: str,
    reason: str,
) -> dict:
    """Return the row of a measure: its value, interval and documents; `reason` where no document has a value."""
    aggregate, n = find_aggregate(measure[1]), len(gather_units(rows))
    low, high = bootstrap(rows, aggregate, resamples, clusters=clusters)
    return _to_row(measure, Estimate(point(rows, aggregate), low, high, n, "" if n else reason), signature)


def score_gain(
    measure: tuple[str, str],
    rows: np.ndarray,
    bounds: Mapping[str, np.ndarray | None],
    clusters: Sequence[Hashable] | None,
    resamples: int,
    signature: str,
) -> dict:
    """Return the row of a gain: how far a score is on the way from unfilled to original text (`bounds`)."""
    aggregate = find_aggregate(measure[1])
    gain = normalised_gain(
        rows, bounds["unfilled"], bounds["oracle"], aggregate, resamples, clusters=clusters
    )
    named = f"(score - unfilled) / (oracle - unfilled) of {signature}"
    return _to_row((measure[0], f"{measure[1]}{GAIN}"), gain, named)


def _to_row(measure: tuple[str, str], estimate: Estimate, signature: str) -> dict:
    return {"scope": measure[0], "metric": measure[1], "signature": signature} | asdict(estimate)


def score_task(
    measures: Mapping[str, Measure],
    answers: Sequence[np.ndarray],
    clusters: Sequence[Hashable],
    reason: str,
    resamples: int,
) -> list[dict]:
    """Return the row of each measure: its mean over task seeds, with an interval over them and the test units they share.

    `answers` has an array (units, columns) for each task seed, `reason` why there is no model, or no room for a
    difference: answers are then defaults and have no interval.
    """
    if not len(clusters):
        absent = dict.fromkeys(("value", "low", "high"), np.nan) | {"n": 0, "reason": reason or UNDEFINED}
        return [{"metric": name} | absent for name in measures]
    weights = weigh_clusters(tuple(clusters), resamples, "test units")
    rows: list[dict] = []
    measured: dict[str, np.ndarray] = {}
    for name, measure in measures.items():
        measured[name] = (
            measure.join(measured)
            if isinstance(measure, Mean)
            else np.array([measure(of_seed, weights) for of_seed in answers])
        )
        estimate = average_runs(measured[name], len(set(clusters)))
        value = np.nan if reason.startswith(NO_ROOM) else estimate.difference
        low, high = (
            (np.nan, np.nan) if reason.startswith((UNTRAINED, NO_ROOM)) else (estimate.low, estimate.high)
        )
        row = {"metric": name, "value": value, "low": low, "high": high, "n": len(clusters)}
        rows.append(row | {"reason": reason or (UNDEFINED if np.isnan(value) else "")})
    return rows


def round_numbers(row: dict) -> dict:
    """Return a row whose value and interval have seven digits, as stages store them."""
    ends = ("value", "low", "high")
    return row | {name: float(format(row[name], DIGITS)) for name in ends if row.get(name) is not None}
