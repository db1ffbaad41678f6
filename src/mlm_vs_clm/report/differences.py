"""Differences between two arms on the same documents: as text, as training data, by seed and at equal compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..evidence.equal_compute import BASES
from ..evidence.gap import MEASURES, summarise_seeds
from ..evidence.tables import explain_missing
from ..evidence.verdicts import FIRST, SECOND
from . import style
from .drawing import FILLED, PALE, Drawing, Panel, add_legend, describe_values, draw_alone, each_panel, panels
from .intervals import draw_intervals, number_marks
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

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SHOWN_BY_SEED = ("document", "bleu")
ALL = "first minus second"
SIGN = "Differences are first arm minus second; above 0 the masked arm is better"
TITLES = {
    "gap": "Ablation of the advantages of the masked arm",
    "utility_gap": "The same comparisons, as training data",
    "runs": "Comparisons by training seed",
    "equal_compute": "Quality at equal documents and at equal compute",
}
STAGES = {
    "gap": "score",
    "utility_gap": "downstream",
    "runs": "report",
    "equal_compute": "score",
}  # whose command makes the rows
CAPTIONS = {
    "gap": f"{SIGN}; pairs are documents (authors where they repeat). Intervals are 95 %: over documents by bootstrap, over "
    "runs by t where there are several. Each comparison removes one advantage. p-values, not corrected, are in gap.csv.",
    "utility_gap": "A task model is trained on the text of either arm and tested on the same real units. "
    f"{SIGN}: means over task seeds, with 95 % intervals: over units (authors where they repeat) and task seeds by "
    "bootstrap, over runs by t where there are several.",
    "runs": "Each seed draws other blanks and other words; where the grid retrains (track=runs), it also trains the language "
    f"models again. {SIGN}. Intervals are those of one seed: over documents, as training data over test units and task seeds. "
    "The standard deviation is between the seeds.",
    "equal_compute": f"{SIGN}, paired, with 95 % intervals: over documents by bootstrap, over runs by t where there are "
    "several. At equal compute one arm takes the FLOPs of the other: its score is read off the line between the runs of its "
    "method, at other orders or paces, with the nearest FLOPs below and above. Missing where it was not run on both sides "
    "of that cost.",
}


def gap_table(gap: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: corpus and comparison down, the difference by each measure across."""

    def enter_count(rows: pd.DataFrame) -> Entry:
        return Entry(describe_count(rows)) if rows[["value", "n"]].notna().all(axis=1).any() else DASH

    return difference_table("gap", label(gap), study, "measure", extra={"n": enter_count})


def utility_gap_table(gap: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: corpus and comparison down, the difference as training data."""
    rows = label(gap.assign(scope="utility"))
    return difference_table("utility_gap", rows, study, "all", by_measure=True)


def run_table(runs: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: corpus, comparison and measure down, the seeds across, their mean and standard deviation."""
    summaries = {
        "mean": lambda rows: enter_seeds(rows, 0),
        "standard deviation": lambda rows: enter_seeds(rows, 1),
    }
    return difference_table("runs", at_shown(label(runs)), study, "seed", by_measure=True, extra=summaries)


def equal_table(equal: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: corpus and comparison down, each measure at equal documents and at equal compute across."""
    ratio = {"FLOPs, first over second": enter_ratio}
    return difference_table("equal_compute", label(equal), study, "measure at", extra=ratio)


def label(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of differences with the words that tables and figures show, and why a value is missing."""
    rows = rows.assign(
        difference=list_words("{} - {}", rows["first"], rows["second"]),
        measure=list_words(
            "{}, {}", rows["metric"].map(style.name_metric), rows["scope"].map(style.name_scope)
        ),
        reason=explain_missing(rows),
        pale=rows["excluded_because"].fillna(""),
        is_filled=rows["direction"].isin([FIRST, SECOND]),
        all=ALL,
    )
    rows["panel"] = rows["measure"].where(rows["scope"] != "utility", style.SCOPES["utility"])
    if "seed" in rows:
        rows["seed"] = rows["seed"].map("seed {:g}".format)
    if "basis" in rows:
        rows["measure at"] = list_words("{}: {}", rows["measure"], rows["basis"])
    return rows


def list_words(form: str, *columns: pd.Series) -> pd.Series:
    """Return the words of columns put into a form, row by row."""
    words = [form.format(*values) for values in zip(*columns, strict=True)]
    return pd.Series(words, index=columns[0].index, dtype="str")


def difference_table(
    name: str,
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
    caption = f"{study.describe_main()}. {CAPTIONS[name]}"
    return [
        Table(
            name,
            TITLES[name],
            caption,
            [*keys, *columns, *extra],
            body,
            describe_command(STAGES[name], rows, study),
        )
    ]


def describe_command(stage: str, rows: pd.DataFrame, study: Study) -> str:
    """Return the line that makes the cells behind the differences that were measured, or the report over all seeds."""
    if stage == "report":
        return command_for_report(study.scale)
    measured = rows[rows["value"].notna()]
    arms = pd.concat(
        [measured[["corpus", side]].rename(columns={side: "arm"}) for side in ("first", "second")]
    )
    strategy, ratio = study.main
    return command_for_cells(stage, study.scale, arms.assign(strategy=strategy, ratio=ratio))


def list_measures(rows: pd.DataFrame) -> list[str]:
    """Return the names of the measures of labelled rows, in reading order."""
    return list(
        rows.sort_values("metric", key=lambda names: names.map(style.ORDER["metric"].index))[
            "measure"
        ].unique()
    )


def enter_difference(row: pd.Series | None) -> Entry:
    """Return a difference with its sign and its interval, after the arm that is ahead where a direction is shown."""
    if row is None:
        return MISSING
    entry = enter(row, style.decimals_of(row["metric"]))
    ahead = {FIRST: row["first"], SECOND: row["second"]}.get(row.get("direction"), "")
    text = f"+{entry.text}" if (entry.number or 0) > 0 else entry.text
    return Entry(f"{ahead} {text}".strip(), entry.number, entry.reason) if entry.number is not None else entry


def enter_seeds(rows: pd.DataFrame, statistic: int) -> Entry:
    """Return the mean (statistic 0) or the standard deviation (1) over seeds, which need the difference of every seed."""
    digits = style.decimals_of(rows["metric"].iloc[0])
    absent = Entry("missing", reason="not every seed has the difference")
    return enter_number(
        summarise_seeds(rows["value"])[statistic], f"{{:{'' if statistic else '+'}.{digits}f}}", absent
    )


def enter_ratio(rows: pd.DataFrame) -> Entry:
    """Return the FLOPs of the first arm over those of the second, at equal documents."""
    whole = rows[(rows["basis"] == BASES[0]) & (rows["flops_second"] > 0)]
    ratios = whole["flops_first"] / whole["flops_second"]
    return enter_number(ratios.iloc[0], "{:,.3g}") if len(ratios) else MISSING


def at_shown(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the measures that are shown by seed: document BLEU, and utility."""
    return rows[(rows["scope"] + rows["metric"] == "".join(SHOWN_BY_SEED)) | (rows["scope"] == "utility")]


def draw_gap(gap: pd.DataFrame, study: Study) -> list[Drawing]:
    """Return one figure: measures down, corpora across, a point with its interval per comparison."""
    rows = gap[gap["metric"].isin([metric for _, metric in MEASURES])]  # the table also has each kind of word
    return draw_differences("gap", label(rows), study, "all")


def describe_difference(row: Any) -> str:
    """Return a labelled difference in words: comparison and arms, value with interval, p and n where it has them."""
    numbers = [enter_difference(row).text]
    numbers += [f"p {row['p']:.2g}"] if pd.notna(row.get("p")) else []
    numbers += [f"n {row['n']:.0f}"] if pd.notna(row.get("n")) else []
    pale = "; decides nothing: an arm misses its floor" if row["pale"] else ""
    return f"{row['comparison']} ({row['difference']}) {', '.join(numbers)}{pale}"


def draw_differences(name: str, rows: pd.DataFrame, study: Study, series: str) -> list[Drawing]:
    """Return one figure of labelled differences, none without values: a series per value of the column `series`."""
    if rows["value"].isna().all():
        return []
    arms = dict(zip(rows["comparison"], rows["difference"], strict=True))
    chain = "; ".join(f"{comparison}: {arms[comparison]}" for comparison in ordered(arms, style.COMPARISONS))
    by = ["corpus", "comparison", "metric", *([series] if series != "all" else [])]
    rows = number_marks(rows)
    sentences = [
        f"{row['corpus']}, {row['measure']}: {describe_difference(row)}" for _, row in rows.iterrows()
    ]
    figure, alone, looks = draw_panels(rows, series)
    return [
        Drawing(
            name=name,
            title=TITLES[name],
            caption=f"{study.describe_main()}. {CAPTIONS[name]} {FILLED} {PALE} From top to bottom: {chain}.",
            alt=f"Points with intervals. {describe_values(rows, by, sign='+')}.",
            figure=figure,
            panels=alone,
            looks=looks,
            marks=list(zip(rows["comparison" if series == "all" else series], sentences, strict=True)),
        )
    ]


def draw_panels(rows: pd.DataFrame, series: str) -> tuple[Figure, list[Panel], dict[str, dict]]:
    """Return a figure with a row of panels per measure (one for the main metrics of all tasks), corpora across; each alone."""
    corpora, comparisons = ordered(rows["corpus"]), ordered(rows["comparison"], style.COMPARISONS)
    kinds, looks = (
        ordered(rows["panel"], list_measures(rows)),
        style.series_looks(ordered(rows[series], BASES)),
    )
    height = 0.3 * max(1, 0.6 * len(looks)) * len(comparisons) + 0.8
    figure, axes = panels(len(kinds), len(corpora), sharex="row", sharey=True, height=height)
    figure.set_figwidth(figure.get_figwidth() + 1.6)

    def draw(axis: Axes, kind: str, corpus: str) -> None:
        panel = rows[(rows["panel"] == kind) & (rows["corpus"] == corpus)]
        by_series = {(row["comparison"], row[series]): row for _, row in panel.iterrows()}
        cells = [
            (look, [by_series.get((comparison, name)) for comparison in comparisons])
            for name, look in looks.items()
        ]
        draw_intervals(axis, comparisons, cells)
        axis.set_title(f"{corpus}, {style.name_scope(panel['scope'].iloc[0])}" if len(panel) else corpus)
        axis.set_xlabel(f"difference in {style.label_axis(panel['metric'].iloc[0])}" if len(panel) else "")

    for axis, kind, corpus in each_panel(axes, kinds, corpora):
        draw(axis, kind, corpus)
    if len(looks) > 1:
        add_legend(figure, looks)
    return figure, draw_alone(draw, kinds, corpora, 4.8, height), looks
