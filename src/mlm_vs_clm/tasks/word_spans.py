"""Labelled spans of words, (first word, word after the last, type): as tags, repeated in a document, and counted."""

from collections import Counter, defaultdict
from collections.abc import Iterable

WordSpan = tuple[int, int, str]
COUNTS = ("tp", "fp", "fn")
MIN_LETTERS, MAX_ABBREVIATION = 3, 8


def tag_spans(spans: Iterable[WordSpan], n_words: int) -> list[str]:
    """Return one IOB2 tag per word: B begins a span, I continues it."""
    tags = ["O"] * n_words
    for first, after, kind in spans:
        tags[first:after] = [f"B-{kind}"] + [f"I-{kind}"] * (after - first - 1)
    return tags


def list_spans(tags: list[str]) -> set[WordSpan]:
    """Return the spans of IOB2 tags, strictly: a span must begin with B."""
    spans, first = set(), None
    for i, tag in enumerate([*tags, "O"]):
        if first is not None and tag != "I" + tags[first][1:]:
            spans.add((first, i, tags[first][2:]))
            first = None
        if tag[0] == "B":
            first = i
    return spans


def mark_edges(tags: list[str]) -> list[str]:
    """Return IOB2 tags with marked ends: E for the last word of a span, S for a single word."""
    marked = []
    for tag, after in zip(tags, [*tags[1:], "O"], strict=True):
        is_last = tag != "O" and after != "I" + tag[1:]
        marked.append({"B": "S", "I": "E"}[tag[0]] + tag[1:] if is_last else tag)
    return marked


def unmark_edges(tags: list[str]) -> list[str]:
    """Return the IOB2 tags of tags with marked ends; a word that continues no span begins one."""
    plain: list[str] = []
    for tag in tags:
        sign = {"S": "B", "E": "I"}.get(tag[0], tag[0])
        goes_on = bool(plain) and plain[-1][1:] == tag[1:]
        plain.append(("B" if sign == "I" and not goes_on else sign) + tag[1:])
    return plain


def repeat_names(words: list[str], spans: set[WordSpan]) -> set[WordSpan]:
    """Return the spans and, outside of them, every repetition of their names and abbreviations.

    "Renal failure (ARF)" makes every "ARF" of the document a name of that type. Longer names are searched first.
    """
    lower, covered = [word.lower() for word in words], {i for span in spans for i in range(*span[:2])}
    all_spans, kinds = set(spans), vote_on_names(words, spans)
    for name in sorted(kinds, key=lambda name: (-len(name), name)):
        for first in range(len(lower) - len(name) + 1):
            place = range(first, first + len(name))
            if tuple(lower[first : place.stop]) == name and covered.isdisjoint(place):
                covered.update(place)
                all_spans.add((first, place.stop, kinds[name]))
    return all_spans


def vote_on_names(words: list[str], spans: set[WordSpan]) -> dict[tuple[str, ...], str]:
    """Return the most frequent type of each name of three letters or more, abbreviations in brackets included."""
    votes: dict[tuple[str, ...], Counter] = defaultdict(Counter)
    for first, after, kind in sorted(spans):
        votes[tuple(word.lower() for word in words[first:after])][kind] += 1
        if is_abbreviation(words, after):
            votes[(words[after + 1].lower(),)][kind] += 1
    votes = {name: counts for name, counts in votes.items() if len("".join(name)) >= MIN_LETTERS}
    return {name: counts.most_common(1)[0][0] for name, counts in votes.items()}


def is_abbreviation(words: list[str], place: int) -> bool:
    """Return whether a bracket opens at this word around one short word with two capitals or more."""
    if len(words) < place + 3 or words[place] != "(" or words[place + 2] not in (")", ",", ";"):
        return False
    return len(words[place + 1]) <= MAX_ABBREVIATION and sum(map(str.isupper, words[place + 1])) > 1


def count_strict(gold: set[WordSpan], predicted: set[WordSpan]) -> tuple[int, int, int]:
    """Return (tp, fp, fn): a span is correct if first word, last word and type are."""
    tp = len(gold & predicted)
    return tp, len(predicted) - tp, len(gold) - tp


def count_lenient(gold: set[WordSpan], predicted: set[WordSpan]) -> tuple[int, int, int]:
    """Return (tp, fp, fn) as n2c2 2018 track 2 counts: correct is a span that shares a word with one of its type.

    A gold span is matched once: a later span that touches a matched one counts neither as tp nor as fp.
    """
    matched: set[WordSpan] = set()
    tp, fp = 0, 0
    for span in sorted(predicted):
        touched = {true for true in gold if share_words(true, span) and true[2] == span[2]}
        fp += not touched
        tp += bool(touched) and matched.isdisjoint(touched)
        matched |= touched
    return tp, fp, len(gold) - tp


def share_words(first: WordSpan, second: WordSpan) -> bool:
    """Return whether two spans have a word in common."""
    return first[0] < second[1] and second[0] < first[1]
