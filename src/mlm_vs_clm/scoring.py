"""The scores of one cell, at two scopes, with intervals and beside the unfilled and the perfect text."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from .artifacts import read_record
from .corpora import load_split
from .fill.blanks import BlankedText, FilledText
from .metrics import DIVERSITY, METRICS, Metric, Resources, exact_match, make_metrics, normalise
from .stats import bootstrap, gather_units, normalised_gain, point
from .storage import load_blanked, load_filled, read_lines, write_lines, write_table

SCOPES = ("document", "fills")
COLUMNS = ["scope", "metric", "value", "low", "high", "n", "signature", "reason"]


@dataclass(frozen=True)
class Measured:
    """The statistics of a metric for every document of a cell, and how to make scores of them."""

    scope: str
    name: str
    metric: Metric
    rows: np.ndarray


def score_cell(
    settings: dict, inputs: dict[str, Path], folder: Path, encoder: Path | str, nltk_root: Path, device: str
) -> None:
    """Write `statistics.jsonl` (a line a metric and scope, a row a document) and `scores.csv`."""
    documents = load_split(inputs["corpus"], "generate")
    blanked = load_blanked(inputs["corruption"], {d.id: d.text for d in documents})
    filled = load_filled(inputs["generation"])
    precision = {"bf16": "bfloat16", "fp32": "float32"}[settings["precision"]]
    name = Path(settings["encoder"]).name if "sha256" in settings else settings["encoder"]
    metrics = _open_metrics(str(encoder), name, settings["layer"], precision, str(nltk_root), device)
    measured = measure(blanked, filled, {name: metrics[name] for name in settings["metrics"]})
    write_lines(folder / "statistics.jsonl", map(_to_line, measured))
    clusters = cluster_by_author([d.author for d in documents])
    rows = [score for one in measured for score in _score(one, clusters, settings["resamples"])]
    bounds = {name: read_statistics(inputs[name]) for name in ("unfilled", "oracle") if name in inputs}
    if bounds:
        rows += [
            _gain(one, bounds, clusters, settings["resamples"]) for one in measured if one.name in BOUNDED
        ]
    write_table(folder / "scores.csv", rows, COLUMNS)


BOUNDED = (*METRICS, "exact_match")


def measure(
    blanked: list[BlankedText], filled: list[FilledText], metrics: dict[str, Metric]
) -> list[Measured]:
    """Return every metric's statistics at every scope."""
    originals = [text.originals() for text in blanked]
    fills = [text.fills for text in filled]
    texts = {
        "document": ([normalise(f.text) for f in filled], [normalise(b.text) for b in blanked]),
        "fills": ([normalise(" ".join(f)) for f in fills], [normalise(" ".join(o)) for o in originals]),
    }
    measured = [Measured("fills", "exact_match", exact_match, exact_match.statistics(fills, originals))]
    for scope, (candidates, references) in texts.items():
        for name, metric in metrics.items():
            measured.append(Measured(scope, name, metric, metric.statistics(candidates, references)))
        for name, metric in DIVERSITY.items():
            measured.append(Measured(scope, name, metric, metric.statistics(candidates)))
    return measured


def read_statistics(folder: Path) -> dict[tuple[str, str], np.ndarray]:
    """Return the stored statistics of a cell by (scope, metric), rows in the order of its documents."""
    lines = read_lines(folder / "statistics.jsonl")
    return {(line["scope"], line["metric"]): np.array(line["rows"], dtype=float) for line in lines}


def cluster_by_author(authors: list[str]) -> list[str] | None:
    """Return each document's author where authors repeat, so that intervals draw authors and not documents."""
    return authors if any(authors) and len(set(authors)) < len(authors) else None


def _to_line(one: Measured) -> dict:
    rows = [[None if np.isnan(value) else value for value in row] for row in one.rows.tolist()]
    return {"scope": one.scope, "metric": one.name, "rows": rows}


def _score(one: Measured, clusters: list[str] | None, resamples: int) -> list[dict]:
    value = point(one.rows, one.metric.aggregate)
    low, high = bootstrap(one.rows, one.metric.aggregate, resamples, clusters=clusters)
    n = len(gather_units(one.rows))
    row = {"scope": one.scope, "metric": one.name, "value": value, "low": low, "high": high, "n": n}
    reason = "" if n else "not defined for any document (an empty text, or nothing hidden)"
    return [row | {"signature": one.metric.signature(), "reason": reason}]


def _gain(one: Measured, bounds: dict[str, dict], clusters: list[str] | None, resamples: int) -> dict:
    of = {name: statistics.get((one.scope, one.name)) for name, statistics in bounds.items()}
    gain = normalised_gain(
        one.rows, of["unfilled"], of["oracle"], one.metric.aggregate, resamples, clusters=clusters
    )
    row = {"scope": one.scope, "metric": f"{one.name}_gain", "value": gain.value, "low": gain.low}
    signature = f"(score - unfilled) / (oracle - unfilled) of {one.metric.signature()}"
    return row | {"high": gain.high, "n": gain.n, "signature": signature, "reason": gain.reason}


@lru_cache(maxsize=1)
def _open_metrics(
    encoder: str, name: str, layer: int, precision: str, nltk_root: str, device: str
) -> dict[str, Metric]:
    """Open the metrics once a process, as they remember the references that all arms share."""
    wordnet = Path(nltk_root) / "corpora" / "wordnet"
    return make_metrics(Resources(wordnet, encoder, name, layer, precision, device))


def describe_cell(inputs: dict[str, Path]) -> dict:
    """Return the columns that name a cell, from the records of its inputs."""
    arm = read_record(inputs["generation"])["settings"]
    corpus = read_record(inputs["corpus"])["settings"]["name"]
    corruption = json.loads((inputs["corruption"] / "summary.json").read_text())
    names = {"corpus": corpus, "arm": arm["name"], "objective": arm["objective"] or "none"}
    axes = {axis: arm[axis] for axis in ("context", "length", "order")}
    return names | axes | {key: corruption[key] for key in ("strategy", "ratio", "share", "seed")}
