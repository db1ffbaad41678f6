"""What filling returns: the new texts, what stands in their blanks, and what was written when."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, overload

from .errors import BlankfillError
from .slots.ledger import Ledger
from .slots.utf8 import HALF
from .text import CharSpan

SHOWN = 60  # characters of a text in `repr`


class Event(NamedTuple):
    """A token that was written: into which text, in which pass over it (from 0), into which blank, at which of its tokens."""

    id: str
    pass_number: int
    blank: int
    position: int
    token: str


@dataclass(frozen=True)
class Infill:
    """One filled text: the fill of each blank and its characters in the new text (None for an empty one).

    `reason` says why a text was not filled, where that is not an error (on_error="skip"). `history` has the tokens that
    were written, in order. `str` is the text.
    """

    id: str
    text: str
    fills: list[str]
    spans: list[CharSpan | None]
    reason: str | None = None
    history: list[Event] = field(default_factory=list, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class Filled:
    """Filled texts, in the order given; its length, items and iteration are those of the `Infill` of each text.

    - fills: what each blank of each text was filled with.
    - spans: the characters of each fill in its new text (None for an empty one).
    - ledger: what it cost.
    - skipped: the ids of documents that could not be filled, with the reason; their blanks are left out, or kept as they
      were where the blanks themselves were wrong.
    - n_unanswered: the blanks of the other documents for which the model gave no answer (an empty fill) or one with
      half of a character in it, as tokens of bytes can make in a blank of several.
    - ids: the names of the texts. history: for each text, what was written when.
    """

    texts: list[str]
    fills: list[list[str]]
    spans: list[list[CharSpan | None]]
    ledger: Ledger
    skipped: dict[str, str]
    n_unanswered: int
    ids: list[str]
    history: list[list[Event]] = field(default_factory=list, compare=False)

    @property
    def text(self) -> str:
        """Return the text, where it is the only one; BlankfillError for another number."""
        if len(self.texts) != 1:
            raise BlankfillError(
                f"there are {len(self.texts)} filled texts: take `texts`, or one by its number"
            )
        return self.texts[0]

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[Infill]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, number: int) -> Infill: ...
    @overload
    def __getitem__(self, number: slice) -> list[Infill]: ...
    def __getitem__(self, number: int | slice) -> Infill | list[Infill]:
        if isinstance(number, slice):
            return [self[i] for i in range(len(self))[number]]
        id = self.ids[number]
        answer = (self.texts[number], self.fills[number], self.spans[number])
        return Infill(id, *answer, self.skipped.get(id), self.history[number])

    def __repr__(self) -> str:
        samples = [text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…" for text in self.texts[:3]]
        remainder = [f"... {len(self) - 3} more"] if len(self) > 3 else []
        n_blanks = sum(map(len, self.fills))
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        return f"Filled({', '.join([*map(repr, samples), *remainder])}; {n_blanks} blanks{skipped})"


def collect(infills: list[Infill], ledger: Ledger) -> Filled:
    """Return single filled texts as one object."""
    filled = [infill for infill in infills if infill.reason is None]
    n_unanswered = sum(not fill or HALF in fill for infill in filled for fill in infill.fills)
    return Filled(
        [infill.text for infill in infills],
        [infill.fills for infill in infills],
        [infill.spans for infill in infills],
        ledger,
        {infill.id: infill.reason for infill in infills if infill.reason is not None},
        n_unanswered,
        [infill.id for infill in infills],
        [infill.history for infill in infills],
    )
