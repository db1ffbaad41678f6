"""What a page lets readers try: documents blank by blank, and a dial of the masking ratio; as data for its script."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..arms.baselines import MATCHED_TABLES, TABLES, base_of
from ..arms.roles import CONTROL, PAIR, find_role
from ..evidence.tables import over_seeds
from . import style
from .cast import COMPARED, MEASURES
from .style import Study

SHOWN = 9  # arms of an example
DOCUMENTS = 2  # of a corpus and a masking
DIALLED = 7  # arms of the dial
NAMED = 6  # first words of a document that name it
LEAD = "lead"  # of BLEU over a word table
Interval = tuple[float, float, float]  # value, low, high
Scored = dict[tuple[str, str], Interval]  # by arm and metric, of one corpus and ratio


def choose_arms(arms: Iterable[str], most: int, pair: Sequence[str] = PAIR) -> list[str]:
    """Return the arms that are shown: those of `pair` first, then those of the main comparisons, then others.

    Where one of the pair was not run, arms of another family than the others' are first: a masked and a causal one stand together.
    """
    writers = [arm for arm in style.ordered(arms, style.ARMS) if find_role(arm).family != CONTROL]
    ranks = {name: place for place, name in enumerate((*pair, *COMPARED))}
    ranked = sorted(writers, key=lambda arm: (ranks.get(base_of(arm), len(ranks)), writers.index(arm)))
    named = [next((arm for arm in ranked if base_of(arm) == name), None) for name in pair]
    first = [arm for arm in named if arm]
    others = [arm for arm in ranked if arm not in first]
    if len(first) < len(pair):
        families = {find_role(arm).family for arm in first}
        others.sort(key=lambda arm: find_role(arm).family in families)
    return [*first, *others][:most]


def list_examples(examples: Sequence[dict]) -> list[dict[str, Any]]:
    """Return the documents of a page, each with its name, masking, text around the blanks, their originals, and fills by arm."""
    ranked = sorted(examples, key=lambda example: (example["corpus"], example["document"]))
    places = [(example["corpus"], example["ratio"]) for example in ranked]
    ranked = [example for n, example in enumerate(ranked) if places[:n].count(places[n]) < DOCUMENTS]
    chosen = choose_arms({arm for example in ranked for arm in example["arms"] | example["texts"]}, SHOWN)
    return [_show(example, chosen) for example in ranked]


def _show(example: dict, chosen: Sequence[str]) -> dict[str, Any]:
    text = "".join(map("".join, zip(example["kept"], [*example["originals"], ""], strict=True)))
    name = f"{example['corpus']}: {' '.join(text.split()[:NAMED])} …"
    about = {key: example[key] for key in ("strategy", "ratio", "kept", "originals")}
    written = {
        key: {arm: example[key][arm] for arm in chosen if arm in example[key]} for key in ("arms", "texts")
    }
    return {"name": name} | about | written


def make_dial(scores: pd.DataFrame, leads: pd.DataFrame, study: Study) -> dict[str, Any]:
    """Return, for every corpus, masking ratio of the main strategy and arm: BLEU, exact match and the lead over a word table.

    A number is [value, low, high], low and high None where there is no interval. {} for a study of one ratio.
    """
    rows = scores[(scores["strategy"] == study.main[0]) & scores["value"].notna()]
    rows = rows[pd.MultiIndex.from_frame(rows[["metric", "scope"]]).isin([*MEASURES.items()])]
    ratios = sorted(rows["ratio"].unique())
    if len(ratios) < 2:
        return {}
    cells = over_seeds(rows, ["corpus", "arm", "ratio", "metric"])
    everywhere = cells.groupby("arm")["ratio"].nunique() == len(ratios)
    arms = choose_arms(everywhere.index[everywhere], DIALLED, (*PAIR, MATCHED_TABLES[0]))
    paired = leads[(leads["metric"] == "bleu") & (leads["strategy"] == study.main[0])].assign(metric=LEAD)
    places: dict[tuple[str, float], Scored] = {}
    for row in (*cells.itertuples(), *paired.itertuples()):
        scored = places.setdefault((row.corpus, row.ratio), {})
        scored[row.arm, row.metric] = row.value, row.low, row.high
    values = {
        corpus: [_list_cells(places.get((corpus, ratio), {}), arms) for ratio in ratios]
        for corpus in style.ordered(cells["corpus"])
    }
    return {
        "strategy": study.main[0],
        "ratios": [float(ratio) for ratio in ratios],
        "main": int(np.argmin(np.abs(np.array(ratios) - study.main[1]))),
        "families": {arm: find_role(arm).family for arm in arms},
        "values": values,
    }


def _list_cells(scored: Scored, arms: Sequence[str]) -> dict[str, list]:
    """Return by arm, of one corpus and ratio, the cells in the order in which page.js reads them: BLEU, exact match, lead."""
    return {
        arm: [
            _round(scored[arm, "bleu"], 1),
            _round(scored.get((arm, "exact_match")), 3),
            _round(scored.get((arm, LEAD)) or _subtract(scored, arm), 1),
        ]
        for arm in arms
        if (arm, "bleu") in scored
    }


def _subtract(scored: Scored, arm: str) -> Interval | None:
    """Return the BLEU of an arm minus that of the best word table of both sides, without an interval."""
    tables = [scored[table, "bleu"][0] for table in TABLES["both"] if (table, "bleu") in scored]
    if not tables or arm in TABLES["both"]:
        return None
    return scored[arm, "bleu"][0] - max(tables), np.nan, np.nan


def _round(interval: Interval | None, digits: int) -> list[float | None] | None:
    if interval is None:
        return None
    return [None if pd.isna(number) else round(float(number), digits) for number in interval]
