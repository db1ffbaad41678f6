"""A text with blanks, before any tokenizer: what is masked, what fills it, and where each word is."""

import re
import unicodedata
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import regex

from .errors import BlankfillError
from .ranges import Range

# Scripts whose texts put no space between words: each character is a word.
BY_CHARACTER = ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar")
# What a signature says of the words that a score counted.
WORDS = f"words:letters+digits+marks|by character:{'+'.join(BY_CHARACTER)}"

# Sets of characters, to stand inside [ ]. The script of some signs is known by its extensions alone (the Japanese long
# vowel); those of Thai have the apostrophe U+02BC, which other scripts use.
_UNSPACED = "".join(rf"\p{{Script={name}}}" for name in BY_CHARACTER) + r"\p{scx=Han}\p{scx=Kana}"
_SINGLE = rf"[[\p{{L}}\p{{N}}]&&[{_UNSPACED}]]"
_LETTER = rf"[a-zA-Z0-9[[\p{{L}}\p{{N}}]--[{_UNSPACED}]]]"  # those of ASCII first: it is faster
_MARK = r"[\p{M}\u200C\u200D]"  # with the joiners, which change the shape of letters
_INSIDE = r"[\u00AD\u200E\u200F\u2060\uFEFF]"  # unseen: soft hyphen, directions, no break
_UNSEEN = r"\s\p{Cc}[\p{DI}--\p{M}]"  # no word where they stand alone
_EMOJI = r"\p{Extended_Pictographic}[\p{M}\p{Emoji_Modifier}\U000E0020-\U000E007F]*"
_SYMBOL = (
    rf"\p{{Regional_Indicator}}{{2}}{_MARK}*|{_EMOJI}(?:\u200D{_EMOJI})*{_MARK}*"
    rf"|[^\p{{L}}\p{{N}}{_UNSEEN}]{_MARK}*"
)
WORD = regex.compile(
    rf"{_LETTER}[a-zA-Z0-9]*+[{_LETTER}{_MARK}]*+(?:{_INSIDE}++{_LETTER}[{_LETTER}{_MARK}]*+)*+"
    rf"|{_SINGLE}{_MARK}*+|{_SYMBOL}",
    regex.V1,
)
# A letter that stands in a word behind its first, and a space between two characters that are words.
INSIDE_WORD = regex.compile(rf"(?<={_LETTER}{_MARK}*){_LETTER}", regex.V1)
BETWEEN_CHARACTERS = regex.compile(rf"(?<={_SINGLE}{_MARK}*) (?={_SINGLE})", regex.V1)
PUNCTUATION = regex.compile(rf"(?=[\p{{P}}\p{{S}}])(?:{_SYMBOL})", regex.V1)
OF_RUN = regex.compile(rf"{_LETTER}|{_MARK}", regex.V1)
# Two letters and their marks, or a character that is a word: no digits.
LETTERS = regex.compile(rf"[{_LETTER}--\p{{Nd}}][[{_LETTER}--\p{{Nd}}]{_MARK}]+|{_SINGLE}{_MARK}*", regex.V1)
SPELT = regex.compile(r"[\p{L}\p{M}\p{N}]")


def find_words(text: str) -> list[tuple[int, int]]:
    """Return the character offsets of every word: a run of letters and digits with their marks, or a symbol.

    In the scripts of BY_CHARACTER each character is a word, with its marks. The rule depends on no model and no
    language. As punctuation is split off, scores ignore the spacing that tokenizers introduce ("blood - pressure" and
    "blood-pressure" are the same three words). An emoji of several characters is one symbol. Characters that are not
    seen (space, control, direction) belong to no word.
    """
    return [match.span() for match in WORD.finditer(text)]


def split_words(text: str) -> list[str]:
    """Return the words of a text as strings."""
    return WORD.findall(text)


def would_merge(text: str, place: int) -> bool:
    """Return whether what stands on both sides of a place in a text is of letters, digits and marks of one run."""
    return all(OF_RUN.fullmatch(side) for side in (text[max(place - 1, 0) : place], text[place : place + 1]))


def compose(text: str) -> str:
    """Return a text with each letter and its marks as one character where there is one (NFC)."""
    return unicodedata.normalize("NFC", text)


def fold_case(text: str) -> str:
    """Return a text in small letters and composed (NFC): texts that look the same but for case are equal.

    Not for offsets: its length may differ from the text's.
    """
    return compose(compose(text).lower())


CharSpan = tuple[int, int]  # character offsets, end exclusive
HALF = re.compile("[\ud800-\udfff]")
COUNTS = Range(1, 10_000, whole=True)  # tokens of a blank: more than any model reads


class DocumentError(BlankfillError):
    """One document that cannot be filled, where the others can: `id` names it, and `problem` says why."""

    def __init__(self, id: str, problem: str):
        super().__init__(f"document {id}: {problem}")
        self.id, self.problem = id, problem


@dataclass(frozen=True)
class BlankedText:
    """A text, the character offsets of its words, and which words are blanks.

    `counts` has the number of tokens of each blank where the length is known; None: as many as the original.
    Raises DocumentError unless words and blanks are in order, do not overlap and lie inside the text.
    """

    id: str
    text: str
    words: list[CharSpan]
    blanks: list[int]
    counts: list[int] | None = None

    def __post_init__(self):
        if self.counts is not None and [n in COUNTS for n in self.counts] != [True] * len(self.blanks):
            raise DocumentError(
                self.id,
                f"{len(self.blanks)} blanks need as many token counts, each 1 or more (at most {COUNTS.high:,})",
            )
        cursor = 0
        for start, end in self.words:
            if start < cursor:
                raise DocumentError(self.id, f"the words at characters {start} and before {cursor} overlap")
            if not start < end <= len(self.text):
                raise DocumentError(
                    self.id, f"the word at {start}:{end} is empty or runs past the text's {len(self.text)}"
                )
            cursor = end
        if any(after <= before for before, after in pairwise([-1, *self.blanks, len(self.words)])):
            raise DocumentError(
                self.id, f"blanks are word numbers, each once, in order, below {len(self.words)}"
            )

    def kept_words(self) -> list[int]:
        """Return the indices of the words that are not blank."""
        masked = set(self.blanks)
        return [i for i in range(len(self.words)) if i not in masked]

    def originals(self) -> list[str]:
        """Return the masked words."""
        return [self.text[slice(*self.words[i])] for i in self.blanks]


class Written(NamedTuple):
    """What was written when: in which pass over the document (from 0), into which blank, at which of its tokens, which token.

    `token` is the token's number in the vocabulary.
    """

    pass_number: int
    blank: int
    position: int
    token: int


@dataclass(frozen=True)
class FilledText:
    """A generated text, the fill of each blank, and the characters of each word in the text (None: missing).

    `history` has every token that was written into a slot, in order; none where the text was written as a whole.
    """

    id: str
    text: str
    fills: list[str]
    spans: list[CharSpan | None]
    history: list[Written] = field(default_factory=list, compare=False)


def group_adjacent_blanks(text: BlankedText) -> list[list[int]]:
    """Return the blanks (word numbers), grouped where nothing but space separates them."""
    groups: list[list[int]] = []
    for blank in text.blanks:
        if groups and not text.text[text.words[groups[-1][-1]][1] : text.words[blank][0]].strip():
            groups[-1].append(blank)
        else:
            groups.append([blank])
    return groups


def assemble_text(blanked: BlankedText, fills: list[str], history: list[Written] | None = None) -> FilledText:
    """Put the fills into the blanks; every other character is kept, and a word with an empty fill has no span."""
    pieces, spans, place, cursor = [], [], 0, 0
    fill_of = dict(zip(blanked.blanks, fills, strict=True))
    for number, (start, end) in enumerate(blanked.words):
        word = fill_of.get(number, blanked.text[start:end])
        pieces += [blanked.text[cursor:start], word]
        place += start - cursor
        spans.append((place, place + len(word)) if word else None)
        place, cursor = place + len(word), end
    pieces.append(blanked.text[cursor:])
    return FilledText(blanked.id, "".join(pieces), list(fills), spans, history or [])


def leave_unfilled(blanked: BlankedText) -> FilledText:
    """Return the text without its blanks."""
    return assemble_text(blanked, [""] * len(blanked.blanks))


def find_markers(text: str, marker: str) -> list[CharSpan]:
    """Return where a blank marker such as "___" occurs in a text, from left to right.

    Of a marker that repeats one character a longer run is one blank too, as cloze texts draw their gaps.
    """
    return [match.span() for match in _pattern_of(marker).finditer(text)]


def hide_markers(text: str, marker: str) -> tuple[str, list[CharSpan]]:
    """Return the text with letters in place of its markers, and where: a blank beside letters is a part of their word."""
    hidden = _pattern_of(marker).sub(lambda match: "x" * len(match[0]), text)
    return hidden, find_markers(text, marker)


def _pattern_of(marker: str) -> re.Pattern[str]:
    if not marker.strip():
        raise BlankfillError('blanks: a marker such as "___" must have characters other than space')
    is_run = len(marker) > 1 and len({*marker}) == 1
    return re.compile(re.escape(marker) + is_run * f"{re.escape(marker[0])}*")


def blank_out(id: str, text: str, blanks: list[CharSpan], counts: list[int] | None = None) -> BlankedText:
    """Return the text with those characters as blanks, one word each, and `find_words` between them.

    Raises DocumentError unless the blanks are in order, do not overlap, lie inside the text and neither begin nor end
    with a space, and for a text that no tokenizer reads, as it has half of a character.
    """
    if half := HALF.search(text):
        raise DocumentError(
            id, f"half of a character at {half.start()} (a surrogate without its other half): take it out"
        )
    words: list[CharSpan] = []
    numbers, cursor = [], 0
    for start, end in blanks:
        if not cursor <= start < end <= len(text):
            raise DocumentError(
                id, f"the blank {start}:{end} is empty, runs past the text's {len(text)}, or overlaps"
            )
        if text[start].isspace() or text[end - 1].isspace():
            raise DocumentError(
                id, f"the blank {start}:{end} begins or ends with a space: leave that outside"
            )
        words += _words_between(text, cursor, start)
        numbers.append(len(words))
        words.append((start, end))
        cursor = end
    return BlankedText(id, text, words + _words_between(text, cursor, len(text)), numbers, counts)


def _words_between(text: str, start: int, end: int) -> list[CharSpan]:
    return [(start + first, start + last) for first, last in find_words(text[start:end])]
