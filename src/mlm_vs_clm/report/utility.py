"""What generated text is good for as training data: the tables of the tasks, and quality against utility."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from ..arms.roles import CAUSAL, CONTROL, MASKED, TABLE, find_role
from ..evidence.tables import find_utility, over_seeds
from ..tasks import TASKS
from ..tasks.outcome import NO_ROOM, UNTRAINED
from . import style
from .drawing import Drawing, add_legend, each_panel, least_span, open_up, panels
from .style import Study, ordered
from .tables import (
    DASH,
    INTERVALS,
    MISSING,
    Entry,
    Table,
    command_for_report,
    command_for_training,
    cross,
    enter_key,
    enter_number,
    order_lines,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CELL = ["corpus", "arm", "strategy", "ratio"]
RANDOM_WORDS = ("uniform", "unigram")
REFERENCES = ("real", "unfilled", "shuffled", "majority")
LINES: dict[str, dict[str, Any]] = {
    "real": {"color": "#000000", "linestyle": "-", "linewidth": 1.2},
    "shuffled": {"color": "#555555", "linestyle": "--", "linewidth": 1.2},
    "majority": {"color": "#555555", "linestyle": ":", "linewidth": 1.6},
}
FAMILY_LOOKS: dict[str, dict[str, Any]] = {
    family: {"color": style.COLOURS[family], "marker": marker, "linestyle": "none"}
    for family, marker in ((MASKED, "o"), (CAUSAL, "^"), (TABLE, "s"), (CONTROL, "x"))
}
NAMES = {MASKED: "masked", CAUSAL: "causal", TABLE: "word table", CONTROL: "unfilled"}


def downstream_tables(downstream: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table per task: what it was trained on at the main cell down, its measures across, with the references."""
    main = pd.concat([downstream[downstream["strategy"].isna()], study.at_main(downstream)])
    return [utility_table(main[main["task"] == task], task, study) for task in ordered(main["task"], TASKS)]


def utility_table(rows: pd.DataFrame, task: str, study: Study) -> Table:
    """Return the scores of one task and the copying audit of the text behind them; references have no masking."""
    keys = ["corpus", "trained_on", "strategy", "ratio"]
    with_dashes = rows.assign(**{key: rows[key].astype(object).fillna("–") for key in ("strategy", "ratio")})
    metrics = ordered(rows["metric"], [*style.UTILITIES, *sorted(set(rows["metric"]) - set(style.COPYING))])
    n_seeds = rows["seed"].nunique()
    return Table(
        name=f"downstream_{task}",
        title=f"Downstream: {task}, trained on generated text and tested on real text",
        caption=(
            f"{n_seeds} seed{'s' if n_seeds > 1 else ''}. {INTERVALS} Rows without a masking are references."
        ),
        header=[*(key.replace("_", " ") for key in keys), *map(style.name_metric, metrics)],
        rows=cross(with_dashes, keys, "metric", metrics, dash_where_not_copied),
        command=command_for_training(study.scale, rows),
    )


def dash_where_not_copied(entry: Entry, line: tuple, metric: str) -> Entry:
    """Return a dash where a reference has no copying to audit, the entry itself elsewhere."""
    return DASH if entry == MISSING and metric in style.COPYING and line[1] in style.REFERENCES else entry


def headroom_tables(headroom: pd.DataFrame, study: Study) -> list[Table]:
    """Return the share of headroom that each arm reaches, and the headroom itself; none without rows."""
    if headroom.empty:
        return []
    keys, arms = ["corpus", "strategy", "ratio"], ordered(headroom["trained_on"], style.ARMS)
    rooms = headroom.dropna(subset="headroom").drop_duplicates(keys).set_index(keys)
    columns = ("real_value", "unfilled_value", "headroom", "detectable")
    lines = order_lines(rooms.reset_index(), keys)
    named = [tuple(enter_key(key, value) for key, value in zip(keys, line, strict=True)) for line in lines]
    numbers = [[enter_number(rooms.loc[line, column], "{:.3f}") for column in columns] for line in lines]
    rooms_for = [Entry(str(rooms.loc[line, "room"])) for line in lines]
    return [
        Table(
            name="headroom",
            title="Is there room between unfilled and real text?",
            caption=(
                "Utility of training on real and on unfilled text. There is room where the headroom exceeds the smallest "
                "difference that these test units and trainings find with 80 % power."
            ),
            header=[*keys, "real", "unfilled", "headroom", "detectable", "room"],
            rows=[(*a, *b, c) for a, b, c in zip(named, numbers, rooms_for, strict=True)],
            command=command_for_report(study.scale),
        ),
        Table(
            name="headroom_shares",
            title="Utility as a share of headroom",
            caption=(
                "(arm - unfilled) / (real - unfilled): 0 is text without its blanks, 1 real text; uniform and unigram are random "
                f"words. {INTERVALS}"
            ),
            header=[*keys, *arms],
            rows=cross(headroom.assign(seed=0, share=float("nan")), keys, "trained_on", arms),
            command=command_for_report(study.scale),
        ),
    ]


def describe_random_words(headroom: pd.DataFrame, study: Study) -> list[str]:
    """Return a sentence per corpus whose entities were all masked: language models against random words."""
    rows = headroom[
        (headroom["strategy"] == "entities") & (headroom["ratio"] == 1) & headroom["value"].notna()
    ]
    sentences = []
    for corpus, of_corpus in rows.groupby("corpus"):
        values = dict(zip(of_corpus["trained_on"], of_corpus["value"], strict=True))
        drawn = [f"{arm} {values.pop(arm):.2f}" for arm in RANDOM_WORDS if arm in values]
        if drawn and values:
            remaining = ", ".join(f"{arm} {values[arm]:.2f}" for arm in ordered(values, style.ARMS))
            sentences.append(
                f"{corpus}, all entities masked, share of headroom: random words {', '.join(drawn)}; others {remaining}."
            )
    return sentences


def reference_table(downstream: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: the upper and lower references of each task, with text without its blanks at the main cell."""
    unfilled = study.at_main(downstream[downstream["trained_on"] == "unfilled"])
    rows = pd.concat([downstream[downstream["trained_on"].isin(style.REFERENCES)], unfilled])
    rows = rows[~rows["metric"].isin(style.COPYING)]
    if rows.empty:
        return []
    keys, columns = ["task", "corpus", "metric"], ordered(rows["trained_on"], REFERENCES)
    names = style.REFERENCES | {"unfilled": "unfilled (lower reference)"}
    return [
        Table(
            name="references",
            title="Upper and lower references of the tasks",
            caption=(
                "Whether the task can be learned: real text against shuffled labels and the majority answer. Whether it tells "
                "texts apart, the headroom says. "
                f"{INTERVALS}"
            ),
            header=[*keys, *(names[column] for column in columns)],
            rows=cross(rows, keys, "trained_on", columns),
            command=command_for_training(study.scale, rows),
        )
    ]


def at_main_metric(downstream: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each corpus's main metric."""
    metrics = {corpus: find_utility(downstream, corpus) for corpus in ordered(downstream["corpus"])}
    return downstream[downstream["metric"] == downstream["corpus"].map(metrics)]


def quality_cells(scores: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell with the main measure of quality; the oracle, fixed by definition, is left out."""
    measured = scores[scores["value"].notna() & (scores["arm"] != "oracle")]
    if measured.empty:
        return measured
    scope, metric = style.main_quality(measured)
    main_measure = measured[(measured["scope"] == scope) & (measured["metric"] == metric)]
    return over_seeds(main_measure, [*CELL, "scope", "metric"])


def utility_cells(downstream: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell with each corpus's main metric: CELL, utility.

    As in the table of correlations, text from which no task model could be trained is left out.
    """
    main = at_main_metric(downstream).dropna(subset="value")
    has_model = ~main["reason"].fillna("").astype(str).str.startswith((UNTRAINED, NO_ROOM))
    main = main[has_model | main["trained_on"].isin(LINES)]
    cells = over_seeds(main.rename(columns={"trained_on": "arm"}), CELL)
    return cells[[*CELL, "value"]].rename(columns={"value": "utility"})


def pair_cells(scores: pd.DataFrame, downstream: pd.DataFrame) -> pd.DataFrame:
    """Return quality and utility of each cell, over the draws whose texts a task model learned from."""
    draws = (
        at_main_metric(downstream).rename(columns={"trained_on": "arm"})[[*CELL, "seed"]].drop_duplicates()
    )
    return quality_cells(scores.merge(draws, on=[*CELL, "seed"])).merge(utility_cells(downstream), on=CELL)


def draw_quality_against_utility(
    scores: pd.DataFrame, downstream: pd.DataFrame, study: Study
) -> list[Drawing]:
    """Return one figure: a point per cell by family, corpora across and scopes down, with the references as lines."""
    cells = pair_cells(scores, downstream)
    if cells.empty:
        return []
    counts = cells.groupby(["corpus", "scope"]).size().items()
    clauses = [f"{corpus}, {style.name_scope(scope)}: {n} cells" for (corpus, scope), n in counts]
    return [
        Drawing(
            name="quality_against_utility",
            title="Quality of the text against its utility as training data",
            caption=(
                "Each point is a cell: one arm, strategy and ratio. Higher is a better task model; further right is closer to "
                "the original. Lines are the references: training on real text, on shuffled labels, and the majority answer. "
                "The masking ratio moves both axes, so read the partial correlation too."
            ),
            alt=f"Scatter plots of utility against quality. {'; '.join(clauses)}.",
            figure=draw_families(cells, downstream),
        )
    ]


def draw_families(cells: pd.DataFrame, downstream: pd.DataFrame) -> Figure:
    """Return a figure of utility against quality: corpora across, scopes down, a colour and a marker per family of arms.

    The references of `downstream` are lines.
    """
    utilities = utility_cells(downstream)
    measures = list(cells[["scope", "metric"]].drop_duplicates().itertuples(index=False, name=None))
    corpora = ordered(cells["corpus"])
    families = cells["arm"].map(lambda arm: find_role(arm).family)
    figure, axes = panels(len(measures), len(corpora), sharey="col", height=3.0)
    for axis, (scope, metric), corpus in each_panel(axes, measures, corpora):
        is_shown = (cells["scope"] == scope) & (cells["corpus"] == corpus)
        for family, look in FAMILY_LOOKS.items():
            panel = cells[is_shown & (families == family)]
            axis.plot(panel["value"], panel["utility"], alpha=0.8, markersize=4, **look)
        for name, line in LINES.items():
            is_reference = (utilities["arm"] == name) & (utilities["corpus"] == corpus)
            for value in utilities.loc[is_reference, "utility"]:
                axis.axhline(value, zorder=1, **line)
        open_up(axis, least_span(find_utility(downstream, corpus)))
        axis.set_title(f"{corpus}, {style.name_scope(scope)}")
        axis.set_xlabel(style.label_axis(metric))
        axis.set_ylabel(f"utility: {style.name_metric(find_utility(downstream, corpus))}")
    looks = {NAMES[family]: look for family, look in FAMILY_LOOKS.items() if family in {*families}}
    lines = {style.REFERENCES[name]: line for name, line in LINES.items() if name in set(utilities["arm"])}
    add_legend(figure, looks, lines)
    return figure
