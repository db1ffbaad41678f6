"""The ladder: how far masked models are ahead of causal ones, step by step, each taking one advantage away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..evidence.claims import index_conditions
from ..evidence.verdicts import MADE
from . import style
from .drawing import Drawing
from .frames import find_rules
from .overview import count_tokens, find_start, list_comparisons
from .sentences import Tables
from .style import read_study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


ENCODER, CAUSAL = "an encoder", "a causal model"  # what both sides start from: `track.starts_from`
ENDS = {ENCODER: "", CAUSAL: ", started from a causal model"}  # of a step's words
Step = tuple[str, str]  # what both models start from, and the condition of claim C1
TABLES = ("bigram_both", "bigram_left")  # of word pairs, with the contexts of `mlm` and of `clm`
SAME_AS_TABLES = "known length"  # the condition whose two sides have the contexts of TABLES
LIKELIHOOD = "nats_per_character"
LIKELIHOODS = {  # condition -> what the causal model reads
    "known length": "causal model reads the text before the gap",
    "both contexts": "causal model reads both sides",
}
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")  # longest training first
MARKERS = ("o", "s", "^", "D", "v", "P")  # by corpus
GREY = "#999999"
WIDTH = 58  # letters of a step's words in a line
WORDS = 0.36  # of a step's height for its words; the rest is for its marks


def list_steps(studies: Mapping[str, Tables], rules: Sequence[dict]) -> pd.DataFrame:
    """Return one row per step, study and corpus that was run: the answer, with `start`, `tokens`, `words` and `tables`.

    A step is a condition of claim C1 to which the rules give words, in their order, from each of ENDS. `tokens` is what an arm
    read in training at most, in full thousands; `tables` the BLEU difference between TABLES, where the two sides differ in
    context as these do.
    """
    with_start = {name: tables for name, tables in studies.items() if find_start(tables) in ENDS}
    if not with_start:
        return pd.DataFrame(
            columns="condition corpus study start words tokens tables effect runs status direction size".split()
        )
    words = {
        (start, name): f"{condition['words']}{end}"
        for start, end in ENDS.items()
        for (claim, name), condition in index_conditions(rules).items()
        if claim == "C1" and "words" in condition
    }
    rows = list_comparisons(with_start)
    rows = rows[(rows["claim"] == "C1") & rows["effect"].notna()]
    rows = rows.assign(
        start=rows["study"].map({name: find_start(tables) for name, tables in with_start.items()}),
        tokens=rows["study"].map({name: count_tokens(tables) for name, tables in with_start.items()}),
    )
    steps = list(zip(rows["start"], rows["condition"], strict=True))
    gaps = {name: compare_tables(tables) for name, tables in with_start.items()}
    rows = rows.assign(
        words=[words.get(step) for step in steps],
        place=[list(words).index(step) if step in words else -1 for step in steps],
        tables=[
            gaps[row.study].get(row.corpus) if row.condition == SAME_AS_TABLES else None
            for row in rows.itertuples(index=False)
        ],
    )
    return rows[rows["words"].notna()].sort_values("place", kind="stable").drop(columns="place")


def list_own_steps(tables: Tables) -> pd.DataFrame:
    """Return the rows of `list_steps` of one study alone, as if it had started from an encoder, whatever it started from."""
    return list_steps({"": _from_encoder(tables)}, find_rules(tables))


def _from_encoder(tables: Tables) -> Tables:
    return {**tables, "study": tables["study"].assign(starts_from=ENCODER)}


def compare_tables(tables: Tables) -> dict[str, float]:
    """Return by how much BLEU the first of TABLES is ahead of the second at the main cell, by corpus."""
    scores = read_study(tables).at_main(tables["scores"])
    scores = scores[(scores["metric"] == "bleu") & scores["arm"].isin(TABLES)]
    means = scores.groupby(["corpus", "arm"])["value"].mean().unstack()
    if not set(TABLES) <= set(means):
        return {}
    return (means[TABLES[0]] - means[TABLES[1]]).dropna().to_dict()


def best_rows(steps: pd.DataFrame, step: Step) -> pd.DataFrame:
    """Return the rows of a step from one study: that of most corpora, of these of most trainings, of these the longest."""
    start, condition = step
    rows = steps[(steps["start"] == start) & (steps["condition"] == condition)]
    if rows.empty:
        return rows
    ranked = rows.assign(corpora=rows["study"].map(rows["study"].value_counts()))
    return rows[rows["study"] == ranked.sort_values(["corpora", "runs", "tokens"]).iloc[-1]["study"]]


def list_likelihoods(studies: Mapping[str, Tables]) -> pd.DataFrame:
    """Return the differences in nats per character, masked minus causal: above 0 the causal model is ahead.

    One row per study, condition of LIKELIHOODS and corpus: the mean over the trainings that both arms have, the lowest
    and the highest of them in `lowest` and `highest` (of a study that was asked for it the interval), how many there are in `runs`,
    and in `status` whether both arms may speak.
    """
    rows = [
        row | {"study": name, "start": start, "tokens": count_tokens(tables), "condition": condition}
        for name, tables in studies.items()
        if (start := find_start(tables)) in ENDS
        for condition in LIKELIHOODS
        for row in compare_likelihoods(tables, condition)
    ]
    columns = ["study", "start", "tokens", "condition", "corpus", "effect", "lowest", "highest", "runs"]
    columns.append("status")
    return pd.DataFrame(rows, columns=columns)


def list_own_likelihoods(tables: Tables) -> pd.DataFrame:
    """Return the rows of `list_likelihoods` of one study alone, as `list_own_steps` does."""
    rows = list_likelihoods({"": _from_encoder(tables)})
    return rows.assign(start=ENCODER)


def compare_likelihoods(tables: Tables, condition: str) -> list[dict[str, Any]]:
    """Return the difference in nats per character between the sides of a condition of claim C1, a row per corpus.

    It is that of the answers, with its interval as `lowest` and `highest`, of a study whose rules ask for it.
    """
    answers = tables["answers"]
    rows = answers[(answers["claim"] == "C1") & (answers["condition"] == condition)]
    if rows.empty:
        return []
    judged = rows[(rows["metric"] == LIKELIHOOD) & rows["effect"].notna()]
    if len(judged):  # the masked model's lead; of nats more are worse
        ends = {"effect": -judged["effect"], "lowest": -judged["high"], "highest": -judged["low"]}
        return judged[["corpus", "runs", "status"]].assign(**ends).to_dict("records")
    first, second = rows.iloc[0][["first_arm", "second_arm"]]
    scores = read_study(tables).at_main(tables["scores"])
    scores = scores[(scores["metric"] == LIKELIHOOD) & scores["arm"].isin([first, second])]
    by_arm = scores.set_index(["corpus", "seed", "arm"])["value"].unstack()
    if not {first, second} <= set(by_arm):
        return []
    differences = (by_arm[first] - by_arm[second]).dropna().groupby("corpus")
    return [
        {
            "corpus": corpus,
            "effect": of_corpus.mean(),
            "lowest": of_corpus.min(),
            "highest": of_corpus.max(),
            "runs": len(of_corpus),
            "status": MADE,
        }
        for corpus, of_corpus in differences
    ]


def word_tokens(tokens: float) -> str:
    """Return "768,000" or "3.07 million"."""
    return f"{tokens / 1e6:.3g} million" if tokens >= 1e6 else f"{tokens:,.0f}"


def draw_ladder(steps: pd.DataFrame, likelihoods: pd.DataFrame) -> Drawing:
    """Return the figure: the steps from top to bottom, and below them the likelihoods from the encoder."""
    from matplotlib.figure import Figure

    steps, likelihoods = keep_ends(steps), likelihoods[likelihoods["start"] == ENCODER]
    likelihoods = keep_ends(likelihoods)
    step_rows = [(str(words), rows) for words, rows in steps.groupby("words", sort=False)]
    ends = {"effect": -likelihoods["effect"], "low": -likelihoods["highest"], "high": -likelihoods["lowest"]}
    leads = likelihoods.assign(**ends)  # of nats fewer are better
    below = [(words, leads[leads["condition"] == name]) for name, words in LIKELIHOODS.items()]
    below = [(words, rows) for words, rows in below if len(rows)]
    corpora = style.ordered(pd.concat([steps["corpus"], likelihoods["corpus"]]))
    colours = colour_lengths([*steps["tokens"], *likelihoods["tokens"]])
    heights = [len(step_rows) + 0.3, *([len(below) + 0.3] if below else [])]
    figure = Figure(figsize=(4.9, 0.62 * sum(heights) + 2.3), layout="constrained")
    axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    _draw_steps(axes[0], step_rows, corpora, colours)
    axes[0].set_xlabel("lead of the masked model, in BLEU points (of 100)")
    if below:
        _draw_steps(axes[1], below, corpora, colours)
        axes[1].set_xlabel("lead of the masked model, in nats per character")
    _add_legend(figure, corpora, colours, steps)
    return Drawing(
        name="answer",
        title="How far masked models are ahead, as one advantage after another is taken away",
        caption=(
            "Bars: 95 % intervals; in nats per character, of earlier studies, the lowest and the highest of the trainings. Grey: a model "
            "restores no more words than a table of neighbouring words, or writes no better text than none, so it decides nothing."
        ),
        alt=describe_ladder(steps),
        figure=figure,
    )


def keep_ends(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each start and condition after the shortest and the longest training, and of the most trainings."""
    steps = rows.groupby(["start", "condition"])
    tokens, runs = steps["tokens"], steps["runs"].transform("max")
    longest = rows["tokens"].where(rows["runs"] == runs).groupby([rows["start"], rows["condition"]])
    ends = (tokens.transform("min"), tokens.transform("max"), longest.transform("max"))
    return rows[pd.concat([rows["tokens"] == end for end in ends], axis=1).any(axis=1)]


def colour_lengths(tokens: Sequence[float]) -> dict[int, str]:
    """Return a colour for each length of training, the longest first."""
    return dict(zip(sorted(map(int, set(tokens)), reverse=True), COLOURS, strict=False))


def describe_ladder(steps: pd.DataFrame) -> str:
    """Return the steps in words with the lowest and the highest difference of each: the figure's alternative text."""
    clauses = []
    for words, step in steps.groupby("words", sort=False):
        rows = best_rows(step, tuple(step.iloc[0][["start", "condition"]]))
        clauses.append(f"{words}: {rows['effect'].min():+.1f} to {rows['effect'].max():+.1f}")
    return f"Lead of the masked model in BLEU points, lowest and highest corpus: {'; '.join(clauses)}."


def _draw_steps(
    axes: Axes,
    step_rows: Sequence[tuple[str, pd.DataFrame]],
    corpora: Sequence[str],
    colours: Mapping[int, str],
) -> None:
    """Draw the rows of each step below its words: the lengths of training from top to bottom, in each the corpora."""
    axes.axvline(0, color="black", linewidth=1, zorder=1)
    for words, side, shift in (("← causal better", "right", -6), ("masked better →", "left", 6)):
        axes.annotate(
            words,
            (0, -0.17),
            xytext=(shift, 0),
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=8.5,
            weight="bold",
        )
    for place, (words, rows) in enumerate(step_rows):
        axes.axhline(place - 0.02, color="#cccccc", linewidth=0.6)
        label_text = fill(words, WIDTH)
        label = axes.text(
            0.01, place + 0.18, label_text, fontsize=8 if "\n" in label_text else 9, va="center", ha="left"
        )
        label.set(
            transform=axes.get_yaxis_transform(), bbox={"facecolor": "white", "edgecolor": "none", "pad": 1}
        )
        label.set(linespacing=0.95, in_layout=False)  # long words must not narrow the figure
        lines = [
            (length, corpus)
            for length in colours
            for corpus in corpora
            if len(rows[(rows["tokens"] == length) & (rows["corpus"] == corpus)])
        ]
        for row in rows.itertuples(index=False):
            line = lines.index((row.tokens, row.corpus))
            height = place + WORDS + (1 - WORDS) * (line + 0.3) / max(len(lines), 4)
            _draw_row(axes, row, height, colours[row.tokens], MARKERS[corpora.index(row.corpus)])
    axes.set_ylim(len(step_rows) + 0.05, -0.3)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.margins(x=0.06)
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, -0.32 * high), high)  # room for the words at the left of zero


def _draw_row(axes: Axes, row: Any, height: float, colour: str, marker: str) -> None:
    """Draw one difference: filled where it rests on several trainings, grey where an arm is not competent."""
    colour = colour if row.status == MADE else GREY
    axes.plot([row.low, row.high], [height, height], color=colour, linewidth=1.3)
    filling = colour if row.runs > 1 else "white"
    look: dict[str, Any] = {
        "color": colour,
        "markerfacecolor": filling,
        "markersize": 4.2,
        "markeredgewidth": 1,
    }
    axes.plot(row.effect, height, marker=marker, linestyle="none", zorder=3, **look)
    gap = getattr(row, "tables", None)
    if gap is not None and pd.notna(gap):
        axes.plot(gap, height, marker="|", color="black", markersize=6, markeredgewidth=1, zorder=4)


def _add_legend(
    figure: Figure, corpora: Sequence[str], colours: Mapping[int, str], steps: pd.DataFrame
) -> None:
    """Put the legend below: shapes of the corpora, colours of the lengths of training, and how sure a mark is."""
    from matplotlib.lines import Line2D

    def mark(label: str, colour: str = "black", **look: Any) -> Line2D:
        return Line2D([], [], label=label, color=colour, linestyle="none", markersize=5, **look)

    most = int(steps["runs"].max()) if len(steps) else 1
    entries = [mark(name, marker=MARKERS[place]) for place, name in enumerate(corpora)]
    entries += [
        mark(f"{word_tokens(length)} tokens", colour, marker="o") for length, colour in colours.items()
    ]
    entries += [
        *([mark(f"filled: {most} trainings", marker="o")] if most > 1 else []),
        mark("hollow: one training", marker="o", markerfacecolor="white"),
        mark("lead of one word table over another", marker="|"),
    ]
    if (steps["status"] != MADE).any():
        entries.append(mark("grey: not above word tables, decides nothing", GREY, marker="o"))
    figure.legend(handles=entries, loc="outside lower center", ncols=2, fontsize=8.5, handlelength=1)
