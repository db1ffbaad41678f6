"""How each kind of claim is measured: from the conditions of the rules to differences with intervals."""

from collections.abc import Callable, Iterator, Sequence

from .questions import Question
from .study import Study
from .text_questions import (
    ask_cost,
    ask_difference,
    ask_equal_share,
    ask_ratings,
    ask_share_of_gain,
    ask_trend,
)
from .training_questions import (
    ask_correlation,
    ask_learning,
    ask_pairs,
    ask_understanding,
    ask_utility,
    ask_writers,
)

Ask = Callable[[dict, dict, str, Study], Iterator[Question]]
KINDS: dict[str, Ask] = {
    "difference": ask_difference,
    "trend": ask_trend,
    "equal_share": ask_equal_share,
    "share_of_gain": ask_share_of_gain,
    "understanding": ask_understanding,
    "utility": ask_utility,  # by its task, or by that of every corpus
    "correlation": ask_correlation,
    "writers": ask_writers,
    "cost": ask_cost,
    "ratings": ask_ratings,
    "learning": ask_learning,
    "pairs": ask_pairs,
}


def ask_all(rules: Sequence[dict], study: Study) -> list[Question]:
    """Return every comparison of every condition on every corpus; a condition may be of another kind than its claim."""
    return [
        question
        for claim in rules
        for condition in claim["conditions"]
        for corpus in study.corpora
        for question in KINDS[condition.get("kind", claim["kind"])](claim, condition, corpus, study)
    ]
