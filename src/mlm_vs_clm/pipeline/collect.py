"""From finished artifacts to the rows, cards and examples of the report."""

import json
from pathlib import Path

import pandas as pd

from ..analysis.cells import Cell, Trained
from ..analysis.claims import decide, hash_rules
from ..analysis.gap import compare_by_seed, compare_text, compare_utility
from ..analysis.tables import COLUMNS, tidy
from ..corpora import load_split
from ..files import ROOT, read_lines
from ..report.build import build
from .artifacts import inputs_of, library_versions, name_of, read_record
from .cells import (
    _describe_score,
    _describe_task,
    _of_stage,
    _read_stored,
    describe_cell,
    load_blanked,
    load_filled,
    name_model,
    read_cells,
    read_trained,
)
from .costing import Scored, cost_cells

DEVIATIONS = ROOT / "docs" / "deviations.md"


def write_report(settings: dict, inputs: dict[str, Path], folder: Path) -> None:
    """Write the CSV tables, figures and page of one scale into `folder`."""
    cells, trained, resamples = read_cells(inputs), read_trained(inputs), settings["resamples"]
    tables = {
        "scores": gather_scores(inputs),
        "downstream": gather_downstream(inputs),
        "gap": gather_gap(cells, resamples),
        "utility_gap": gather_utility_gap(trained, resamples),
        "runs": compare_by_seed(cells, trained, resamples),
        "ledger": gather_ledger(inputs),
        "stages": gather_stages(inputs),
        **gather_compute(inputs),
        "training": gather_training(inputs),
        "correlation": pd.read_csv(inputs["correlation"] / "correlation.csv"),
    }
    if "ratings" in settings:
        tables["ratings"] = pd.read_csv(settings["ratings"]["path"])
    if "bench" in settings:
        tables["bench"] = pd.DataFrame(read_lines(Path(settings["bench"]["path"])))
    tables["claims"], tables["comparisons"] = gather_claims(
        tables, inputs, settings["rules"], resamples, folder
    )
    cards = [json.loads((path / "card.json").read_text()) for path in _of_stage(inputs, "corpus").values()]
    build(
        tables, gather_examples(inputs, settings["examples"]), cards, describe_study(settings, tables), folder
    )


def gather_scores(inputs: dict[str, Path]) -> pd.DataFrame:
    """Return one row a cell, scope and metric."""
    return _gather(inputs, "score", _describe_score)


def gather_downstream(inputs: dict[str, Path]) -> pd.DataFrame:
    """Return one row a training set and measure."""
    return _gather(inputs, "downstream", _describe_task)


def gather_ledger(inputs: dict[str, Path]) -> pd.DataFrame:
    """Return one row a generated cell: what it cost, counted and measured."""
    rows = []
    for path in _of_stage(inputs, "score").values():
        read = inputs_of(path)
        cell, record = describe_cell(read), read_record(read["generation"])
        counted = json.loads((read["generation"] / "ledger.json").read_text())
        names = {key: cell[key] for key in ("corpus", "arm", "strategy", "ratio", "seed")}
        precision = record["settings"].get("precision", "none")
        rows.append(
            names
            | counted
            | record["measured"]
            | {"precision": precision, "artifact": name_of(read["generation"])}
            | {"model": name_model(read["generation"])}
        )
    return pd.DataFrame(rows)


def gather_stages(inputs: dict[str, Path]) -> pd.DataFrame:
    """Return one row a corpus and stage that runs on the processor: its results, and the seconds they took in all."""
    rows = []
    for stage in ("score", "downstream"):
        for path in _of_stage(inputs, stage).values():
            record = read_record(path)
            corpus = read_record(inputs_of(path)["corpus"])["settings"]
            row = {"stage": stage, "corpus": corpus["name"], "documents": corpus["sizes"]["generate"]}
            row |= {"task_seeds": record["settings"].get("seeds", 1), "seconds": record["seconds"]}
            rows.append(row | {"results": 1})
    keys = ["stage", "corpus", "documents", "task_seeds"]
    return pd.DataFrame(rows).groupby(keys, as_index=False).sum() if rows else pd.DataFrame()


def gather_compute(inputs: dict[str, Path]) -> dict[str, pd.DataFrame]:
    """Return what writing cost by length, its growth, and quality at equal compute; see costing.py."""
    return cost_cells([Scored(path, inputs_of(path)) for path in _of_stage(inputs, "score").values()])


def gather_gap(cells: dict[str, list[Cell]], resamples: int) -> pd.DataFrame:
    """Return one row a corpus, step and measure: paired differences between arms; see gap.py."""
    rows = [row for corpus, made in cells.items() for row in compare_text(corpus, made, resamples)]
    return pd.DataFrame(rows, columns=COLUMNS["gap"])


def gather_utility_gap(trained: dict[tuple[str, str], list[Trained]], resamples: int) -> pd.DataFrame:
    """Return one row a corpus and step: paired differences between arms as training data; see utility_gap.py."""
    rows = [row for place, made in trained.items() for row in compare_utility(*place, made, resamples)]
    return pd.DataFrame(rows, columns=COLUMNS["utility_gap"])


def gather_examples(
    inputs: dict[str, Path], corpora: list[str], strategy: str = "random", ratio: float = 0.5
) -> list[dict]:
    """Return, for one document of each of the corpora, what every arm wrote into the same blanks."""
    found: dict[str, dict] = {}
    for path in _of_stage(inputs, "score").values():
        read = inputs_of(path)
        cell = describe_cell(read)
        if (cell["strategy"], cell["ratio"]) != (strategy, ratio) or cell["corpus"] not in corpora:
            continue
        texts = {d.id: d.text for d in load_split(read["corpus"], "generate")}
        blanked = load_blanked(read["corruption"], texts)
        place = min(range(len(blanked)), key=lambda i: (len(blanked[i].words), blanked[i].id))
        shown, filled = blanked[place], load_filled(read["generation"])[place]
        original = _segments(shown.text, list(shown.words), set(shown.blanks))
        start = {"corpus": cell["corpus"], "strategy": strategy, "ratio": ratio, "document": shown.id}
        example = found.setdefault(cell["corpus"], start | {"original": original, "arms": {}})
        example["arms"][cell["arm"]] = _segments(filled.text, filled.spans, set(shown.blanks))
    return list(found.values())


def _segments(text: str, spans: list, blanks: set[int]) -> list[list]:
    """Return the text as [piece, whether a blank stood there], in order."""
    segments, cursor = [], 0
    for number, span in enumerate(spans):
        if span is None or number not in blanks or span[0] < cursor:
            continue
        segments += [[text[cursor : span[0]], False], [text[span[0] : span[1]], True]]
        cursor = span[1]
    return [segment for segment in [*segments, [text[cursor:], False]] if segment[0]]


def gather_training(inputs: dict[str, Path]) -> pd.DataFrame:
    """Return the training curve of each language model."""
    frames = []
    for path in set(_of_stage(inputs, "pretrain").values()):
        record, read = read_record(path), inputs_of(path)
        about = {
            "objective": record["settings"]["objective"]["name"],
            "model": read_record(read["start"])["settings"]["name"],
            "initialisation": _tell_start(read["start"]),
            "corpora": "+".join(key.removeprefix("corpus/") for key in read if key.startswith("corpus/")),
            "tokens_per_second": record["measured"]["tokens_per_second"],
            "artifact": name_of(path),
        }
        frames.append(pd.read_csv(path / "curves.csv").assign(**about))
    return pd.concat(frames) if frames else pd.DataFrame()


def gather_claims(
    tables: dict[str, pd.DataFrame], inputs: dict[str, Path], rules: list[dict], resamples: int, folder: Path
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the verdicts, and every comparison behind them, which is written to `comparisons.csv`."""
    place = {name_of(path): path for path in inputs.values()}
    tidied = {name: tidy(name, tables[name]) for name in ("scores", "downstream", "ledger", "correlation")}
    tidied |= {"ratings": tables["ratings"]} if "ratings" in tables else {}
    decided = decide(rules, tidied, lambda artifact: _read_stored(place[artifact]), resamples, seed=0)
    is_verdict = decided["comparison"] == "verdict"
    comparisons = decided[~is_verdict].reset_index(drop=True)
    comparisons.to_csv(folder / "comparisons.csv", index=False, float_format="%.7g")
    statements = {rule["id"]: rule["statement"] for rule in rules}
    verdicts = decided[is_verdict].drop(columns=["comparison", "role"])
    verdicts.insert(1, "statement", verdicts["claim"].map(statements))
    verdicts.attrs["rules"] = tell_rules(rules, inputs)
    return verdicts.reset_index(drop=True), comparisons


def tell_rules(rules: list[dict], inputs: dict[str, Path]) -> str:
    """Return the hash of the rules that judge, and of those in force when the cells were made."""
    used = hash_rules(rules)
    made = {
        read_record(path)["measured"].get("rules", "unknown") for path in _of_stage(inputs, "score").values()
    }
    if made == {used}:
        return f"Rules {used}, the same as when the cells were made."
    return (
        f"Rules {used}; THE RULES CHANGED: when the cells were made {', '.join(sorted(made))} were in force."
    )


def describe_study(settings: dict, tables: dict[str, pd.DataFrame]) -> dict:
    """Return what the page says about how its numbers were made."""
    starts = sorted(set(tables["training"].get("initialisation", [])))
    scale, track = settings["scale"], settings.get("track")
    return {
        "scale": f"{scale} track={track}" if track else scale,
        "command": f"make reproduce SCALE={scale}" + (f" TRACK={track}" if track else ""),
        "initialisation": "; ".join(starts),
        "models": sorted(set(tables["training"].get("objective", []))),
        "deviations": [line[2:] for line in DEVIATIONS.read_text().splitlines() if line.startswith("- ")],
        "versions": library_versions(),
    }


def _gather(inputs: dict[str, Path], stage: str, describe) -> pd.DataFrame:
    frames = []
    for path in _of_stage(inputs, stage).values():
        table = pd.read_csv(path / "scores.csv")
        frames.append(table.assign(**describe(path), artifact=name_of(path)))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _tell_start(folder: Path) -> str:
    model = read_record(folder)["settings"]
    if model["start"] == "encoder":
        return f"bidirectional encoder {model['encoder'].removeprefix('package:')}, new output layer"
    if model["start"] == "checkpoint":
        head = ", new output layer" if json.loads((folder / "start.json").read_text())["has_new_head"] else ""
        return f"{model['name']}, a pretrained {model['kind']} model{head}"
    return "random weights"
