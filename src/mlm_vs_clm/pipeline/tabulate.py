"""One tidy table of stored results, one row each: of the jobs of a sweep at its end, and of any choice from the store."""

import argparse
import hashlib
import json
import math
import numbers
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..console import add_store
from ..errors import StudyError
from ..files import explain_os_error, write_csv
from ..metrics import find_scope
from ..tasks import TASKS
from .artifacts import RECORD, explain_damage, inputs_of, name_of, read_record
from .cells import describe_cell, describe_network, describe_score, describe_task, name_model

if TYPE_CHECKING:
    from ..report.tables import Table

STAGES = ("score", "downstream", "generate")
QUALITIES = ("exact_match", "bleu", "rougeL", "meteor", "bertscore", "distinct2", "mmd", "c2st")
COSTS = ("blanks", "tokens_filled", "passes", "flops")
CELL = ("corpus", "task", "arm", "trained_on", "strategy", "ratio", "seed", "budget", "model", "examples")
ALIASES = {"masking": "strategy", "masking.ratio": "ratio", "arm.budget": "budget"}  # columns of settings
LAST = ("n", "artifact", "reason")
SHOWN = 40  # rows that are printed
TABLES = "tables are kept in the store, copy it to a folder that you may write"


def tabulate(store: Path | str = "outputs", stage: str = "score", **chosen: Any) -> pd.DataFrame:
    """Return the stored results of a stage (score, downstream or generate), one row each.

    Columns: the cell (corpus, arm or trained_on, strategy, ratio, seed, model; budget along a training curve); each main
    metric with `<metric>_low` and `<metric>_high`, or the counted costs of `generate`; n, artifact, and the reason of a
    missing value. `chosen` keeps rows by column: tabulate(corpus="plots", arm=["mlm", "clm"]); results along a training
    curve are there where `budget` is chosen. A result whose files, or those it was made from, are not as they were
    written is left out, and a line on stderr says why. Raises StudyError for another stage or column, and where nothing
    stored has these values.
    """
    if stage not in STAGES:
        raise StudyError(f"stage={stage} has no table: choose one of {', '.join(STAGES)}")
    table = _order(describe_whole(sorted(Path(store, stage).glob("[!.]*"))))
    for name, values in chosen.items() if len(table) else ():
        column = ALIASES.get(name, name)
        if column not in table:
            raise StudyError(f"{name} is no column of {stage}: choose by {', '.join(table.columns)}")
        several = isinstance(values, Iterable) and not isinstance(values, str)
        accepted = {_write(value) for value in (values if several else [values])}
        table = table[table[column].map(_write).isin(accepted)]
    if "budget" in table and not {"budget", "arm.budget"} & chosen.keys():
        table = table[table["budget"].isna()].drop(columns="budget")
    if table.empty:
        raise StudyError(f"nothing of stage {stage} in {store} has these values: see `make store`")
    return table.sort_values([name for name in CELL if name in table], ignore_index=True)


def describe_whole(folders: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the rows of the artifacts that are as they were written; say on stderr which others are left out, and why."""
    reasons: dict[Path, str] = {}
    rows = []
    for folder in folders:
        if not (folder / RECORD).exists():
            continue
        reason = explain_damage(folder, reasons)
        try:
            rows += [] if reason else [describe(folder)]
        except OSError as error:  # a result that it was made from was removed
            reason = f"{error.filename} is not stored: run the command that made it again"
        if reason:
            print(f"left out {name_of(folder)}: {reason}", file=sys.stderr)
    return rows


def describe(folder: Path) -> dict[str, Any]:
    """Return the row of one stored result of a stage."""
    stage, read = folder.parent.name, inputs_of(folder)
    if stage == "generate":
        about = describe_cell(read | {"generation": folder}) | {"model": name_model(folder)}
        counted = json.loads((folder / "ledger.json").read_text())
        values = {name: counted[name] for name in COSTS} | {"n": counted["documents"]}
    else:
        is_network = read_record(folder)["settings"].get("finetuning", {}).get("examples")
        describe_one = (
            describe_score if stage == "score" else describe_network if is_network else describe_task
        )
        about = describe_one(folder)
        values = _read_main(folder, about.get("task"))
    text = folder if stage == "generate" else read.get("generation")
    if text and (budget := read_record(text)["settings"].get("budget")):
        about = about | {"budget": budget}
    return {name: about[name] for name in CELL if name in about} | values | {"artifact": name_of(folder)}


def _read_main(folder: Path, task: str | None) -> dict[str, Any]:
    """Return the main metrics of a result with their intervals."""
    scores = pd.read_csv(folder / "scores.csv").fillna({"reason": ""})
    if task:
        main = scores[scores["metric"] == TASKS[task].main_metric]
    else:
        main = scores[scores["metric"].map({name: find_scope(name) for name in QUALITIES}) == scores["scope"]]
    row_values: dict[str, Any] = {"n": main["n"].min()}
    for row in main.itertuples():
        row_values |= {row.metric: row.value, f"{row.metric}_low": row.low, f"{row.metric}_high": row.high}
    return row_values | {"reason": "; ".join(sorted(set(main["reason"]) - {""}))}


def tabulate_sweep(stage: str, jobs: list[list[str]], outcomes: Mapping[int, dict]) -> pd.DataFrame:
    """Return one row per job of a sweep: swept settings, then as `tabulate`; `attrs["swept"]` names their columns.

    outcomes: by the number of the job, its {"folder"}, or the {"reason"} for which it failed or was stopped.
    """
    settings = [dict(override.lstrip("+~").partition("=")[::2] for override in job) for job in jobs]
    swept = [key for key in settings[0] if len({job_settings[key] for job_settings in settings}) > 1]
    names = ALIASES | (
        {"arm": "trained_on"} if stage == "downstream" and "trained_on" not in settings[0] else {}
    )
    rows = []
    for number, job in enumerate(settings):
        outcome = outcomes[number]
        reason = outcome.get("reason") or explain_damage(Path(outcome["folder"]))
        row = {"reason": reason} if reason else describe(Path(outcome["folder"]))
        rows.append(row | {names.get(key, key): _read(job[key]) for key in swept})
    columns = [names.get(key, key) for key in swept]
    table = _order(rows, columns)
    table.attrs["swept"] = columns
    return table


def _order(rows: list[dict], first: Iterable[str] = ()) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    table["reason"] = table["reason"].fillna("") if "reason" in table else ""
    named = dict.fromkeys([*first, *CELL])
    measured = [name for name in table if name not in {*named, *LAST}]
    return table[[name for name in [*named, *measured, *LAST] if name in table]]


def _read(text: str) -> Any:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text


def _write(value: Any) -> str:
    """Return a value as it is typed: 0.50 and 0.5 are the same, and a missing value is the empty word."""
    value = _read(value) if isinstance(value, str) else value
    if isinstance(value, numbers.Integral):
        return str(int(value))  # of any size: a float has 53 bits
    if isinstance(value, numbers.Real):
        number = float(value)
        return "" if math.isnan(number) else f"{number:.0f}" if number.is_integer() else str(number)
    return "" if value is None else str(value)


def publish(table: pd.DataFrame, stage: str, folder: Path, title: str, command: str) -> None:
    """Write the files of a table into a folder two below its store; print the table, short, and their places.

    They are table.csv, table.md, of several arms that were scored differences.csv, and where a number varies figure.svg.
    """
    from ..report.drawing import save, style_context
    from ..report.rendering import to_markdown
    from ..report.sweep import draw_sweep, show_differences, show_sweep
    from .differences import compare_arms, widen_measures

    named = [name for name in table.attrs.get("swept", CELL) if name in table]
    varying = [name for name in named if table[name].nunique(dropna=False) > 1]
    tables = [show_sweep(table, varying, title, command)]
    differences = compare_arms(table, folder.parents[1]) if stage == "score" else pd.DataFrame()
    if len(differences):
        keys = [name for name in varying if name in differences]
        tables.append(show_differences(widen_measures(differences, keys), command))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_csv(table, folder / "table.csv")
        if len(differences):
            write_csv(differences, folder / "differences.csv")
        text = "\n".join(map(to_markdown, tables))
        (folder / "table.md").write_text(text, encoding="utf-8", newline="\n")
        with style_context():
            drawings = draw_sweep(table, varying)
            for drawing in drawings:
                save(drawing, folder)
    except OSError as error:
        raise StudyError(explain_os_error(error, folder, TABLES)) from error
    finally:
        for printed in tables:
            _print_short(printed)
    figure = (
        f"\nfigure: {folder / 'figure.svg'}"
        if drawings
        else "\nno figure: no number varies, or results of other settings share a cell"
    )
    beside = f"\ndifferences: {folder / 'differences.csv'}" if len(differences) else ""
    print(f"table:  {folder / 'table.csv'} (table.md for reading){beside}{figure}")


def _print_short(table: "Table") -> None:
    """Print the first rows of a table."""
    texts = pd.DataFrame([[entry.text for entry in row] for row in table.rows], columns=list(table.header))
    print(f"{table.title}\n{texts.head(SHOWN).to_string(index=False)}")
    if len(texts) > SHOWN:
        print(f"... {len(texts) - SHOWN} rows more")


def print_result(folder: Path) -> None:
    """Print what one stored result of a stage says: its cell, and a line per main metric or count."""
    from ..report import style

    row = describe(folder)
    about = [
        f"{row[name]:g}" if isinstance(row[name], float) else str(row[name]) for name in CELL if name in row
    ]
    units = "test units" if "task" in row else "documents"
    print(f"{' '.join(word for word in about if word not in ('', 'nan'))} ({row['n']:.0f} {units})")
    for name, value in row.items():
        if f"{name}_low" in row or name in COSTS:
            digits = style.decimals(pd.Series([value]))
            ends = [row.get(f"{name}_{side}", math.nan) for side in ("low", "high")]
            interval = "" if any(map(math.isnan, ends)) else f" [{ends[0]:.{digits}f}, {ends[1]:.{digits}f}]"
            number = f"{value:,.0f}" if name in COSTS else f"{value:.{digits}f}{interval}"
            print(f"  {style.name_metric(name):32} {number if pd.notna(value) else 'missing'}")
    if row.get("reason"):
        print(f"  {row['reason']}")


def name_folder(store: Path | str, stage: str, chosen: Iterable[str]) -> Path:
    """Return the folder of a table, named after what was chosen."""
    return Path(store, "tables", f"{stage}-{hashlib.sha256(' '.join(chosen).encode()).hexdigest()[:8]}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm table`."""
    parser.add_argument(
        "chosen", nargs="*", metavar="column=value", help="as corpus=plots arm=mlm,clm stage=downstream"
    )
    add_store(parser)


def run(chosen: argparse.Namespace) -> None:
    """Show what is stored of a stage, by default `score`."""
    if wrong := [word for word in chosen.chosen if "=" not in word]:
        raise StudyError(f"{wrong[0]}: choose by column=value, as corpus=plots")
    columns: dict[str, list[str]] = {}
    for name, values in (word.split("=", 1) for word in chosen.chosen):
        if name in columns:
            both = ",".join([*columns[name], values])
            raise StudyError(f"{name} is chosen twice: give all of its values at once, as {name}={both}")
        columns[name] = values.split(",")
    if "store" in columns:
        places = ",".join(columns["store"])
        raise StudyError(f"store={places}: the store is no column, give it as --store {places}")
    stage = ",".join(columns.pop("stage", ["score"]))
    if "," in stage:
        raise StudyError(f"stage={stage}: a table shows one stage, choose one of {', '.join(STAGES)}")
    table = tabulate(chosen.store, stage, **columns)
    command = " ".join(["python -m mlm_vs_clm table", *chosen.chosen])
    folder = name_folder(chosen.store, stage, chosen.chosen)
    publish(table, stage, folder, f"Stored results: {stage}", command)
