"""The main comparison in plain words, computed from the rows: no sentence here knows how the study ended."""

from dataclasses import dataclass

import pandas as pd

from ..analysis.tables import at_main_cell, find_utility, main_ratio, over_seeds
from . import style
from .style import ordered

PAIR = ("mlm", "clm")
FLOOR = "unigram"
FLOORS = ("unfilled", "shuffled", "majority")


@dataclass(frozen=True)
class Reading:
    """What the tables say about one corpus: one sentence a finding."""

    corpus: str
    sentences: tuple[str, ...]


def read_main_comparison(
    scores: pd.DataFrame, downstream: pd.DataFrame, correlation: pd.DataFrame
) -> list[Reading]:
    """Return a reading per corpus, at the main cell."""
    main = at_main_cell(scores)
    readings = []
    for corpus in ordered(main["corpus"], style.CORPORA):
        rows = main[main["corpus"] == corpus]
        sentences = [
            read_fills(rows),
            read_documents(rows),
            read_utility(downstream[downstream["corpus"] == corpus]),
            read_correlation(correlation[correlation["corpus"] == corpus]),
        ]
        readings.append(Reading(corpus, tuple(sentence for sentence in sentences if sentence)))
    return readings


def pick(rows: pd.DataFrame, key: str = "arm") -> dict:
    """Return the cells with a value by arm, over seeds."""
    cells = over_seeds(rows[rows["value"].notna()], [key])
    return {getattr(cell, key): cell for cell in cells.itertuples(index=False)}


def compare(first, second) -> str:
    """Return "above", "below" or "not separated from", by whether the two intervals are apart."""
    if pd.isna([first.low, first.high, second.low, second.high]).any():
        return "not separated from"
    if first.low > second.high:
        return "above"
    return "below" if first.high < second.low else "not separated from"


def write(cell, digits: int) -> str:
    """Return a value with its interval."""
    text = f"{cell.value:.{digits}f}"
    return f"{text} [{cell.low:.{digits}f}, {cell.high:.{digits}f}]" if pd.notna(cell.low) else text


def read_fills(rows: pd.DataFrame) -> str:
    """Return how many blanks each of the pair restored exactly, beside words drawn by frequency."""
    chosen = rows[(rows["scope"] == "fills") & (rows["metric"] == "exact_match")]
    cells = pick(chosen)
    absent = [arm for arm in (*PAIR, FLOOR) if arm not in cells]
    if absent:
        return f"Blanks restored exactly: missing for {', '.join(absent)}."
    digits = style.decimals(chosen["value"])
    first, second = PAIR
    values = ", ".join(f"{arm} {write(cells[arm], digits)}" for arm in PAIR)
    floors = ", ".join(f"{arm} {compare(cells[arm], cells[FLOOR])} it" for arm in PAIR)
    return (
        f"Blanks restored exactly: {values}; {first} is {compare(cells[first], cells[second])} {second}. "
        f"Words drawn by frequency ({FLOOR}): {write(cells[FLOOR], digits)}; {floors}."
    )


def read_documents(rows: pd.DataFrame) -> str:
    """Return which arms score above the text with its blanks left out, by BLEU of the whole document."""
    chosen = rows[(rows["scope"] == "document") & (rows["metric"] == "bleu")]
    cells = pick(chosen)
    if "unfilled" not in cells:
        return "Document BLEU of the unfilled text: missing."
    digits = style.decimals(chosen["value"])
    arms = [arm for arm in ordered(cells, style.ARMS) if arm not in style.BASELINES]
    told = [
        f"{arm} {cells[arm].value:.{digits}f} ({compare(cells[arm], cells['unfilled'])} it)" for arm in arms
    ]
    unfilled = write(cells["unfilled"], digits)
    return f"Leaving the blanks out already gives document BLEU {unfilled}; {', '.join(told) or 'no arm has one'}."


def read_utility(rows: pd.DataFrame) -> str:
    """Return the utility of the pair's text beside that of real text, and the floors."""
    if rows.empty:
        return "Utility as training data: missing."
    metric = find_utility(rows, rows["corpus"].iloc[0])
    main = rows[rows["metric"] == metric]
    cells = pick(pd.concat([main[main["strategy"].isna()], at_main_cell(main)]), "trained_on")
    task = f"{rows['task'].iloc[0]}, {style.name_metric(metric)}"
    if "real" not in cells:
        return f"Utility as training data ({task}): missing for real text."
    digits = style.decimals(main["value"])
    arms = [
        f"on {arm} text {cells[arm].value:.{digits}f} ({compare(cells[arm], cells['real'])} it)"
        for arm in PAIR
        if arm in cells
    ]
    floors = [f"{name} {cells[name].value:.{digits}f}" for name in FLOORS if name in cells]
    told = [f"Training on real text ({task}) gives {write(cells['real'], digits)}", *arms]
    return f"{', '.join(told)}; floors: {', '.join(floors) or 'missing'}."


def read_correlation(rows: pd.DataFrame) -> str:
    """Return the rank correlation of quality and utility with its decision, one clause a quality metric."""
    ranks = rows[rows["statistic"] == "spearman"]
    clauses = []
    for row in ranks.itertuples(index=False):
        name = f"{style.name_metric(row.quality_metric)} ({style.SCOPES.get(row.quality_scope, row.quality_scope)})"
        if pd.isna(row.value):
            clauses.append(f"{name} missing")
        else:
            decision = row.decision if pd.notna(row.decision) else "no decision"
            clauses.append(f"{name} {write(row, 2)}, {decision} at ±{row.bound:g}")
    return f"Rank correlation with utility over cells: {'; '.join(clauses)}." if clauses else ""


def tell_main_cell(scores: pd.DataFrame) -> str:
    """Return what the reading is about: blanks, share and documents."""
    main = at_main_cell(scores)
    if main.empty:
        return ""
    counts = main["n"].dropna()
    documents = f"{int(counts.max())} documents a corpus at most" if len(counts) else "documents not counted"
    return f"Random blanks at ratio {main_ratio(scores):g} (share hidden in fact {main['share'].mean():.3f}), {documents}."
