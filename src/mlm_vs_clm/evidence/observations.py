"""The frames of a study: all that was measured, from which every table follows (`derivation`). No text is in them.

| file | a row is |
|---|---|
| documents.parquet | a document of a cell: the sums that its scores are made of; see `documents.COUNTS` |
| measures.parquet | a measure of a cell: the metric's signature, the resamples of its interval, why no document has a value |
| units.parquet | a test unit of a task model: what it answered; see `units` |
| cells.csv | a cell: its arm, the model and where that stands in its training (`model_*`), what filling it cost |
| task_models.csv | a training set of a task: how many resamples its intervals have, why its answers are defaults |
| aggregates.csv | a measure of a training set that is no sum over test units: what of the originals was copied |
| trainings.csv | an evaluation within a training of a language model, with the settings of the training |
| ratings.csv | a rating by a person, where there are any |
| pairs.csv | a document whose segments an objective that reads pairs was asked about, by kind of negatives: how many it told right |
| study.yaml | under `study`: the scale and track, the main cell, resamples and bounds |

A cell is a corpus, an arm, a strategy and ratio of masking, a seed, and a `budget` along a training curve (missing for the
model that a study uses). `documents` also has the unfilled and original texts of cells that are no part of the study
themselves, since gains are measured against them.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from ..errors import StudyError
from ..files import STUDY, read_parquet, write_parquet
from .cells import Cell, ScoredCell
from .documents import NAMES, group_rows, read_clusters, read_statistics, to_cell
from .forms import DESIGN, check_form

PACKED = ("documents", "measures", "units")
PLAIN = ("cells", "trainings")
OPTIONAL = ("task_models", "aggregates", "ratings", "pairs")  # without a file where they have no rows
MEASURE = [*NAMES, "scope", "metric", "signature", "resamples", "reason"]
PLACE = {
    "model_budget": "budget",
    "model_tokens_seen": "tokens_seen",
    "model_tokens_predicted": "tokens_predicted",
}
PASSES = "model_passes"  # over the corpus of the cell
CELL = [
    *NAMES,
    *("objective", "context", "length", "order", "share", "model", "method", "temperature", "training"),
    *(*PLACE, PASSES, "artifact", "score"),
]
# Columns that hold words, where an empty cell is the empty word.
WORDS = set(
    "corpus arm trained_on strategy objective context length order model method training artifact score precision device "
    "task metric scope reason signature".split()
)


@dataclass(frozen=True)
class Design:
    """What a study's tables are made with beside its frames: its name, its main cell, resamples of differences, the
    bound of a strong correlation, what its models start from in words, the settings that variants differ in, the rules when it
    was scored."""

    scale: str
    track: str
    main_strategy: str
    main_ratio: float
    resamples: int
    bound: float
    starts_from: str = ""
    variants: list[dict] = field(default_factory=list)
    scored_under: list[str] = field(default_factory=list)

    @property
    def main(self) -> tuple[str, float]:
        """Return strategy and ratio of the main cell."""
        return self.main_strategy, self.main_ratio


@dataclass(frozen=True)
class Observations:
    """The frames of a study by name, as the table above has them, and its design."""

    documents: pd.DataFrame
    measures: pd.DataFrame
    units: pd.DataFrame
    cells: pd.DataFrame
    task_models: pd.DataFrame
    aggregates: pd.DataFrame
    trainings: pd.DataFrame
    design: Design
    ratings: pd.DataFrame = field(default_factory=pd.DataFrame)
    pairs: pd.DataFrame = field(default_factory=pd.DataFrame)


def save_observations(observed: Observations, folder: Path) -> None:
    """Write the frames of a study, but for its design, which `study.yaml` has."""
    for name in PACKED:
        write_parquet(getattr(observed, name), folder / f"{name}.parquet")
    for name in (*PLAIN, *(name for name in OPTIONAL if len(getattr(observed, name)))):
        getattr(observed, name).to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")


def load_observations(folder: Path) -> Observations:
    """Return the frames of a study; raises StudyError where one is absent or not readable."""
    try:
        about = yaml.safe_load((folder / STUDY).read_text(encoding="utf-8"))["study"]
        check_form(folder / STUDY, about, DESIGN, "study")
        packed = {name: read_parquet(folder / f"{name}.parquet") for name in PACKED}
        plain = {name: read_frame(folder / f"{name}.csv") for name in PLAIN}
        for name in OPTIONAL:
            path = folder / f"{name}.csv"
            plain[name] = read_frame(path) if path.is_file() else pd.DataFrame()
        design = Design(**{field.name: about[field.name] for field in fields(Design)})
        return Observations(**packed, **plain, design=design)
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise StudyError(
            f"{folder} does not hold all frames of a study ({reason}): run `make reproduce` again"
        ) from None


def describe_design(design: Design, rules: str) -> dict:
    """Return the key `study` of study.yaml; `rules` is the hash of those that its tables were made with."""
    return asdict(design) | {"rules": rules}


def read_frame(path: Path) -> pd.DataFrame:
    """Return a plain frame: words as they are, and numbers to the last bit; ValueError for a file that was cut off."""
    if not path.read_bytes().endswith(b"\n"):  # pandas would fill up the last row
        raise ValueError(f"{path} is cut off in its last line")
    table = pd.read_csv(path, keep_default_na=False, na_values=[""], float_precision="round_trip")
    words = [column for column in table if column in WORDS]
    return table.assign(**{column: table[column].astype(object).fillna("") for column in words})


def describe_scored(scored: ScoredCell) -> dict:
    """Return the columns of `cells` that a cell has itself."""
    named = {name: getattr(scored.cell, name) for name in NAMES} | {"budget": scored.cell.budget or np.nan}
    place = {column: scored.place.get(name, np.nan) for column, name in PLACE.items()}
    passes = scored.place.get("passes", {}).get(scored.cell.corpus, np.nan)
    about = {"context": scored.context, "temperature": scored.temperature, "training": scored.training}
    return named | about | place | {PASSES: passes, "score": scored.artifact} | scored.ledger


def list_scored(observed: Observations) -> list[ScoredCell]:
    """Return the cells of a study, those along training curves among them, in the order of `cells`."""
    documents = group_rows(observed.documents)
    measures = {
        cell: list(zip(rows["scope"], rows["metric"], strict=True))
        for cell, rows in group_rows(observed.measures).items()
    }
    cut_off = {variant["arm"] for variant in observed.design.variants if is_cut_off(variant)}
    rows = observed.cells.assign(
        context=observed.cells["context"].mask(observed.cells["arm"].isin(cut_off), "left")
    )
    return [_to_scored(row, documents, measures.get(to_cell(row), [])) for row in rows.to_dict("records")]


def is_cut_off(variant: Mapping[str, Any]) -> bool:
    """Return whether a variant sees no word behind a blank, so that its context is the left side, whatever its arm's is."""
    return variant["setting"] == "arm.right_words" and str(variant["level"]) == "0"


def _to_scored(
    row: dict, documents: Mapping[Cell, pd.DataFrame], measures: list[tuple[str, str]]
) -> ScoredCell:
    cell = to_cell(row)
    rows = documents.get(cell, pd.DataFrame({"unit": []}))
    place: dict[str, Any] = {
        name: row[column] for column, name in PLACE.items() if row[column] == row[column]
    }
    if place:
        place["passes"] = {cell.corpus: row[PASSES]} if row[PASSES] == row[PASSES] else {}
    return ScoredCell(
        cell,
        row["score"],
        read_statistics(rows, measures),
        read_clusters(rows),
        {name: row[name] for name in ("flops", "documents")},
        row["method"],
        row["context"],
        row["temperature"],
        row["training"],
        place,
    )
