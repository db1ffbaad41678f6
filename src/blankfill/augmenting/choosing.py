"""Which words of a text may be replaced, which never are, and which of them a variant replaces."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import regex

from ..arguments import is_number, to_list
from ..errors import BlankfillError
from ..text import OF_RUN, SPELT, CharSpan

# Given a text, its words and the spans of its entities, returns the numbers of the words that may be replaced.
Strategy = Callable[[str, list[CharSpan], list[CharSpan]], Iterable[int]]


def spelt_words(text: str, words: list[CharSpan], entities: list[CharSpan]) -> list[int]:
    """Any word but marks of punctuation and other symbols."""
    return [i for i, (start, end) in enumerate(words) if SPELT.match(text, start, end)]


def words_of_entities(text: str, words: list[CharSpan], entities: list[CharSpan]) -> list[int]:
    """Words that touch an entity."""
    return [i for i in spelt_words(text, words, entities) if touches(words[i], entities)]


def words_outside_entities(text: str, words: list[CharSpan], entities: list[CharSpan]) -> list[int]:
    """Words that touch no entity."""
    return [i for i in spelt_words(text, words, entities) if not touches(words[i], entities)]


STRATEGIES: dict[str, Strategy] = {
    "random": spelt_words,
    "spans": spelt_words,
    "entities": words_of_entities,
    "outside_entities": words_outside_entities,
}
OF_LABELS = ("entities", "outside_entities")


def touches(word: CharSpan, spans: Iterable[CharSpan]) -> bool:
    """Return whether a word has a character in any of the spans."""
    return any(max(word[0], start) < min(word[1], end) for start, end in spans)


def read_strategy(strategy: Any) -> Strategy:
    """Return the strategy of a name, or the function itself; BlankfillError for anything else."""
    if callable(strategy):
        return strategy
    if not isinstance(strategy, str) or strategy not in STRATEGIES:
        raise BlankfillError(
            f"strategy={strategy} is unknown: choose one of {', '.join(STRATEGIES)}, or give a function of a text, its "
            "words and its entities that returns word numbers"
        )
    return STRATEGIES[strategy]


def eligible_words(
    strategy: Strategy, text: str, words: list[CharSpan], entities: list[CharSpan]
) -> list[int]:
    """Return the word numbers that a strategy gives, in order, each once; BlankfillError for others than the words'."""
    numbers = to_list("what strategy returned", strategy(text, words, entities))
    if wrong := [n for n in numbers if not is_number(n) or n not in range(len(words))]:
        raise BlankfillError(
            f"strategy: it returned a {type(wrong[0]).__name__} that is no word number; return numbers from 0 to "
            "below the number of words"
        )
    return sorted({*map(int, numbers)})


def read_protected(protect: Any) -> list[Any]:
    """Return patterns of what never changes: a string or strings (whole words, in any case), or a compiled pattern.

    Raises BlankfillError for anything else, and for a string without a word.
    """
    if protect is None:
        return []
    rules = [protect] if isinstance(protect, str) or _is_pattern(protect) else protect
    if isinstance(rules, bytes) or not isinstance(rules, Iterable):
        raise BlankfillError(f"protect: give strings or a compiled pattern, this is a {type(rules).__name__}")
    return [rule if _is_pattern(rule) else _whole_words(rule) for rule in rules]


def are_rules(protect: Any) -> bool:
    """Return whether this holds strings or patterns, for any text, and not the spans of given texts."""
    if protect is None or isinstance(protect, str) or _is_pattern(protect):
        return True
    if isinstance(protect, Sequence) and not len(protect):
        return True  # no rule
    return isinstance(protect, Iterable) and any(
        isinstance(rule, str) or _is_pattern(rule) for rule in protect
    )


def _is_pattern(rule: Any) -> bool:
    """Return whether it is a compiled pattern of text, of `re` or of the module `regex`."""
    return hasattr(rule, "finditer") and isinstance(getattr(rule, "pattern", None), str)


def _whole_words(rule: Any) -> Any:
    if not isinstance(rule, str):
        raise BlankfillError(
            f"protect: give strings or a compiled pattern, this is a {type(rule).__name__}; spans belong to texts, so "
            "give them to `augment`, a list for each text"
        )
    if not (words := rule.strip()):
        raise BlankfillError("protect: a string without a word protects nothing: leave it out")
    before = f"(?<!{OF_RUN.pattern})" if OF_RUN.match(words[0]) else ""
    after = f"(?!{OF_RUN.pattern})" if OF_RUN.match(words[-1]) else ""
    return regex.compile(f"{before}{regex.escape(words)}{after}", regex.V1 | regex.IGNORECASE)
