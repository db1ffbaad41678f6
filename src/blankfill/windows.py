"""Texts longer than the model: they are read in windows, and each carries what stands, or was filled, to its left."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TypeVar

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .networks.checkpoints import edge_tokens
from .networks.sizes import position_limit
from .slots.ledger import Ledger
from .slots.pieces import PieceEncoder
from .slots.rows import to_rows
from .text import BlankedText, DocumentError, FilledText, Written, assemble_text
from .writers import FillTexts

CARRIED = 2  # the part of a window, as 1 / CARRIED, that is kept for what stands to the left
AHEAD = 4  # the same for what stands to the right, where that is in sight
ATTEMPTS = 20  # to find a window that fits when its tokens are counted as a whole
T = TypeVar("T")
# A word and the space before it, but for a single one, which `_cut` gives back.
PIECE = re.compile(r"(?: (?=\S))?(\s*\S+)")


@dataclass(frozen=True)
class Window:
    """A part of a text that fits a model, and how many of the blanks left it fills."""

    text: BlankedText
    n_blanks: int


class Windows:
    """Cuts texts for a model: `tokens` is how many a blank may take (None: as many as its original).

    `sees_right` (for each token masked alone): a window shows what follows its last blank too.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        tokens: int | None,
        sees_right: bool = False,
    ):
        self.tokenizer, self.sees_right = tokenizer, sees_right
        self.limit, self.encode = position_limit(model), PieceEncoder(tokenizer)
        self.tokens = tokens and min(tokens, max(1, (self.limit or tokens) // AHEAD))
        self.n_edges = sum(map(len, edge_tokens(tokenizer)))

    def fits(self, text: BlankedText) -> bool:
        """Return whether a text fits the model as it is."""
        if self.limit is None or not text.blanks:
            return True
        forms = (text.text, unicodedata.normalize("NFKD", text.text))  # a tokenizer may normalise its text so
        n_bytes = max(len(form.encode("utf-8", "replace")) for form in forms)
        n_bytes += sum(text.counts or [(self.tokens or 0) * len(text.blanks)])
        return n_bytes + self.n_edges < self.limit or self._count(text) <= self.limit

    def _count(self, text: BlankedText) -> int:
        lengths = None if self.tokens is None else [[self.tokens] * len(text.blanks)]
        return len(to_rows([text], self.tokenizer, None, lengths)[0].ids)

    def cut_after(self, text: BlankedText, fills: Sequence[str], n_done: int, number: int) -> Window:
        """Return the `number`-th window of a text whose first `n_done` blanks hold `fills`; see `cut`.

        It is cut from the words around the next blank, so that all windows take time in proportion to the text.
        """
        return self.cut(_surround(text, fills, n_done, (self.limit or 0) + 1), number)

    def cut(self, text: BlankedText, number: int, is_whole: bool = False) -> Window:
        """Return the window of the first blanks of a text, the `number`-th; with `is_whole` that of all its blanks.

        About half of it stands to the left of the first blank. It ends before a blank that kept words precede, where
        there is one in its last quarter. Raises DocumentError where a blank, or all of them, do not fit.
        """
        room = (self.limit or 0) - self.n_edges
        for _ in range(ATTEMPTS):
            window = self._try(text, number, room, is_whole)
            excess = self._count(replace(window.text, id=text.id)) - (self.limit or 0)
            if excess <= 0:
                return window
            room -= excess
        raise self._refusal(text)

    def _refusal(self, text: BlankedText) -> DocumentError:
        return DocumentError(
            text.id, f"a blank does not fit a window of the model's {self.limit} tokens: make it shorter"
        )

    def _try(self, text: BlankedText, number: int, room: int, is_whole: bool) -> Window:
        first = text.blanks[0]
        near = range(max(0, first - room), min(len(text.words), first + room + 1))
        costs = dict(zip(near, self._costs(text, near), strict=True))
        most = room // CARRIED
        if is_whole:  # all blanks come before more of what stands to their left
            most = max(0, min(most, room - sum(costs.get(i, 0) for i in range(first, text.blanks[-1] + 1))))
        start, end = _spread(near, costs, first, room, most)
        if end <= first:
            raise self._refusal(text)
        if is_whole and text.blanks[-1] >= end:
            raise DocumentError(
                text.id,
                f"its blanks do not fit one window of the model's {self.limit} tokens: take fewer at a time",
            )
        last = end
        if end < len(text.words) and not is_whole:
            if self.sees_right:
                last = _leave_ahead(costs, first, end, room // AHEAD)
            else:
                last = end = _find_border(text.blanks, first, end)
        n_blanks = sum(blank < last for blank in text.blanks)
        return Window(self._part(text, start, end, n_blanks, number), n_blanks)

    def _costs(self, text: BlankedText, near: range) -> list[int]:
        """Return how many tokens each word takes, with what stands before it."""
        ends = [text.words[i - 1][1] if i else 0 for i in near]
        pieces = [text.text[end : text.words[i][1]] for end, i in zip(ends, near, strict=True)]
        counted = [max(1, len(ids)) for ids in self.encode(pieces)]
        counts: Sequence[int | None] = text.counts or [self.tokens] * len(text.blanks)
        slots = dict(zip(text.blanks, counts, strict=True))
        return [slots.get(i) or counted[n] for n, i in enumerate(near)]

    def _part(self, text: BlankedText, start: int, end: int, n_blanks: int, number: int) -> BlankedText:
        """Return the words from `start` to before `end` as a text of its own, with the first `n_blanks` blanks."""
        first = text.words[start][0]
        if start and not self.encode.adds_space:
            first = text.words[start - 1][1]
        first = first if start else 0
        name = text.id if number == 1 else f"{text.id} (window {number})"
        return _take(text, slice(start, end), slice(n_blanks), first, name)


def _spread(near: range, costs: dict[int, int], first: int, room: int, most: int) -> tuple[int, int]:
    """Return the words of a window around the first blank: at most `most` before it, then what fits, then more before it."""

    def reach_left(most: int) -> int:
        sums = accumulate(costs[i] for i in reversed(range(near.start, first)))
        return first - sum(total <= most for total in sums)

    start = reach_left(most)
    used = sum(costs[i] for i in range(start, first))
    end = first + sum(used + total <= room for total in accumulate(costs[i] for i in range(first, near.stop)))
    ahead = sum(costs[i] for i in range(first, end))
    return (min(start, reach_left(room - ahead)) if end > first else start), end


def _leave_ahead(costs: dict[int, int], first: int, end: int, most: int) -> int:
    """Return before which word the blanks of a window end, so that about `most` tokens follow them."""
    sums = accumulate(costs[i] for i in reversed(range(first, end)))
    return max(first + 1, end - sum(total <= most for total in sums))


def _find_border(blanks: list[int], first: int, end: int) -> int:
    """Return where a window ends: before the blank of its last quarter with most kept words before it, or where it must."""
    inside = [blank for blank in blanks if blank < end]
    gaps = {end: end - inside[-1]}
    for before, blank in zip(inside, inside[1:], strict=False):
        if blank >= first + 3 * (end - first) // 4:
            gaps[blank] = blank - before
    return max(gaps, key=lambda border: (gaps[border], border))


def _surround(text: BlankedText, fills: Sequence[str], n_done: int, reach: int) -> BlankedText:
    """Return `reach` words on each side of the first blank that is left; `fills` stand in the blanks before it."""
    start = first = text.blanks[n_done]
    before, n_kept = n_done, 0
    while start and n_kept < reach:
        start -= 1
        is_blank = before > 0 and text.blanks[before - 1] == start
        before -= is_blank
        n_kept += not is_blank or bool(fills[before])
    end = min(first + reach + 1, len(text.words))
    after = bisect_left(text.blanks, end)
    left = text.words[start][0] if start else 0
    part = _take(text, slice(start, end), slice(before, after), left, text.id)
    return _settle(part, fills[before:n_done])


def _take(text: BlankedText, words: slice, blanks: slice, first: int, id: str) -> BlankedText:
    """Return some words of a text, from its character `first` on, as a text of its own with some of its blanks."""
    last = text.words[words.stop - 1][1] if words.stop < len(text.words) else len(text.text)
    spans = [(start - first, end - first) for start, end in text.words[words]]
    numbers = [blank - words.start for blank in text.blanks[blanks]]
    return BlankedText(id, text.text[first:last], spans, numbers, text.counts and text.counts[blanks])


def _settle(text: BlankedText, fills: Sequence[str]) -> BlankedText:
    """Return a text with its first blanks filled, and the others left."""
    n = len(fills)
    filled = assemble_text(BlankedText(text.id, text.text, text.words, text.blanks[:n]), [*fills])
    gone = [i for i, span in enumerate(filled.spans) if span is None]
    blanks = [blank - sum(i < blank for i in gone) for blank in text.blanks[n:]]
    counts = text.counts and text.counts[n:]
    return BlankedText(text.id, filled.text, [span for span in filled.spans if span], blanks, counts)


@dataclass
class _Progress:
    """A text of several windows: what was filled of it, in how many windows and passes."""

    whole: BlankedText
    fills: list[str] = field(default_factory=list)
    history: list[Written] = field(default_factory=list)
    n_windows: int = 0
    n_passes: int = 0

    def take(self, filled: FilledText, n_blanks: int) -> None:
        """Take the fills of a window."""
        done, shift = self.n_passes, len(self.fills)
        self.history += [
            event._replace(pass_number=event.pass_number + done, blank=event.blank + shift)
            for event in filled.history
        ]
        self.n_passes = done + 1 + max((event.pass_number for event in filled.history), default=-1)
        self.fills += filled.fills[:n_blanks]
        self.n_windows += 1


def fill_in_windows(
    fill_texts: FillTexts, windows: Windows, sees_originals: bool, blanked: list[BlankedText]
) -> tuple[list[FilledText], Ledger]:
    """Fill texts of any length, in rounds of one window each; a text that fits is one window.

    A later window reads the fills of those before it, or with `sees_originals` what stood there. Raises DocumentError,
    by the id of the text.
    """
    finished: dict[int, FilledText] = {}
    long = {i: _Progress(text) for i, text in enumerate(blanked) if not windows.fits(text)}
    originals = {i: blanked[i].originals() for i in long} if sees_originals else {}
    short = [i for i in range(len(blanked)) if i not in long]
    total = Ledger()
    left = dict(long)
    while short or left:
        cut = {
            i: windows.cut_after(
                text.whole, originals.get(i, text.fills), len(text.fills), text.n_windows + 1
            )
            for i, text in left.items()
        }
        texts = [blanked[i] for i in short] + [window.text for window in cut.values()]
        filled, ledger = rename_errors(fill_texts, texts, [blanked[i].id for i in [*short, *cut]])
        total = total + ledger
        finished |= zip(short, filled, strict=False)
        for (i, window), answer in zip(cut.items(), filled[len(short) :], strict=True):
            left[i].take(answer, window.n_blanks)
        left, short = {i: text for i, text in left.items() if len(text.fills) < len(text.whole.blanks)}, []
    for i, progress in long.items():
        finished[i] = assemble_text(progress.whole, progress.fills, progress.history)
    total.documents = len(blanked)
    return [finished[i] for i in range(len(blanked))], total


def rename_errors(run: Callable[[list[BlankedText]], T], windows: list[BlankedText], ids: list[str]) -> T:
    """Return what `run` makes of some windows; its DocumentError names the text and not the window."""
    try:
        return run(windows)
    except DocumentError as error:
        id_of = dict(zip((window.id for window in windows), ids, strict=True))
        raise DocumentError(id_of[error.id], error.problem) from None


def cut_originals(windows: Windows, text: BlankedText) -> list[BlankedText]:
    """Return the windows of a text whose blanks hold their originals, none without blanks: each shows those to its left."""
    if not text.blanks:
        return []
    if windows.fits(text):
        return [text]
    whole = split_blanks(text)
    pieces: list[BlankedText] = []
    originals, n_done = whole.originals(), 0
    while n_done < len(whole.blanks):
        window = windows.cut_after(whole, originals, n_done, len(pieces) + 1)
        pieces.append(window.text)
        n_done += window.n_blanks
    return pieces


def split_blanks(text: BlankedText) -> BlankedText:
    """Return a text with its blanks cut at white space, so that a window may end inside of one."""
    words: list[tuple[int, int]] = []
    blanks: list[int] = []
    masked = {*text.blanks}
    for i, (start, end) in enumerate(text.words):
        pieces = [(start, end)]
        if i in masked:
            pieces = [
                (start + a, start + b) for a, b in (m.span(1) for m in PIECE.finditer(text.text[start:end]))
            ]
            blanks += range(len(words), len(words) + len(pieces))
        words += pieces
    return BlankedText(text.id, text.text, words, blanks)
