"""Differences between two arms on the same documents: as text, as training data, by seed and at equal compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd

from ..analysis.equal_compute import BASES
from ..analysis.gap import summarise_seeds
from ..analysis.tables import explain_missing
from . import style
from .drawing import Drawing, add_legend, describe_values, draw_intervals, each_panel, panels
from .sentences import WORDS
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
    from matplotlib.figure import Figure

METRICS = [*style.METRICS, *style.UTILITIES]  # reading order
UNITS = {"bleu": ("0–100", 1), "exact_match": ("share", 3)}  # unit and decimals; others: 0–1, three
BLUE, ORANGE = {"color": "#0072B2", "marker": "o"}, {"color": "#D55E00", "marker": "s"}
SHOWN_BY_SEED = ("document", "bleu")
SIGN = "Differences are first arm minus second; above 0 the masked arm is better"
FILLED = "Filled markers: the 95 % interval excludes 0; white ones: it includes 0."
ALL = "first minus second"
GAP_TITLE, RUN_TITLE = "Ablation of the advantages of the masked arm", "Comparisons by training seed"
EQUAL_TITLE = "Quality at equal documents and at equal compute"


def describe_gap(study: Study) -> str:
    """Return how to read the differences between texts."""
    return (
        f"{study.describe_main()}. {SIGN}; pairs are documents (authors where they repeat). Intervals are 95 % bootstrap "
        "intervals, over seeds too where there are several."
    )


def describe_runs(study: Study) -> str:
    """Return how to read the differences by seed."""
    return (
        f"{study.describe_main()}. Each seed draws other blanks and other words; where the grid retrains (track=runs), it also "
        f"trains the language models anew. {SIGN}. Intervals are those of one seed: over documents, as training data over test "
        "units and task seeds."
    )


def gap_table(gap: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: corpus and comparison down, the difference by each measure across."""
    return difference_table(
        "gap",
        GAP_TITLE,
        f"{describe_gap(study)} Each comparison removes one advantage. p-values, not corrected, are in gap.csv.",
        label(gap),
        across="measure",
        extra={"n": lambda rows: Entry(describe_count(rows)) if rows["n"].notna().any() else DASH},
        command=command_for_arms("score", gap, study),
    )


def utility_gap_table(gap: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: corpus and comparison down, the difference as training data."""
    return difference_table(
        "utility_gap",
        "The same comparisons, as training data",
        (
            f"{study.describe_main()}. A task model is trained on the text of either arm and tested on the same real units. "
            f"{SIGN}: means over task seeds, with 95 % bootstrap intervals over units (authors where they repeat) and task seeds."
        ),
        label(gap.assign(scope="utility")),
        across="all",
        by_measure=True,
        command=command_for_arms("downstream", gap, study),
    )


def run_table(runs: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: corpus, comparison and measure down, the seeds across, their mean and standard deviation."""
    return difference_table(
        "runs",
        RUN_TITLE,
        f"{describe_runs(study)} The standard deviation is between the seeds.",
        at_shown(label(runs)),
        across="seed",
        by_measure=True,
        extra={
            "mean": lambda rows: enter_seeds(rows, 0),
            "standard deviation": lambda rows: enter_seeds(rows, 1),
        },
        command=command_for_report(study.scale),
    )


def equal_table(equal: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: corpus and comparison down, each measure at equal documents and at equal compute across."""
    return difference_table(
        "equal_compute",
        EQUAL_TITLE,
        (
            f"{study.describe_main()}. {SIGN}, paired, with 95 % bootstrap intervals. At the compute of one arm the score of the "
            "other is read off the line between the runs of its method, at other orders or paces, with the nearest FLOPs below "
            "and above."
        ),
        label(equal),
        across="measure at",
        extra={"FLOPs, first over second": enter_ratio},
        command=command_for_arms("score", equal, study),
    )


def label(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of differences with the words that tables and figures show, and why a value is missing."""
    rows = rows.assign(
        difference=list_words("{} - {}", rows["first"], rows["second"]),
        measure=list_words(
            "{}, {}", rows["metric"].map(style.name_metric), rows["scope"].map(style.name_scope)
        ),
        reason=explain_missing(rows),
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
    title: str,
    caption: str,
    rows: pd.DataFrame,
    across: str,
    command: str,
    by_measure: bool = False,
    extra: dict[str, Callable[[pd.DataFrame], Entry]] | None = None,
) -> list[Table]:
    """Return one table of labelled differences, none without rows: a line per corpus and comparison (and measure)."""
    if rows.empty:
        return []
    keys = ["corpus", "comparison", "difference", *(["measure"] if by_measure else [])]
    measures = list_measures(rows)
    lines = order_lines(rows, keys, [(), WORDS, (), measures][: len(keys)])
    bases = [f"{measure}: {basis}" for measure in measures for basis in BASES]
    columns = ordered(rows[across], [*measures, *bases])
    found = {(*(row[key] for key in keys), row[across]): row for _, row in rows.iterrows()}
    groups, extra = dict(list(rows.groupby(keys))), extra or {}
    body = [
        (
            *map(enter_key, keys, line),
            *(enter_difference(found.get((*line, column))) for column in columns),
            *(enter_extra(groups[line]) for enter_extra in extra.values()),
        )
        for line in lines
    ]
    return [Table(name, title, caption, [*keys, *columns, *extra], body, command)]


def list_measures(rows: pd.DataFrame) -> list[str]:
    """Return the names of the measures of labelled rows, in reading order."""
    return list(rows.sort_values("metric", key=lambda names: names.map(METRICS.index))["measure"].unique())


def enter_difference(row: pd.Series | None) -> Entry:
    """Return a difference with its sign and its interval."""
    if row is None:
        return MISSING
    entry = enter(row, decimals_of(row["metric"]))
    return Entry(f"+{entry.text}", entry.number) if (entry.number or 0) > 0 else entry


def decimals_of(metric: str) -> int:
    """Return the decimals of a difference."""
    return UNITS.get(metric, ("", 3))[1]


def enter_seeds(rows: pd.DataFrame, part: int) -> Entry:
    """Return the mean (part 0) or the standard deviation (1) over seeds, which need the difference of every seed."""
    digits = decimals_of(rows["metric"].iloc[0])
    absent = Entry("missing", reason="not every seed has the difference")
    return enter_number(summarise_seeds(rows["value"])[part], f"{{:{'' if part else '+'}.{digits}f}}", absent)


def enter_ratio(rows: pd.DataFrame) -> Entry:
    """Return the FLOPs of the first arm over those of the second, at equal documents."""
    whole = rows[(rows["basis"] == BASES[0]) & (rows["flops_second"] > 0)]
    ratios = whole["flops_first"] / whole["flops_second"]
    return enter_number(ratios.iloc[0], "{:,.3g}") if len(ratios) else MISSING


def at_shown(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the measures that are shown by seed: document BLEU, and utility."""
    return rows[(rows["scope"] + rows["metric"] == "".join(SHOWN_BY_SEED)) | (rows["scope"] == "utility")]


def command_for_arms(stage: str, rows: pd.DataFrame, study: Study) -> str:
    """Return the line that makes the cells behind the differences that were measured."""
    made = rows[rows["value"].notna()]
    arms = pd.concat([made[["corpus", side]].rename(columns={side: "arm"}) for side in ("first", "second")])
    strategy, ratio = study.main
    return command_for_cells(stage, study.scale, arms.assign(strategy=strategy, ratio=ratio))


def draw_gap(gap: pd.DataFrame, study: Study) -> list[Drawing]:
    """Return one figure: measures down, corpora across, a point with its interval per comparison."""
    return draw_differences("gap", GAP_TITLE, describe_gap(study), label(gap), "all", {ALL: BLUE})


def draw_runs(runs: pd.DataFrame, study: Study) -> list[Drawing]:
    """Return one figure: document BLEU above and utility below, corpora across, a point per seed and comparison."""
    rows = at_shown(label(runs))
    return draw_differences(
        "runs", RUN_TITLE, describe_runs(study), rows, "seed", style.looks(ordered(rows["seed"]))
    )


def draw_equal(equal: pd.DataFrame, study: Study) -> list[Drawing]:
    """Return one figure: every comparison as it was run, and at equal compute where that could be read off."""
    rows = label(equal).sort_values("value", key=lambda values: values.isna(), kind="stable")
    rows["basis"] = rows["basis"].where(rows["basis"] == BASES[0], "equal compute")
    rows = rows.drop_duplicates(["corpus", "comparison", "measure", "basis"])
    caption = (
        f"{study.describe_main()}. {SIGN}. At equal compute one arm takes the FLOPs of the other, at another order or pace; "
        "left out where its method was not run on both sides of that cost (the table has the reasons)."
    )
    looks = {BASES[0]: BLUE, "equal compute": ORANGE}
    return draw_differences("equal_compute", EQUAL_TITLE, caption, rows, "basis", looks)


def draw_differences(
    name: str, title: str, caption: str, rows: pd.DataFrame, series: str, looks: dict[str, dict]
) -> list[Drawing]:
    """Return one figure of labelled differences, none without values; `looks` of the values of the column `series`."""
    if rows["value"].isna().all():
        return []
    arms = dict(zip(rows["comparison"], rows["difference"], strict=True))
    chain = "; ".join(f"{comparison}: {arms[comparison]}" for comparison in ordered(arms, WORDS))
    by = ["corpus", "comparison", "metric", *([series] if len(looks) > 1 else [])]
    return [
        Drawing(
            name=name,
            title=title,
            caption=f"{caption} {FILLED} Comparisons from top to bottom: {chain}.",
            alt=f"Points with intervals. {describe_values(rows, by, sign='+')}.",
            figure=draw_panels(rows, series, looks),
        )
    ]


def draw_panels(rows: pd.DataFrame, series: str, looks: dict[str, dict]) -> Figure:
    """Return a figure with a row of panels per measure (one for the main metrics of all tasks), corpora across."""
    corpora, comparisons = ordered(rows["corpus"]), ordered(rows["comparison"], WORDS)
    kinds = ordered(rows["panel"], list_measures(rows))
    height = 0.3 * max(1, 0.6 * len(looks)) * len(comparisons) + 0.8
    figure, axes = panels(len(kinds), len(corpora), sharex="row", sharey=True, height=height)
    figure.set_figwidth(figure.get_figwidth() + 1.6)
    for axis, kind, corpus in each_panel(axes, kinds, corpora):
        panel = rows[(rows["panel"] == kind) & (rows["corpus"] == corpus)]
        found = {(row["comparison"], row[series]): row for _, row in panel.iterrows()}
        cells = [(look, [found.get((one, name)) for one in comparisons]) for name, look in looks.items()]
        draw_intervals(axis, comparisons, cells)
        metric = panel["metric"].iloc[0] if len(panel) else ""
        axis.set_title(f"{corpus}, {panel['scope'].map(style.name_scope).iloc[0]}" if len(panel) else corpus)
        axis.set_xlabel(f"difference in {style.name_metric(metric)}\n({UNITS.get(metric, ('0–1', 3))[0]})")
    if len(looks) > 1:
        add_legend(figure, looks)
    return figure
