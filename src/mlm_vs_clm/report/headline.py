"""The one table of the README: the main comparison on every corpus, with what the text was good for."""

import pandas as pd

from ..analysis.tables import at_main_cell, find_utility, main_ratio, over_seeds
from . import style
from .style import ordered
from .tables import enter, markdown_row

QUALITIES = (
    ("fills", "exact_match", "blanks restored exactly"),
    ("document", "bleu", "BLEU, document"),
    ("document", "bleu_gain", "BLEU gain over unfilled"),
    ("document", "bertscore", "BERTScore, document"),
)


def headline_table(tables: dict[str, pd.DataFrame]) -> str:
    """Return the main comparison in Markdown: corpus and arm down, quality and utility across, with intervals."""
    scores, downstream = tables["scores"], tables["downstream"]
    if at_main_cell(scores).empty:
        return "missing: no random blanks in scores.csv; `make reproduce` makes them.\n"
    header = ("corpus", "arm", *(name for _, _, name in QUALITIES), "utility as training data")
    lines = [markdown_row(header), "| --- | --- |" + " ---: |" * (len(header) - 2)]
    for corpus in ordered(scores["corpus"], style.CORPORA):
        lines += corpus_lines(
            at_main_cell(scores[scores["corpus"] == corpus]),
            downstream[downstream["corpus"] == corpus],
            corpus,
        )
    note = f"Random blanks at ratio {main_ratio(scores):g}; value [95 % interval]; – where a column does not apply."
    return "\n".join([*lines, "", note, ""])


def corpus_lines(scores: pd.DataFrame, downstream: pd.DataFrame, corpus: str) -> list[str]:
    """Return a corpus's rows: its arms, then training on real text and the floors."""
    qualities = [pick_entries(scores, scope, metric) for scope, metric, _ in QUALITIES]
    metric = find_utility(downstream, corpus)
    main = downstream[downstream["metric"] == metric].rename(columns={"trained_on": "arm"})
    utilities = entries(pd.concat([main[main["strategy"].isna()], at_main_cell(main)]))
    utility_name = f"{style.name_metric(metric)} " if metric else ""
    lines = []
    arms = [arm for arm in ordered(scores["arm"], style.ARMS) if arm != "oracle"]
    for arm in [*arms, *(name for name in style.REFERENCES if name in utilities)]:
        texts = [column.get(arm, "–" if arm in style.REFERENCES else "missing") for column in qualities]
        utility = utility_name + utilities[arm] if arm in utilities else "–"
        lines.append(markdown_row((corpus, style.REFERENCES.get(arm, arm), *texts, utility)))
    return lines


def pick_entries(scores: pd.DataFrame, scope: str, metric: str) -> dict[str, str]:
    """Return the printed value by arm of one metric at one scope."""
    return entries(scores[(scores["scope"] == scope) & (scores["metric"] == metric)])


def entries(rows: pd.DataFrame) -> dict[str, str]:
    """Return the printed value by arm."""
    digits = style.decimals(rows["value"])
    return {cell.arm: enter(cell, digits).text for cell in over_seeds(rows, ["arm"]).itertuples(index=False)}
