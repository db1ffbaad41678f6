"""Differences between two arms on the same documents: as text, as training data, by seed and at equal compute."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import pandas as pd

from ..evidence.differences import BY_CLASS, MEASURES, summarise_seeds
from ..evidence.equal_compute import BASES
from ..evidence.tables import COMPUTE, CURVE, SEED, TEXT, TRAINING_DATA, explain_missing, pick_kind
from ..evidence.verdicts import FIRST, SECOND
from . import style
from .style import Study, ordered
from .tables import (
    DASH,
    MISSING,
    Entry,
    Table,
    command_for_cells,
    command_for_report,
    describe_count,
    enter,
    enter_key,
    enter_number,
    order_lines,
)

SHOWN = (*MEASURES, *BY_CLASS)  # of the texts at the main cell
ALL = "first minus second"
SIGN = "Differences are first arm minus second, turned round where less is better: above 0 the first, masked arm is better"
WIDENED = "That of a single training has the noise between trainings, where the rules name it."
TITLES = {
    TEXT: "Ablation of the advantages of the masked arm",
    TRAINING_DATA: "The same comparisons, as training data",
    SEED: "Comparisons by training seed",
    COMPUTE: "Quality at equal documents and at equal compute",
    CURVE: "Differences between arms along the training curve",
}
# Whose command makes the rows, else the report.
STAGES = {TEXT: "score", TRAINING_DATA: "downstream", COMPUTE: "score"}
CAPTIONS = {
    TEXT: f"{SIGN}; pairs are documents (authors where they repeat). Intervals are 95 %: over documents by bootstrap, over "
    f"runs by t where there are several. {WIDENED} Each comparison removes one advantage. p-values, not corrected, are in comparisons.csv.",
    TRAINING_DATA: "A task model is trained on the text of either arm and tested on the same real units. "
    f"{SIGN}: means over task seeds, with 95 % intervals: over units (authors where they repeat) and task seeds by "
    f"bootstrap, over runs by t where there are several. {WIDENED}",
    SEED: "Each seed draws other blanks and other words; where the grid retrains (track=runs), it also trains the language "
    f"models again. {SIGN}. Intervals are those of one seed: over documents, as training data over test units and task seeds. "
    "The standard deviation is between the seeds.",
    COMPUTE: f"{SIGN}, paired, with 95 % intervals: over documents by bootstrap, over runs by t where there are "
    f"several. {WIDENED} At equal compute one arm takes the FLOPs of the other: its score is read off the line between the runs of its "
    "method, at other orders or paces, with the nearest FLOPs below and above. Missing where it was not run on both sides "
    "of that cost.",
    CURVE: "First minus second arm, turned round where less is better, each filling with the model that its training kept. "
    "Columns: training tokens of the first arm; the second saw equally many tokens, or predicted about equally many. In brackets the 95 % interval.",
}


def difference_tables(comparisons: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: corpus and comparison down, the difference at the main cell by each measure across."""

    def enter_count(rows: pd.DataFrame) -> Entry:
        return Entry(describe_count(rows)) if rows[["value", "n"]].notna().all(axis=1).any() else DASH

    rows = study.at_main(label(comparisons, TEXT))
    rows = rows[pd.Series(zip(rows["scope"], rows["metric"], strict=True), index=rows.index).isin(SHOWN)]
    return difference_table(TEXT, rows, study, "measure", extra={"n": enter_count})


def utility_difference_table(comparisons: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: corpus and comparison down, the difference as training data."""
    return difference_table(TRAINING_DATA, label(comparisons, TRAINING_DATA), study, "all", by_measure=True)


def seed_table(comparisons: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: corpus, comparison and measure down, the seeds across, their mean and standard deviation."""
    rows = at_shown(label(comparisons, SEED))
    rows = rows.assign(seed="seed " + rows["at"].astype(str))
    seeds = rows.groupby("corpus")["at"].nunique()
    summaries = {
        name: lambda line, statistic=statistic: enter_seeds(line, statistic, seeds[line["corpus"].iloc[0]])
        for statistic, name in enumerate(("mean", "standard deviation"))
    }
    return difference_table(SEED, rows, study, "seed", by_measure=True, extra=summaries)


def compute_table(comparisons: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: corpus and comparison down, each measure at equal documents and at equal compute across."""
    rows = label(comparisons, COMPUTE)
    rows["measure at"] = list_words("{}: {}", rows["measure"], rows["at"])
    ratio = {"FLOPs, first over second": enter_ratio}
    return difference_table(COMPUTE, rows, study, "measure at", extra=ratio)


def label(comparisons: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the comparisons of a kind with the words that tables show, and why a value is missing."""
    rows = pick_kind(comparisons, kind)
    return rows.assign(
        difference=list_words("{} - {}", rows["first"], rows["second"]),
        measure=list_words(
            "{}, {}", rows["metric"].map(style.name_metric), rows["scope"].map(style.name_scope)
        ),
        reason=explain_missing(rows),
        all=ALL,
    )


def list_words(form: str, *columns: pd.Series) -> pd.Series:
    """Return the words of columns put into a form, row by row."""
    words = [form.format(*values) for values in zip(*columns, strict=True)]
    return pd.Series(words, index=columns[0].index, dtype="str")


def difference_table(
    kind: str,
    rows: pd.DataFrame,
    study: Study,
    across: str,
    by_measure: bool = False,
    extra: Mapping[str, Callable[[pd.DataFrame], Entry]] | None = None,
) -> list[Table]:
    """Return one table of labelled differences, none without rows: a line per corpus and comparison (and measure)."""
    if rows.empty:
        return []
    keys = ["corpus", "comparison", "difference", *(["measure"] if by_measure else [])]
    measures, extra = list_measures(rows), extra or {}
    columns = ordered(
        rows[across], [*measures, *(f"{measure}: {basis}" for measure in measures for basis in BASES)]
    )
    by_cell = {(*(row[key] for key in keys), row[across]): row for _, row in rows.iterrows()}
    groups = dict(list(rows.groupby(keys)))
    body = [
        (
            *map(enter_key, keys, line),
            *(enter_difference(by_cell.get((*line, column))) for column in columns),
            *(enter_extra(groups[line]) for enter_extra in extra.values()),
        )
        for line in order_lines(rows, keys, measure=measures)
    ]
    caption = f"{study.describe_main()}. {CAPTIONS[kind]}"
    return [
        Table(
            f"comparisons_{kind.replace(' ', '_')}",
            TITLES[kind],
            caption,
            [*keys, *columns, *extra],
            body,
            describe_command(STAGES.get(kind, "report"), rows, study),
        )
    ]


def describe_command(stage: str, rows: pd.DataFrame, study: Study) -> str:
    """Return the line that makes the cells behind the differences that were measured, or the report: over all seeds, or where none was."""
    measured = rows[rows["value"].notna()]
    if stage == "report" or measured.empty:
        return command_for_report(study.scale)
    arms = pd.concat(
        [measured[["corpus", side]].rename(columns={side: "arm"}) for side in ("first", "second")]
    )
    strategy, ratio = study.main
    return command_for_cells(stage, study.scale, arms.assign(strategy=strategy, ratio=ratio))


def list_measures(rows: pd.DataFrame) -> list[str]:
    """Return the names of the measures of labelled rows, in reading order."""
    ranked = rows.sort_values("metric", key=lambda names: names.map(style.ORDER["metric"].index))
    return list(ranked["measure"].unique())


def enter_difference(row: pd.Series | None) -> Entry:
    """Return a difference with its sign and its interval, after the arm that is ahead where a direction is shown."""
    if row is None:
        return MISSING
    entry = enter(row, style.decimals_of(row["metric"]))
    ahead = {FIRST: row["first"], SECOND: row["second"]}.get(row.get("direction"), "")
    text = f"+{entry.text}" if (entry.number or 0) > 0 else entry.text
    return Entry(f"{ahead} {text}".strip(), entry.number, entry.reason) if entry.number is not None else entry


def enter_seeds(rows: pd.DataFrame, statistic: int, seeds: int) -> Entry:
    """Return the mean (statistic 0) or the standard deviation (1) over seeds, which need the difference of every seed."""
    digits = style.decimals_of(rows["metric"].iloc[0])
    absent = Entry("missing", reason="not every seed has the difference")
    values = summarise_seeds(rows["value"]) if len(rows) == seeds else (math.nan, math.nan)
    return enter_number(values[statistic], f"{{:{'' if statistic else '+'}.{digits}f}}", absent)


def enter_ratio(rows: pd.DataFrame) -> Entry:
    """Return the FLOPs of the first arm over those of the second, at equal documents."""
    whole = rows[(rows["at"] == BASES[0]) & (rows["flops_second"] > 0)]
    ratios = whole["flops_first"] / whole["flops_second"]
    return enter_number(ratios.iloc[0], "{:,.3g}") if len(ratios) else MISSING


def at_shown(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the measures that are shown by seed: document BLEU, and utility."""
    is_bleu = (rows["scope"] == "document") & (rows["metric"] == "bleu")
    return rows[is_bleu | (rows["scope"] == "utility")]
