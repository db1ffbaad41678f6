"""How fills fit into their text: capitals for an uncased model, and spaces; one rule for every arm, which never sees the original."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from blankfill.text import (
    SPELT,
    WORD,
    BlankedText,
    CharSpan,
    FilledText,
    assemble_text,
    find_words,
    would_merge,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


ENDS = ".!?"


class Recaser:
    """Spells each word as the pretrain split most often does, and starts sentences with a capital."""

    def __init__(self, texts: list[str]):
        seen: dict[str, Counter] = defaultdict(Counter)
        for text in texts:
            for (start, end), starts in _with_starts(text):
                if not starts:
                    seen[text[start:end].lower()][text[start:end]] += 1
        self.form = {low: min(forms, key=lambda f: (-forms[f], f)) for low, forms in seen.items()}

    def text(self, text: str) -> str:
        """Return a whole text in its likely case; its length does not change."""
        return "".join(self._pieces(text, [True] * len(find_words(text))))

    def fill(self, blanked: BlankedText, filled: FilledText) -> FilledText:
        """Return the same text with its fills, and nothing else, in their likely case."""
        is_fill = [False] * len(filled.text)
        for start, end in (span for word in blanked.blanks if (span := filled.spans[word])):
            is_fill[start:end] = [True] * (end - start)
        text = "".join(self._pieces(filled.text, [is_fill[start] for start, _ in find_words(filled.text)]))
        return assemble_text(blanked, fills_of(blanked, filled, text))

    def _pieces(self, text: str, change: list[bool]) -> Iterator[str]:
        cursor = 0
        for ((start, end), starts), may in zip(_with_starts(text), change, strict=True):
            word = text[start:end]
            yield text[cursor:start]
            yield self._case(word, starts) if may else word
            cursor = end
        yield text[cursor:]

    def _case(self, word: str, starts: bool) -> str:
        likely = self.form.get(word, word)
        likely = likely[:1].upper() + likely[1:] if starts else likely
        return likely if len(likely) == len(word) else word


def fills_of(blanked: BlankedText, filled: FilledText, text: str) -> list[str]:
    """Return the fills as they are in `text`, the filled text in another case."""
    return [text[slice(*span)] if (span := filled.spans[word]) else "" for word in blanked.blanks]


def is_cased(tokenizer: "PreTrainedTokenizerBase") -> bool:
    """Return whether a tokenizer distinguishes capitals from small letters."""
    upper, lower = (tokenizer(letter, add_special_tokens=False)["input_ids"] for letter in "Aa")
    return upper != lower


def _with_starts(text: str) -> Iterator[tuple[CharSpan, bool]]:
    """Yield every word's offsets and whether it opens a sentence (first, or after . ! ?)."""
    opens = True
    for match in WORD.finditer(text):
        yield match.span(), opens
        opens = match.group() in ENDS or (opens and not SPELT.match(match.group()))


def insert_missing_spaces(blanked: BlankedText, filled: FilledText) -> FilledText:
    """Insert a space where a fill would run into the word beside it, as a word put for punctuation does.

    Between words that are characters (Chinese, Thai) there is none. The spaces are outside the spans; all other characters are kept.
    """
    text, gaps = filled.text, set()
    for start, end in (span for word in blanked.blanks if (span := filled.spans[word])):
        if would_merge(text, start):
            gaps.add(start)
        if would_merge(text, end):
            gaps.add(end)
    places = sorted(gaps)
    spaced = " ".join(text[a:b] for a, b in pairwise([0, *places, len(text)]))
    shifts = [bisect_right(places, span[0]) if span else 0 for span in filled.spans]
    spans = [span and (span[0] + n, span[1] + n) for span, n in zip(filled.spans, shifts, strict=True)]
    return replace(filled, text=spaced, spans=spans)
