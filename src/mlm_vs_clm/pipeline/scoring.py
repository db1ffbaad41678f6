"""The scores of one cell, at two scopes, with intervals and beside the unfilled and the perfect text."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from blankfill.text import BlankedText, FilledText

from ..arms.baselines import BOUNDS
from ..evidence.scores import COLUMNS, score_gain, score_measure
from ..files import read_lines, write_lines, write_table
from ..metrics import (
    ALONE,
    FILL_METRICS,
    LIKELIHOOD,
    MEASURES,
    METRICS,
    NATS,
    Metric,
    Resources,
    make_metrics,
    normalise,
)
from .artifacts import read_record
from .cells import cluster_by_author, load_blanked_texts, load_filled, read_statistics


@dataclass(frozen=True)
class MetricStatistics:
    """The statistics of a metric for every document of a cell, and the metric that makes scores of them."""

    scope: str
    name: str
    metric: Metric
    rows: np.ndarray
    reason: str = ""  # why no document has a score


def score_cell(settings: dict, inputs: dict[str, Path], folder: Path, resources: Resources) -> None:
    """Write `statistics.jsonl` (one line per metric and scope, one row per document) and `scores.csv`."""
    documents, blanked = load_blanked_texts(inputs)
    filled = load_filled(inputs["generation"])
    metrics = _open_metrics(resources)
    measured = measure(blanked, filled, {name: metrics[name] for name in (*settings["metrics"], *ALONE)})
    if read_record(inputs["generation"])["settings"].get("likelihood"):
        measured.append(score_originals(inputs["generation"], blanked))
    write_lines(folder / "statistics.jsonl", map(to_line, measured))
    clusters = cluster_by_author(documents)
    rows = [summarise(statistics, clusters, settings["resamples"]) for statistics in measured]
    bounds = {name: read_statistics(inputs[name]) for name in BOUNDS if name in inputs}
    bounded = [statistics for statistics in measured if bounds and statistics.name in METRICS]
    rows += [_gain(statistics, bounds, clusters, settings["resamples"]) for statistics in bounded]
    write_table(folder / "scores.csv", rows, COLUMNS)


def score_originals(generation: Path, blanked: list[BlankedText]) -> MetricStatistics:
    """Return the nats and characters of the originals by document; NaN where nothing is hidden or it was skipped."""
    likelihoods = {row["id"]: row for row in read_lines(generation / "likelihood.jsonl") if row["tokens"]}
    absent = {"nats": np.nan, "characters": np.nan}
    of = [likelihoods.get(text.id, absent) for text in blanked]
    rows = LIKELIHOOD.statistics([row["nats"] for row in of], [row["characters"] for row in of])
    return MetricStatistics("fills", NATS, LIKELIHOOD, rows)


def measure(
    blanked: list[BlankedText], filled: list[FilledText], metrics: dict[str, Metric]
) -> list[MetricStatistics]:
    """Return the statistics of whole texts against the originals, and of the fills against the masked words.

    The fills of a document, joined, are no text: overlap and BERTScore are not measured of them.
    """
    texts = [normalise(f.text) for f in filled], [normalise(b.text) for b in blanked]
    words = [f.fills for f in filled], [b.originals() for b in blanked]
    joined = [normalise(" ".join(fills)) for fills in words[0]]
    of_fills = [name for name in metrics if MEASURES[name].is_alone and "fills" in MEASURES[name].sums]
    measured = [
        *(("fills", name, metric, metric.statistics(*words)) for name, metric in FILL_METRICS.items()),
        *(("fills", name, metrics[name], metrics[name].statistics(joined)) for name in of_fills),
        *(("document", name, metric, metric.statistics(*texts)) for name, metric in metrics.items()),
    ]
    return [MetricStatistics(*row, _explain(row[2], row[3], texts)) for row in measured]


def _explain(metric: Metric, rows: np.ndarray, texts: tuple[list[str], ...]) -> str:
    return metric.explain(*texts) if np.isnan(rows).any(axis=1).all() else ""


def to_line(statistics: MetricStatistics) -> dict:
    """Return a line of `statistics.jsonl`; a number that is not defined is null."""
    rows = [[None if np.isnan(value) else value for value in row] for row in statistics.rows.tolist()]
    return {"scope": statistics.scope, "metric": statistics.name, "rows": rows}


def summarise(statistics: MetricStatistics, clusters: list[str] | None, resamples: int) -> dict:
    """Return the row of scores.csv of a metric: its value, interval and documents; why it is missing."""
    why = statistics.reason or "not defined for any document (an empty text, or nothing hidden)"
    return score_measure(
        (statistics.scope, statistics.name),
        statistics.rows,
        clusters,
        resamples,
        statistics.metric.signature(),
        why,
    )


def _gain(
    statistics: MetricStatistics, bounds: dict[str, dict], clusters: list[str] | None, resamples: int
) -> dict:
    measure = statistics.scope, statistics.name
    of = {name: bounds.get(name, {}).get(measure) for name in BOUNDS}
    return score_gain(measure, statistics.rows, of, clusters, resamples, statistics.metric.signature())


@lru_cache(maxsize=1)
def _open_metrics(resources: Resources) -> dict[str, Metric]:
    """Open the metrics once per process, as they remember the references that all arms share."""
    return make_metrics(resources)
