"""A text with blanks, before any tokenizer: what is masked, what was written into it, where each word stands."""

from bisect import bisect_right
from dataclasses import dataclass

from .documents import find_words
from .errors import StudyError

Span = tuple[int, int]


class DocumentError(StudyError):
    """One document that cannot be filled, where the others can; `id` says which."""

    def __init__(self, id: str, problem: str):
        super().__init__(f"document {id}: {problem}")
        self.id = id


@dataclass(frozen=True)
class Corruption:
    """The words of a document (character offsets) and which of them are blanks (word indices)."""

    id: str
    words: list[tuple[int, int]]
    blanks: list[int]
    n_eligible: int

    @property
    def share(self) -> float:
        """Return the share of all words that is hidden in fact."""
        return len(self.blanks) / len(self.words) if self.words else 0.0


@dataclass(frozen=True)
class BlankedText:
    """A text, the character offsets of its words, and which words are blanks.

    `counts` says how many sub-words each blank takes where its length is known; None: as many as the original.
    Raises DocumentError unless words and blanks are in order, apart from each other and inside the text.
    """

    id: str
    text: str
    words: list[Span]
    blanks: list[int]
    counts: list[int] | None = None

    def __post_init__(self):
        if self.counts is not None and [n >= 1 for n in self.counts] != [True] * len(self.blanks):
            raise DocumentError(
                self.id, f"{len(self.blanks)} blanks need as many counts of sub-words, each 1 or more"
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
        numbers = [-1, *self.blanks, len(self.words)]
        if any(after <= before for before, after in zip(numbers, numbers[1:], strict=False)):
            raise DocumentError(
                self.id, f"blanks are word numbers, each once, in order, below {len(self.words)}"
            )

    def kept_words(self) -> list[int]:
        """Return the indices of the words that stay."""
        hidden = set(self.blanks)
        return [i for i in range(len(self.words)) if i not in hidden]

    def originals(self) -> list[str]:
        """Return the words that the blanks hide."""
        return [self.text[slice(*self.words[i])] for i in self.blanks]


@dataclass(frozen=True)
class FilledText:
    """What an arm wrote: the text, the fill of each blank, and where each word stands in it (None: nowhere)."""

    id: str
    text: str
    fills: list[str]
    spans: list[Span | None]


def runs_of_blanks(text: BlankedText) -> list[list[int]]:
    """Return the blanks (word numbers) in runs of neighbours, with nothing but space between them."""
    runs: list[list[int]] = []
    for blank in text.blanks:
        if runs and not text.text[text.words[runs[-1][-1]][1] : text.words[blank][0]].strip():
            runs[-1].append(blank)
        else:
            runs.append([blank])
    return runs


def put_together(blanked: BlankedText, fills: list[str]) -> FilledText:
    """Write the fills into the blanks; every character outside them stays as it was.

    An empty fill leaves its word without a place in the new text.
    """
    pieces, spans, place, cursor = [], [], 0, 0
    fill_of = dict(zip(blanked.blanks, fills, strict=True))
    for number, (start, end) in enumerate(blanked.words):
        word = fill_of.get(number, blanked.text[start:end])
        pieces += [blanked.text[cursor:start], word]
        place += start - cursor
        spans.append((place, place + len(word)) if word else None)
        place, cursor = place + len(word), end
    pieces.append(blanked.text[cursor:])
    return FilledText(blanked.id, "".join(pieces), list(fills), spans)


def find_marks(text: str, mark: str) -> list[Span]:
    """Return where a mark stands in a text, from left to right."""
    if not mark.strip():
        raise StudyError('blanks: a mark such as "___" must have characters other than space')
    spans, start = [], text.find(mark)
    while start >= 0:
        spans.append((start, start + len(mark)))
        start = text.find(mark, start + len(mark))
    return spans


def blank_out(id: str, text: str, blanks: list[Span], counts: list[int] | None = None) -> BlankedText:
    """Return the text with those characters as blanks, each one word, and the words that `find_words` sees elsewhere.

    Raises DocumentError unless blanks are in order, apart, inside the text, and free of space at both ends.
    """
    words, numbers, cursor = [], [], 0
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


def _words_between(text: str, start: int, end: int) -> list[Span]:
    return [(start + first, start + last) for first, last in find_words(text[start:end])]


def set_apart(blanked: BlankedText, filled: FilledText) -> FilledText:
    """Put a space where a fill would run into a letter or digit beside it, as a word put for a mark does.

    The spaces stand outside the spans; all other characters stay as they are.
    """
    text, gaps = filled.text, set()
    for start, end in (filled.spans[word] for word in blanked.blanks if filled.spans[word]):
        if start and text[start - 1].isalnum() and text[start].isalnum():
            gaps.add(start)
        if text[end - 1].isalnum() and text[end : end + 1].isalnum():
            gaps.add(end)
    places = sorted(gaps)
    cuts = [0, *places, len(text)]
    apart = " ".join(text[a:b] for a, b in zip(cuts, cuts[1:], strict=False))
    spans = [span and tuple(place + bisect_right(places, span[0]) for place in span) for span in filled.spans]
    return FilledText(filled.id, apart, filled.fills, spans)
