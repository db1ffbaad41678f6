"""The arms of a page as cards: what each is, a drawing of what it sees, and how well it did."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from ..arms.baselines import MATCHED_TABLES, base_of
from ..arms.roles import FAMILIES, Role, find_role
from ..evidence.tables import over_seeds
from . import style
from .lead_words import span
from .style import Study

SIGHT = {  # sees -> the words of an example as [words, how they are drawn]; at most one blank is being filled
    "both": [("The captain", ""), ("___", "hole"), ("the harbour at", ""), ("___", "now"), ("and wept", "")],
    "left": [("The captain", ""), ("sees", "own"), ("the harbour at", ""), ("___", "now"), ("and wept", "off")],
    "true left": [("The captain", ""), ("saw", "original"), ("the harbour at", ""), ("___", "now"), ("and wept", "off")],
    "leaky": [("The captain", ""), ("___", "now"), ("the harbour at", ""), ("dawn", "original"), ("and wept", "")],
    "kept": [("The captain the harbour at and wept", "")],
    "nothing": [("The captain", "off"), ("___", "now"), ("the harbour at", "off"), ("___", "now"), ("and wept", "off")],
}  # fmt: skip
IN_WORDS = {
    "both": "sees the text on both sides of the blank",
    "left": "sees the text before the blank, with its own fills",
    "true left": "sees the text before the blank, with the originals",
    "leaky": "sees both sides, originals of other blanks included",
    "kept": "sees the kept words, not where the blanks are",
    "nothing": "sees nothing",
}
MEASURES = {"bleu": "document", "exact_match": "fills"}  # metric -> scope
COMPARED = (
    "mlm",
    "clm",
    "infill",
    "seq2seq_kept",
    "clm_kept",
    "mlm_leaky",
    "mlm_left",
    "clm_noised",
    *MATCHED_TABLES,
)


@dataclass(frozen=True)
class Card:
    """An arm of a page with its role, its scores as written, and how many settings it was run with."""

    arm: str
    role: Role
    scores: Mapping[str, str]
    settings: int

    @property
    def is_compared(self) -> bool:
        """Return whether the main comparisons name the arm; others stand behind "more"."""
        return self.arm in COMPARED

    @property
    def sight(self) -> list[tuple[str, str]]:
        """Return the words of the drawing of what the arm sees, and how each is drawn."""
        return SIGHT[self.role.sees]

    @property
    def sight_words(self) -> str:
        """Return what the arm sees in words."""
        return IN_WORDS[self.role.sees]


def list_cards(scores: pd.DataFrame, study: Study) -> list[Card]:
    """Return a card per arm of the scores, variants of one arm together: masked arms, causal ones, tables, controls."""
    bases = scores["arm"].map(base_of)
    named = sorted(style.ordered(bases, style.ARMS), key=lambda arm: FAMILIES.index(find_role(arm).family))
    return [make_card(arm, scores[bases == arm], study) for arm in named]


def make_card(arm: str, scores: pd.DataFrame, study: Study) -> Card:
    """Return the card of one arm from the scores of its variants: the lowest and the highest at the main cell."""
    main = study.at_main(scores)
    written = {}
    for metric, scope in MEASURES.items():
        rows = main[(main["metric"] == metric) & (main["scope"] == scope) & main["value"].notna()]
        if len(rows):
            values = over_seeds(rows, ["corpus", "arm"])["value"]
            written[style.name_metric(metric)] = span(values, style.decimals_of(metric))
    return Card(arm, find_role(arm), written, (main if len(main) else scores)["arm"].nunique())
