"""From finished artifacts to the frames of a study: what was measured of every cell, training and task model."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..arms.baselines import BOUNDS
from ..corpora import load_split
from ..errors import StudyError
from ..evidence.cells import ScoredCell
from ..evidence.documents import list_documents
from ..evidence.equal_compute import name_method
from ..evidence.observations import CELL, MEASURE, Design, Observations, describe_scored
from ..evidence.paired import GAIN
from ..evidence.units import list_units
from ..metrics import DISCLOSURE, EXACT_MATCH, LENGTH_ERROR
from ..metrics.proxies import NONWORDS, make_nonwords
from ..tasks import TASKS
from ..tasks.outcome import UNDEFINED
from .artifacts import inputs_of, name_of, read_record
from .cells import (
    CURVE,
    describe_network,
    describe_score,
    describe_task,
    load_blanked_texts,
    load_filled,
    of_stage,
    opened_by,
    read_network,
    read_scored,
    read_statistics,
    read_trained,
)
from .config import ObjectiveConfig, TrainingConfig
from .recipes import UNDERSTANDING
from .scoring import MetricStatistics, summarise

Extra = Mapping[Path, Sequence[MetricStatistics]]  # what the report measures of the cell of a score artifact


def observe(settings: dict, inputs: dict[str, Path], wordnet: Path) -> Observations:
    """Return the frames of a study; words are looked up in `wordnet`."""
    final, along = of_stage(inputs, "score"), opened_by(inputs, CURVE)
    design, extra = read_settings(settings, final), defaultdict[Path, list[MetricStatistics]](list)
    for measured in (
        count_nonwords(inputs, to_main(settings), wordnet),
        compare_fills(final, settings["reference"]) if "reference" in settings else {},
        read_disclosure(inputs, final),
    ):
        for path, statistics in measured.items():
            extra[path] += statistics
    cells = {path: _with_extra(read_scored(path), extra[path]) for path in (*final, *along)}
    trained, networks = of_stage(inputs, "downstream"), opened_by(inputs, UNDERSTANDING)
    abouts = {path: describe_task(path) for path in trained} | {
        path: describe_network(path) for path in networks
    }
    ratings = (
        pd.read_csv(settings["ratings"]["path"], keep_default_na=False, na_values=[""])
        if "ratings" in settings
        else pd.DataFrame()
    )
    return Observations(
        list_documents([*cells.values(), *_read_bounds(final)]),
        list_measures(cells, extra, design.resamples),
        list_units([*map(read_trained, trained), *map(read_network, networks)]),
        list_cells(cells),
        *list_task_models(abouts),
        gather_training(inputs),
        design,
        ratings,
        gather_pairs(inputs),
    )


def to_main(settings: dict) -> tuple[str, float]:
    """Return strategy and ratio of the main cell of a report."""
    return settings["main"]["strategy"], settings["main"]["ratio"]


def read_settings(settings: dict, scored: Iterable[Path]) -> Design:
    """Return the design of a study from the settings of its report, and from the records of its scores."""
    return Design(
        settings["scale"],
        settings.get("track", "matched"),
        *to_main(settings),
        settings["resamples"],
        settings["bound"],
        settings.get("starts_from", ""),
        settings.get("variants", []),
        sorted({read_record(path)["measured"].get("rules", "unknown") for path in scored}),
    )


def _with_extra(cell: ScoredCell, extra: Sequence[MetricStatistics]) -> ScoredCell:
    counted = {(measure.scope, measure.name): measure.rows for measure in extra if len(measure.rows)}
    return replace(cell, statistics=cell.statistics | counted)


def _read_bounds(scored: Iterable[Path]) -> list[ScoredCell]:
    """Return the unfilled and original texts that gains are measured against."""
    read = [inputs_of(path) for path in scored]
    return [
        read_scored(path) for path in dict.fromkeys(of[name] for of in read for name in BOUNDS if name in of)
    ]


def list_cells(cells: Mapping[Path, ScoredCell]) -> pd.DataFrame:
    """Return the frame `cells`: one row per score artifact."""
    rows = pd.DataFrame(
        [_make_row(path, scored) for path, scored in cells.items()], columns=None if cells else CELL
    )
    return rows[[*CELL, *(column for column in rows if column not in CELL)]]


def _make_row(path: Path, cell: ScoredCell) -> dict:
    """Return the row of `cells` of a score artifact."""
    about, generation = describe_score(path), inputs_of(path)["generation"]
    record = read_record(generation)
    text_columns = {
        "method": shorten_method(record["settings"], about["model"]),
        "artifact": name_of(generation),
    }
    text_columns |= {"precision": record["settings"].get("precision", "none")}
    return about | describe_scored(cell) | record["measured"] | text_columns


def shorten_method(settings: dict, model: str) -> str:
    """Return eight letters that arms share which differ in order and pace alone, and fill with the same model."""
    return hashlib.sha256(f"{name_method(settings)} {model}".encode()).hexdigest()[:8]


def list_measures(cells: Mapping[Path, ScoredCell], extra: Extra, resamples: int) -> pd.DataFrame:
    """Return the frame `measures`: those of the score artifacts, and `extra` with as many resamples as differences."""
    rows: list[dict] = []
    for path, cell in cells.items():
        names = describe_scored(cell)
        scores = pd.read_csv(path / "scores.csv", keep_default_na=False)
        stored = scores[~scores["metric"].str.endswith(GAIN)].to_dict("records")
        rows += [names | row | {"resamples": read_record(path)["settings"]["resamples"]} for row in stored]
        rows += [
            names | _describe_extra(measure) | {"resamples": resamples} for measure in extra.get(path, ())
        ]
    return pd.DataFrame(rows, columns=MEASURE)


def _describe_extra(statistics: MetricStatistics) -> dict:
    if not len(statistics.rows):
        named = {"scope": statistics.scope, "metric": statistics.name}
        return named | {"signature": "", "reason": statistics.reason}
    return summarise(statistics, None, 1)


def count_nonwords(inputs: dict[str, Path], main: tuple[str, float], wordnet: Path) -> dict[Path, list]:
    """Return the non-words among the fills of every arm at the main cell; no rows, and the reason, without WordNet."""
    splits = (load_split(path, "pretrain") for path in of_stage(inputs, "corpus"))
    masking = itemgetter("strategy", "ratio")
    at_main = [path for path in of_stage(inputs, "score") if masking(describe_score(path)) == main]
    try:
        metric = make_nonwords((document.text for split in splits for document in split), wordnet)
    except StudyError as error:
        nothing = MetricStatistics("fills", NONWORDS, EXACT_MATCH, EXACT_MATCH.statistics([], []), str(error))
        return {path: [nothing] for path in at_main}
    return {
        path: [MetricStatistics("fills", NONWORDS, metric, metric.statistics(_list_fills(path)))]
        for path in at_main
    }


def _list_fills(path: Path) -> list[list[str]]:
    return [text.fills for text in load_filled(inputs_of(path)["generation"])]


def compare_fills(scored: Iterable[Path], reference: str) -> dict[Path, list[MetricStatistics]]:
    """Return for every cell how often an arm fills a blank as the reference does, and how its lengths err.

    Raises StudyError for a reference that does not fill every cell.
    """
    place = itemgetter("corpus", "strategy", "ratio", "seed")
    references = {
        place(about): path for path in scored if (about := describe_score(path))["arm"] == reference
    }
    measured = {}
    for path in scored:
        about = describe_score(path)
        if place(about) not in references:
            raise StudyError(
                f"track.reference={reference} does not fill {place(about)}: name an arm of every cell"
            )
        fills, expected = _list_fills(path), _list_fills(references[place(about)])
        originals = [text.originals() for text in load_blanked_texts(inputs_of(path))[1]]
        measured[path] = [
            MetricStatistics("fills", "agreement", EXACT_MATCH, EXACT_MATCH.statistics(fills, expected)),
            MetricStatistics(
                "fills", "length_error", LENGTH_ERROR, LENGTH_ERROR.statistics(fills, originals)
            ),
        ]
    return measured


def read_disclosure(inputs: dict[str, Path], scored: Iterable[Path]) -> dict[Path, list[MetricStatistics]]:
    """Return by score artifact what the text of its cell, and its model, give away."""
    measured = {
        inputs_of(path)["generation"]: read_statistics(path) for path in of_stage(inputs, "disclosure")
    }
    return {
        path: [
            MetricStatistics(*measure, DISCLOSURE[measure[1]], rows) for measure, rows in by_measure.items()
        ]
        for path in scored
        if (by_measure := measured.get(inputs_of(path)["generation"]))
    }


def list_task_models(abouts: Mapping[Path, dict]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the frames `task_models` and `aggregates` of artifacts, each with the columns that name it."""
    models, aggregates = [], []
    for path, named in abouts.items():
        about = named | {"artifact": name_of(path)}
        scores = pd.read_csv(
            path / "scores.csv", keep_default_na=False, na_values={"value": "", "low": "", "high": ""}
        )
        task, metrics = TASKS[about["task"]], scores.set_index("metric")
        reason = metrics.loc[task.main_metric, "reason"]
        resamples = read_record(path)["settings"]["resamples"]
        models.append(about | {"resamples": resamples, "reason": "" if reason == UNDEFINED else reason})
        aggregates += [about | row for row in scores.to_dict("records") if row["metric"] not in task.measures]
    return pd.DataFrame(models), pd.DataFrame(aggregates)


def gather_training(inputs: dict[str, Path]) -> pd.DataFrame:
    """Return the frame `trainings`: the curve of each language model, its settings by Hydra key."""
    frames = []
    for path in dict.fromkeys(of_stage(inputs, "pretrain")):
        record, read = read_record(path), inputs_of(path)
        about = {
            "objective": record["settings"]["objective"]["name"],
            "model": read_record(read["start"])["settings"]["name"],
            "initialisation": _describe_start(read["start"]),
            "corpora": "+".join(key.removeprefix("corpus/") for key in read if key.startswith("corpus/")),
            "tokens_per_second": record["measured"]["tokens_per_second"],
            "artifact": name_of(path),
            "start": name_of(read["start"]),
        }
        about |= _flatten_training(record["settings"])
        curve = pd.read_csv(path / "curves.csv").assign(**about)
        budgets = json.loads((path / "training.json").read_text())["budgets"]
        bounds = {
            (row["budget"], name): bound
            for row in budgets
            for name, bound in row.get("nats_per_character", {}).items()
        }
        places = zip(curve["budget"], curve["corpus"], strict=True)
        values = [
            bounds.get(place, np.nan) for place in places
        ]  # numbers all, which are saved with as many digits
        frames.append(curve.assign(nats_per_character=np.array(values, dtype=float)))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def gather_pairs(inputs: dict[str, Path]) -> pd.DataFrame:
    """Return the frame `pairs`: what each training that reads pairs told of held-out ones."""
    paths = [path for path in dict.fromkeys(of_stage(inputs, "pretrain")) if (path / "pairs.csv").is_file()]
    frames = [pd.read_csv(path / "pairs.csv").assign(artifact=name_of(path)) for path in paths]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _flatten_training(settings: dict) -> dict[str, Any]:
    """Return the settings of a training by Hydra key, those that its record leaves out at their defaults."""
    objective = asdict(ObjectiveConfig()) | settings["objective"]
    training = asdict(TrainingConfig()) | settings["training"]
    return {f"objective.{key}": value for key, value in objective.items()} | {
        f"scale.training.{key}": value for key, value in training.items()
    }


def _describe_start(folder: Path) -> str:
    model = read_record(folder)["settings"]
    if model["start"] == "encoder":
        layers = f"lower {model['layers']} layers of " if model.get("layers") else ""
        return f"{layers}bidirectional encoder {model['encoder'].removeprefix('package:')}, new output layer"
    if model["start"] == "checkpoint":
        head = ", new output layer" if json.loads((folder / "start.json").read_text())["has_new_head"] else ""
        kind = (
            "causal model that now sees both sides"
            if model.get("bidirectional")
            else f"{model['kind']} model"
        )
        return f"{model['name']}, a pretrained {kind}{head}"
    return "random weights"
