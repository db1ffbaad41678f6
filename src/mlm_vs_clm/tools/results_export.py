"""The scores of a study in the schema of Every Eval Ever (arXiv 2606.14516, version 0.3.0), a JSON file per arm.

mlm-vs-clm export-results results/desk --out <folder>

The folder is laid out as their data store is: data/mlm-vs-clm/<developer>/<arm>/<uuid>.json. Aggregates alone are written,
no text and nothing per document.
"""

import argparse
import hashlib
import json
import math
import time
import uuid
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import StudyError
from ..files import explain_os_error, write_atomically
from ..metrics import DESCRIBES, MEASURES, is_lower_better
from ..report.study_folder import load_background
from ..report.style import name_measure

SCHEMA = "0.3.0"
DEVELOPER = BENCHMARK = "mlm-vs-clm"
# Whether less is better. What only describes a text, such as the share of words kept, has no direction and is left out.
DIRECTIONS = {
    name: is_lower_better(name) for name, measure in MEASURES.items() if measure.better != DESCRIBES
} | dict.fromkeys(
    "f1 macro_f1 micro_f1 precision recall lenient_f1 lenient_macro_f1 lenient_precision lenient_recall auc c_at_1 f05u "
    "brier overall".split(),
    False,
)
# How the interval of a score was made.
OF_TEXTS = "bootstrap"
OF_TASKS = (
    "Student's t over task seeds and test units; of one task seed the percentile bootstrap over test units"
)
SETTINGS = ("context", "length", "order", "objective", "model")


def read_scores(study: Path) -> pd.DataFrame:
    """Return the scores of texts and of task models that have a value and a direction, by one set of columns.

    Raises StudyError where the folder holds no study.
    """
    try:
        texts, tasks, signatures = (
            pd.read_csv(study / f"{name}.csv", keep_default_na=False, na_values=[""])
            for name in ("scores", "downstream", "signatures")
        )
    except (OSError, ValueError) as error:
        raise StudyError(
            f"{study} holds no scores ({type(error).__name__}): give a folder of results"
        ) from None
    tasks = tasks.rename(columns={"trained_on": "arm", "task": "scope"}).assign(signature="", method=OF_TASKS)
    named = texts["metric"].map(dict(signatures.to_numpy())).fillna("")
    texts = texts.assign(signature=named, method=OF_TEXTS)
    rows = pd.concat([texts, tasks], ignore_index=True).dropna(subset=["value"])
    return rows[rows["metric"].isin(DIRECTIONS)]


def describe_results(study: Path, created: float) -> Iterator[tuple[str, dict]]:
    """Yield each arm of a study with its record in the schema; `created` is the time of the record in seconds (Unix)."""
    background, rows = load_background(study), read_scores(study)
    corpora = {card["name"]: card for card in background.cards}
    for arm, of_arm in rows.groupby("arm", sort=True):
        yield (
            str(arm),
            {
                "schema_version": SCHEMA,
                "evaluation_id": f"{BENCHMARK}/{DEVELOPER}_{arm}/{created:.0f}",
                "retrieved_timestamp": f"{created:.0f}",
                "source_metadata": _describe_source(study.absolute().name, background.about),
                "eval_library": {
                    "name": BENCHMARK,
                    "version": _own_version(),
                    "additional_details": _strings(background.about["versions"]),
                },
                "model_info": _describe_model(str(arm), of_arm, background.about),
                "evaluation_results": [_describe_score(row, corpora) for row in of_arm.to_dict("records")],
            },
        )


def _describe_source(study: str, about: Mapping[str, Any]) -> dict:
    return {
        "source_name": f"{BENCHMARK}: {study}",
        "source_type": "evaluation_run",
        "source_organization_name": "The mlm-vs-clm authors",
        "evaluator_relationship": "first_party",
        "additional_details": _strings(
            {"command": about["command"], "question": about["question"] or "", "rules": about["rules"]}
        ),
    }


def _describe_model(arm: str, rows: pd.DataFrame, about: Mapping[str, Any]) -> dict:
    values_of = {key: sorted({str(value) for value in rows[key].dropna()}) for key in SETTINGS}
    details = {key: ", ".join(values) for key, values in values_of.items() if values}
    return {
        "name": arm,
        "id": f"{DEVELOPER}/{arm}",
        "developer": DEVELOPER,
        "inference_engine": {"name": "blankfill", "version": _own_version()},
        "additional_details": {
            "deployment_type": "self_deployed",
            "model_availability": "unknown",
            "weights": f"not published; made by: {about['command']}",
            "initialisation": about["initialisation"],
            **details,
        },
    }


def _describe_score(row: dict, corpora: Mapping[str, dict]) -> dict:
    metric, masking = (
        row["metric"],
        "-".join(str(row[key]) for key in ("strategy", "ratio") if not pd.isna(row[key])),
    )
    cell = f"{row['corpus']}/{masking or 'none'}"
    card = corpora.get(row["corpus"], {})
    details = {key: row[key] for key in ("share", "seed", "artifact", "reason") if not pd.isna(row[key])}
    result: dict[str, Any] = {
        "evaluation_result_id": f"{cell}/{row['seed']:g}/{row['scope']}/{metric}",
        "evaluation_name": cell,
        "source_data": {
            "dataset_name": row["corpus"],
            "source_type": "other",
            "additional_details": _strings({key: card[key] for key in ("origin", "licence") if key in card}),
        },
        "metric_config": _describe_metric(row),
        "score_details": {"score": row["value"], "details": _strings(details)},
    }
    if not (pd.isna(row["low"]) or pd.isna(row["high"])):
        result["score_details"]["uncertainty"] = {
            "confidence_interval": {
                "lower": row["low"],
                "upper": row["high"],
                "confidence_level": 0.95,
                "method": row["method"],
            },
            "num_samples": int(row["n"]),
        }
    return result


def _describe_metric(row: dict) -> dict:
    metric = row["metric"]
    measure = MEASURES.get(metric)
    lowest, highest = (measure.lowest, measure.highest) if measure else (0.0, 1.0)
    scale: dict[str, float | str] = {
        "min_score": lowest if math.isfinite(lowest) else "-Infinity",
        "max_score": highest if math.isfinite(highest) else "Infinity",
    }
    signature = {"signature": row["signature"]} if row["signature"] else {}
    return {
        "evaluation_description": name_measure(row["scope"], metric),
        "metric_id": f"{BENCHMARK}.{row['scope']}.{metric}",
        "metric_name": metric,
        "metric_parameters": signature,
        "lower_is_better": DIRECTIONS[metric],
        "score_type": "continuous",
        **scale,
    }


def _strings(values: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in values.items() if value != ""}


def _own_version() -> str:
    try:
        return version(BENCHMARK)
    except PackageNotFoundError:
        return "unknown"


def name_record(record: dict) -> str:
    """Return a UUID (version 4 in form) that follows from the scores: the same results have the same name."""
    content = json.dumps(
        [record["model_info"], record["source_metadata"], record["evaluation_results"]], sort_keys=True
    )
    return str(uuid.UUID(bytes=hashlib.sha256(content.encode()).digest()[:16], version=4))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `mlm-vs-clm export-results`."""
    parser.add_argument("study", type=Path, help="a folder of results, such as results/desk")
    parser.add_argument("--out", type=Path, required=True, help="where data/mlm-vs-clm/... is written")


def run(chosen: argparse.Namespace) -> None:
    """Write a file per arm; print how many files and scores."""
    n_files = n_scores = 0
    try:
        for arm, record in describe_results(chosen.study, time.time()):
            folder = chosen.out / "data" / BENCHMARK / DEVELOPER / arm.replace("/", "_")
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(
                folder / f"{name_record(record)}.json",
                json.dumps(record, indent=1, ensure_ascii=False) + "\n",
            )
            n_files, n_scores = n_files + 1, n_scores + len(record["evaluation_results"])
    except OSError as error:
        raise StudyError(explain_os_error(error, chosen.out)) from error
    print(json.dumps({"files": n_files, "scores": n_scores, "schema": SCHEMA}))
