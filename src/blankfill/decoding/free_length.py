"""Where a causal model ends a blank of free length: a blank is one word, which lasts as long as the model continues it."""

from dataclasses import dataclass, field

import torch
from transformers import PreTrainedTokenizerBase

from ..slots.marks import INSIDE, all_tokens
from ..slots.rows import SlotKind
from ..slots.sampling import Key, Sampling
from ..slots.utf8 import spell_bytes
from ..slots.vocabulary import check_finite
from ..text import SPELT, Written
from .walks import Walk, Write


@dataclass
class OpenWalk(Walk):
    """A document whose blanks have one slot each to begin with; `answers` has the tokens written into each blank.

    A blank gets at most `max_length` tokens, and all together `spare` more than one each (None: no limit). What follows a
    token is predicted at `mask_id`, at the next position (None: at the token itself); the open blank is decided when
    `until` tokens are read.
    """

    max_length: int = 4
    spare: int | None = None
    mask_id: int | None = None
    answers: list[list[int]] = field(default_factory=list)
    is_open: bool = False
    until: int = 0
    n_passes: int = 0

    @property
    def n_filled(self) -> int:
        return sum(map(len, self.answers))

    def most(self) -> int:
        per_slot = 1 if self.mask_id is None else 2
        return len(self.ids) + per_slot * (self.max_length - 1) * len(self.writes)

    def n_ahead(self) -> int:
        """Return how many tokens are read before something is written or decided; 0 when finished."""
        if self.is_open:
            return self.until - self.n_read
        return super().n_ahead()

    def is_at_slot(self) -> bool:
        """Return whether the first token of a blank is written next."""
        return not self.is_open and self.n_written < len(self.writes) and not self.n_ahead()

    def write(self, token: int) -> None:
        """Write the first token of a blank."""
        super().write(token)
        self.answers.append([token])
        self._open()

    def extend(self, token: int) -> None:
        """Write one more token of a blank; what follows moves by one place."""
        self.row.written.append(Written(self.n_passes, self.n_written - 1, len(self.answers[-1]), token))
        self.answers[-1].append(token)
        self._insert(self.n_read, token, 1 if self.mask_id is None else 0)
        self.spare = None if self.spare is None else self.spare - 1
        self._open()

    def _insert(self, place: int, token: int, further: int) -> None:
        """Insert a token to read, `further` positions after the token before it."""
        self.ids.insert(place, token)
        if self.positions:
            self.positions.insert(place, self.positions[place - 1] + further)
        self.writes[self.n_written :] = [write + 1 for write in self.writes[self.n_written :]]

    def _open(self) -> None:
        self.is_open = len(self.answers[-1]) < self.max_length and (self.spare is None or self.spare > 0)
        self.until = self.n_read + 1
        if self.is_open and self.mask_id is not None:
            self._insert(self.until, self.mask_id, 1)
            self.until += 1


def leave_open(walk: Walk, max_length: int, spare: int | None) -> OpenWalk:
    """Return a walk over one slot per blank that may write more; the last token is read too, to see if it goes on.

    With positions of its own it reads a mask before each slot, at the same position (see `read_answers`).
    """
    positions = [*walk.positions, walk.positions[-1]] if walk.positions else None
    mask_id = walk.ids[-1] if walk.positions else None
    return OpenWalk(
        walk.row,
        [*walk.ids, 0],
        positions,
        [*walk.writes],
        prefix=walk.prefix,
        max_length=max_length,
        spare=spare,
        mask_id=mask_id,
    )


def continues_word(tokenizer: PreTrainedTokenizerBase, bias: torch.Tensor) -> torch.Tensor:
    """Return which tokens (vocabulary, bool) continue a word: none that may start one, no punctuation, no half character.

    Only vocabularies with `##`, `Ġ` or `▁` have any; in others every blank gets one token.
    """
    tokens = all_tokens(tokenizer)
    of_bytes = spell_bytes(tokenizer, tokens)
    texts = [
        token.removeprefix(INSIDE) if spelt is None else spelt.decode(errors="replace")
        for token, spelt in zip(tokens, of_bytes, strict=True)
    ]
    continuing = (bias[SlotKind.LAST] == 0) & (bias[SlotKind.AFTER_SPACE] != 0)
    if of_bytes != [None] * len(tokens):
        continuing &= bias[SlotKind.ONLY] == 0
    continuing[: len(tokens)] &= torch.tensor([bool(SPELT.match(text)) for text in texts], device=bias.device)
    return continuing


def write_freely(tokenizer: PreTrainedTokenizerBase, bias: torch.Tensor, sampling: Sampling) -> Write:
    """Return a function that writes: an open blank gets a token drawn from all, and ends unless it continues the word."""
    legal, continues = bias.amax(0), continues_word(tokenizer, bias).tolist()

    def write(here: list[OpenWalk], logits: torch.Tensor) -> None:
        check_finite(logits + legal, [document.row.id for document in here])
        opened = [i for i, document in enumerate(here) if document.is_open]
        keys: list[Key] = [(here[i].row.id, here[i].n_written - 1, len(here[i].answers[-1])) for i in opened]
        for i, token in zip(opened, sampling(logits[opened] + legal, keys), strict=True):
            here[i].is_open = False
            if continues[token]:
                here[i].extend(token)
        first = [i for i, document in enumerate(here) if document.is_at_slot()]
        kinds = [here[i].row.kinds[here[i].n_written] for i in first]
        keys = [(here[i].row.id, here[i].n_written) for i in first]
        for i, token in zip(first, sampling(logits[first] + bias[kinds], keys), strict=True):
            here[i].write(token)
        for document in here:
            document.n_passes += 1

    return write
