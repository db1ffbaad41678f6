"""The table of README's first screen: a row per step, how to read it, and the commands that make its rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..arms.baselines import TABLES
from ..evidence.cells import group_by
from ..evidence.derivation import Tables
from ..evidence.verdicts import INSIDE, NONE_SHOWN, NOT_COMPETENT, NOT_SETTLED
from . import style
from .ladder import BEFORE, BOTH, CAUSAL, OWN, READS, STARTED, UNTRAINED, Step, best_rows
from .lead_words import NO_ANSWER, UNDECIDED, enter_lead, span
from .style import read_study
from .tables import DASH, markdown_row

FROM_ENCODER = "encoder"  # named where there are several
STARTS = {CAUSAL: "causal model", OWN: "own kind"}
ROWS: dict[Step, tuple[str, str]] = {  # of the table: the causal model, and what both models start from
    BEFORE: (READS[BEFORE[1]], FROM_ENCODER),
    BOTH: (READS[BOTH[1]], FROM_ENCODER),
    **{(start, name): (READS[name], STARTS[start]) for start, name in STARTED},
    UNTRAINED: (READS[BEFORE[1]], "own kind; SmolLM2 zero-shot"),
}


def tabulate_short(steps: pd.DataFrame, studies: Mapping[str, Tables]) -> str:
    """Return the table in Markdown: a row per step, then how to read it and the commands that make its rows."""
    rows_of = {step: rows for step in ROWS if len(rows := best_rows(steps, step))}
    if not rows_of:
        return ""
    corpora = style.ordered(pd.concat(rows_of.values())["corpus"])
    header = ["the causal model reads", "start", *corpora, "trainings×tokens"]
    lines = [markdown_row(header), "|---" * len(header) + "|"]
    of_encoder = [rows for step, rows in rows_of.items() if ROWS[step][1] == FROM_ENCODER]
    are_several = len({rows["network"].iloc[0] for rows in of_encoder}) > 1
    for step, rows in rows_of.items():
        by_corpus = {row.corpus: row for row in rows.itertuples(index=False)}
        cells = [enter_cell(by_corpus[corpus]) if corpus in by_corpus else DASH.text for corpus in corpora]
        size = f"{rows['runs'].max():.0f}×{shorten_tokens(rows['tokens'].max())}"
        size += " (masked)" * (step == UNTRAINED)
        reads, start = ROWS[step]
        name = f"{start} ({rows['network'].iloc[0]})" if start == FROM_ENCODER and are_several else start
        lines.append(markdown_row([reads.removeprefix("reads "), name, *cells, size]))
    studies_of_rows = [str(rows["study"].iloc[0]) for rows in rows_of.values()]
    places = [place for place, name in enumerate(studies_of_rows, 1) if name == studies_of_rows[0]]
    scale = describe_scale(studies[studies_of_rows[0]], name_rows(places))
    words = " ".join(filter(None, [describe_words(pd.concat(rows_of.values())), scale]))
    return "\n".join([*lines, "", "```", *list_commands(rows_of), "```", "", words])


def enter_cell(row: Any) -> str:
    """Return an outcome as the table has it: who is ahead with the lead, "equal" or "no answer"."""
    words = enter_lead(row)
    return NO_ANSWER if words in (UNDECIDED, NOT_SETTLED) else words


def describe_words(rows: pd.DataFrame) -> str:
    """Return how to read the table: what its words mean, as far as they are in it; `rows` are all that its cells show."""
    small = rows[rows["size"] == INSIDE]
    sentences = ["Who is ahead (corrected p < 0.05), by how many BLEU points."]
    if len(small):
        margin = small["margin"].max()
        sentences.append(
            f"*Equal*: no lead, 95 % interval within {margin:.3g} point{'s' * bool(margin != 1)}."
        )
    is_open = ((rows["direction"] == NONE_SHOWN) & (rows["size"] != INSIDE)).any()
    words = ["neither a lead nor equality is shown"] if is_open else []
    if len(gaps := rows.loc[rows["status"] == NOT_COMPETENT, "effect"].abs()):
        weak = "a model does not clearly beat a table of neighbouring words"
        words.append(f"{weak} (gaps up to {gaps.max():.1f})")
    if words:
        sentences.append(f"*No answer*: {', or '.join(words)}.")
    return " ".join(sentences)


def describe_scale(tables: Tables, places: str) -> str:
    """Return what BLEU at the main cell of the study of some rows is without a network, which a lead is to be read beside; "" where it was not run."""
    rows = read_study(tables).at_main(tables["scores"])
    rows = rows[rows["metric"] == "bleu"]
    means = rows.pivot_table("value", "corpus", "arm")  # over trainings, as the leads are
    ends = {
        "blanks left out": means.reindex(columns=["unfilled"])["unfilled"].dropna(),
        "the best word table": means.reindex(columns=TABLES["both"]).max(axis=1).dropna(),
    }
    clauses = [f"{words} {span(values)}" for words, values in ends.items() if len(values)]
    return f"BLEU in {places}: {', '.join(clauses)}, the original 100." if clauses else ""


def shorten_tokens(tokens: float) -> str:
    """Return "768k" or "3.07M"."""
    return f"{tokens / 1e6:.3g}M" if tokens >= 1e6 else f"{tokens / 1e3:,.0f}k"


def list_commands(rows_of: Mapping[Step, pd.DataFrame]) -> list[str]:
    """Return the commands that make the rows of the table, each with the numbers of its rows."""
    by_study = group_by(list(enumerate(rows_of.values(), 1)), lambda row: str(row[1].iloc[0]["study"]))
    commands = {
        name_command(name): name_rows([place for place, _ in rows]) for name, rows in by_study.items()
    }
    width = max(map(len, commands))
    return [f"{command:{width}}  # {places}" for command, places in commands.items()]


def name_rows(places: Sequence[int]) -> str:
    """Return "row 1" or "rows 3, 4"."""
    return f"row{'s' * (len(places) > 1)} {', '.join(map(str, places))}"


def name_command(study: str) -> str:
    """Return the command that makes a folder of results."""
    scale, _, track = study.partition("-")
    settings = ["" if scale == "laptop" else f"SCALE={scale}", f"TRACK={track}" if track else ""]
    return " ".join(filter(None, ["make reproduce", *settings]))
