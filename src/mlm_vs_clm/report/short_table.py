"""The table of README's first screen: a row per step with a link to its study, and how to read it."""

from typing import Any

import pandas as pd

from ..arms.baselines import TABLES
from ..evidence.derivation import Tables
from ..evidence.verdicts import INSIDE, NONE_SHOWN, NOT_COMPETENT, NOT_SETTLED
from . import style
from .ladder import BEFORE, BOTH, CAUSAL, ENCODER, OWN, READS, STARTED, UNTRAINED, Step, best_rows
from .lead_words import NO_ANSWER, UNDECIDED, enter_lead, span
from .style import read_study
from .tables import DASH, markdown_row

FROM_ENCODER = "encoder"  # named where there are several
STARTS = {CAUSAL: "causal model", OWN: "own kind"}
Shown = dict[Step, pd.DataFrame]
FROM = {  # start -> where a lead was found
    ENCODER: "from an encoder",
    CAUSAL: "from a causal start",
    OWN: "own-kind checkpoints",
}
ROWS: dict[Step, tuple[str, str]] = {  # of the table: the causal model, and what both models start from
    BEFORE: (READS[BEFORE[1]], FROM_ENCODER),
    BOTH: (READS[BOTH[1]], FROM_ENCODER),
    **{(start, name): (READS[name], STARTS[start]) for start, name in STARTED},
    UNTRAINED: (READS[BEFORE[1]], "own kind; SmolLM2 zero-shot"),
}


def choose_rows(steps: pd.DataFrame) -> Shown:
    """Return what each row of the table shows, by its step; a step that was not run has none."""
    return {step: rows for step in ROWS if len(rows := best_rows(steps, step))}


def list_shown(shown: Shown) -> dict[Step, str]:
    """Return the study of each row of README's table, by its step."""
    return {step: str(rows["study"].iloc[0]) for step, rows in shown.items()}


def tabulate_short(rows_of: Shown) -> str:
    """Return the table in Markdown: a row per step, which links the page of its study, then how to read it."""
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
        page = f"results/{rows['study'].iloc[0]}/report.html"
        lines.append(markdown_row([f"[{reads.removeprefix('reads ')}]({page})", name, *cells, size]))
    return "\n".join([*lines, "", describe_words(pd.concat(rows_of.values()))])


def enter_cell(row: Any) -> str:
    """Return an outcome as the table has it: who is ahead with the lead, "equal" or "no answer"."""
    words = enter_lead(row)
    return NO_ANSWER if words in (UNDECIDED, NOT_SETTLED) else words


def describe_words(rows: pd.DataFrame) -> str:
    """Return how to read the table: what its words mean, as far as they are in it; `rows` are all that its cells show."""
    small = rows[rows["size"] == INSIDE]
    sentences = ["Who is ahead (p < 0.05, corrected within a study), by how many BLEU points."]
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


def describe_scale(study: str, tables: Tables) -> str:
    """Return what BLEU at the main cell of a study is without a network, which a lead is to be read beside; "" where it was not run."""
    rows = read_study(tables).at_main(tables["scores"])
    rows = rows[rows["metric"] == "bleu"]
    means = rows.pivot_table("value", "corpus", "arm")  # over trainings, as the leads are
    ends = {
        "blanks left out": means.reindex(columns=["unfilled"])["unfilled"].dropna(),
        "best word table": means.reindex(columns=TABLES["both"]).max(axis=1).dropna(),
    }
    clauses = [f"{words} {span(values)}" for words, values in ends.items() if len(values)]
    return f"**BLEU without a network** (`{study}`): {', '.join(clauses)}." if clauses else ""


def shorten_tokens(tokens: float) -> str:
    """Return "768k" or "3.07M"."""
    return f"{tokens / 1e6:.3g}M" if tokens >= 1e6 else f"{tokens / 1e3:,.0f}k"
