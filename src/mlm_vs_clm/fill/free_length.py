"""Where a causal model ends a blank of free length: a blank is one word, which goes on as long as the model goes on."""

from dataclasses import dataclass, field

import torch
from transformers import PreTrainedTokenizerBase

from .rows import AFTER_SPACE, GOES_ON
from .sampling import Sampling
from .vocabulary import GOES_ON as SIGN
from .walking import Walk, Write


@dataclass
class OpenWalk(Walk):
    """A document whose blanks have one slot each to begin with; `answers` has the sub-words of each blank written.

    A blank takes `max_length` sub-words at most, and all of them `room` more than one each (None: any number).
    """

    max_length: int = 4
    room: int | None = None
    answers: list[list[int]] = field(default_factory=list)
    is_open: bool = False

    @property
    def n_scored(self) -> int:
        """Return how often the output layer was asked."""
        return self.n_passes

    @property
    def n_filled(self) -> int:
        """Return how many sub-words were written."""
        return sum(map(len, self.answers))

    def most(self) -> int:
        """Return how many sub-words are read in all, at most."""
        return len(self.ids) + (self.max_length - 1) * len(self.writes)

    def n_ahead(self) -> int:
        """Return how many sub-words are read before something is written or decided; 0 when finished."""
        if self.is_open:
            return self.n_echoed - self.n_read
        return super().n_ahead()

    @property
    def n_echoed(self) -> int:
        """Return how many sub-words are read once all that was written is read."""
        return self.writes[self.n_written - 1] + len(self.answers[-1])

    def is_at_slot(self) -> bool:
        """Tell whether the first sub-word of a blank is written next."""
        return not self.is_open and self.n_written < len(self.writes) and not self.n_ahead()

    def write(self, token: int) -> None:
        """Write the first sub-word of a blank."""
        super().write(token)
        self.answers.append([token])
        self._open()

    def go_on(self, token: int) -> None:
        """Write one more sub-word of a blank; what comes later moves on by one place."""
        self.answers[-1].append(token)
        self.ids.insert(self.n_read, token)
        if self.positions:
            self.positions.insert(self.n_read, self.positions[self.n_read - 1] + 1)
        self.writes[self.n_written :] = [place + 1 for place in self.writes[self.n_written :]]
        self.room = None if self.room is None else self.room - 1
        self._open()

    def _open(self) -> None:
        self.is_open = len(self.answers[-1]) < self.max_length and (self.room is None or self.room > 0)


def leave_open(walk: Walk, max_length: int, room: int | None) -> OpenWalk:
    """Return a walk over one slot a blank that may write more; its last sub-word is read too, to see if it goes on."""
    positions = [*walk.positions, walk.positions[-1] + 1] if walk.positions else None
    writes = list(walk.writes)
    return OpenWalk(walk.row, [*walk.ids, 0], positions, writes, 0, max_length=max_length, room=room)


def goes_on(tokenizer: PreTrainedTokenizerBase, bias: torch.Tensor) -> torch.Tensor:
    """Return which sub-words (vocabulary, bool) go on a word: none that may start one, and no punctuation.

    A vocabulary that does not tell (`##`, `Ġ`, `▁`) has none, so every blank then takes one sub-word.
    """
    pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    spelt = [piece.removeprefix(SIGN)[:1].isalnum() for piece in pieces]
    found = (bias[GOES_ON] == 0) & (bias[AFTER_SPACE] != 0)
    found[: len(pieces)] &= torch.tensor(spelt, device=bias.device)
    return found


def write_freely(tokenizer: PreTrainedTokenizerBase, bias: torch.Tensor, sampling: Sampling) -> Write:
    """Return what writes: an open blank gets a sub-word drawn from all, and ends unless that one goes on the word."""
    legal, going = bias.amax(0), goes_on(tokenizer, bias).tolist()

    def write(here: list[OpenWalk], logits: torch.Tensor) -> None:
        for one in here:
            one.n_passes += 1
        opened = [i for i, one in enumerate(here) if one.is_open]
        keys = [(here[i].row.id, here[i].n_written - 1, len(here[i].answers[-1])) for i in opened]
        for i, token in zip(opened, sampling(logits[opened] + legal, keys), strict=True):
            here[i].is_open = False
            if going[token]:
                here[i].go_on(token)
        first = [i for i, one in enumerate(here) if one.is_at_slot()]
        kinds = [here[i].row.kinds[here[i].n_written] for i in first]
        keys = [(here[i].row.id, here[i].n_written) for i in first]
        for i, token in zip(first, sampling(logits[first] + bias[kinds], keys), strict=True):
            here[i].write(token)

    return write
