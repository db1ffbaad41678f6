"""`index.html`: one row per study, with its question, its size, what it found, and its page."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import yaml

from ..evidence.derivation import Tables
from ..files import STUDY
from . import style
from .headline import answer_question, ask
from .ladder import BEFORE, BOTH, PRETRAINED, UNTRAINED
from .lead_words import SIDES, span, word_no_lead, word_runs
from .overview import count_tokens, find_start
from .page import make_environment

FILE = "index.html"
CONDITIONS = {  # the causal model in a column -> conditions of claim C1, of which a study has one
    "causal as in the paper (masked sees originals)": ("as reported", PRETRAINED[1]),
    "causal, text before the blank": (BEFORE[1],),
    "causal, both sides": (BOTH[1],),
    "SmolLM2 as it comes": (UNTRAINED[1],),
}


def write_index(tables: Mapping[str, Tables], studies: Mapping[str, Path], results: Path) -> None:
    """Write the page that lists the studies of a folder of results; same tables, same bytes."""
    rows = [describe_study(name, tables[name], folder) for name, folder in studies.items()]
    rows.sort(key=lambda row: (not row["start"], row["tokens"] if row["start"] else 0, row["name"]))
    template = make_environment().get_template("index.html")
    html = template.render(rows=rows, conditions=list(CONDITIONS))
    (results / FILE).write_text(html, encoding="utf-8", newline="\n")


def describe_study(name: str, tables: Tables, folder: Path) -> dict:
    """Return the row of a study: name, question, start, tokens, trainings, a cell per condition, and links."""
    about = yaml.safe_load((folder / STUDY).read_text(encoding="utf-8"))
    answers = tables["answers"]
    trainings = int(answers["runs"].max()) if answers["runs"].notna().any() else 1
    cells = [describe_condition(answers, conditions, trainings) for conditions in CONDITIONS.values()]
    return {
        "name": name,
        "question": ask(about),
        "start": find_start(tables),
        "tokens": count_tokens(tables),
        "trainings": trainings,
        "cells": cells,
        "finding": find_answer(tables) or ("" if any(cells) else answer_question(tables)),
        "page": f"{name}/report.html",
        "command": about["command"],
    }


def describe_condition(answers: pd.DataFrame, conditions: Sequence[str], trainings: int = 1) -> str:
    """Return who is ahead in BLEU, by corpus where the corpora differ: "masked +3.8 to +4.2"; "" where it was not run.

    A condition that rests on fewer than the `trainings` of the study says so.
    """
    rows = answers[(answers["claim"] == "C1") & answers["condition"].isin(conditions)]
    rows = rows[(rows["metric"] == "bleu") & rows["effect"].notna()]
    words = {row.corpus: word_no_lead(row) or SIDES[row.direction] for row in rows.itertuples(index=False)}
    fewer = f" ({word_runs(rows)})" if rows["runs"].max() < trainings else ""
    if len(set(words.values())) == 1:
        where = f"{rows['corpus'].iloc[0]}: " if len(words) == 1 else ""
        return f"{where}{next(iter(words.values()))} {span(rows['effect'], sign='+')}{fewer}"
    return "; ".join(f"{corpus}: {words[corpus]}" for corpus in style.ordered(words)) + fewer


def find_answer(tables: Tables) -> str:
    """Return the sentence that answers the question of a study; "" for one without a question of its own."""
    findings = tables["findings"]
    return str(findings["sentence"].iloc[-1]) if len(findings) else ""
