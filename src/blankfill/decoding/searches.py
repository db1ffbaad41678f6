"""What look-ahead knows of a document: its open candidates, their scores, and what is to be read next."""

import torch

from ..slots.rows import TokenRow

DIGITS = 4  # scores are rounded, so that the last bits of a sum decide nothing


class Search:
    """A document being filled: `parts` are the tokens to read next, one list per open candidate.

    `answers` and `scores` are the tokens and the log-likelihood (nats) of each candidate; `chosen` is the number of the
    one that was just decided on, until it is taken note of.
    """

    def __init__(self, row: TokenRow, n_candidates: int, lookahead: int):
        self.row, self.n_candidates, self.lookahead = row, n_candidates, min(lookahead, len(row.ids))
        self.blanks = [row.slots_of(blank) for blank in range(row.blank_of[-1] + 1)]
        self.parts, self.scores = [row.ids[: row.slots[0]]], [0.0]
        self.answers: list[list[int]] = [[]]
        self.rest: list[int] = []
        self.is_deciding = False
        self.chosen: int | None = None
        self.n_read = self.n_scored = self.n_passes = self.depth = 0

    @property
    def n_filled(self) -> int:
        """Return how many tokens were written when all blanks are filled."""
        return len(self.row.slots)

    @property
    def is_finished(self) -> bool:
        """Return whether every blank is filled."""
        return not self.blanks

    @property
    def most(self) -> int:
        """Return how many tokens the document may keep and read at a time."""
        longest = max(map(len, self.blanks), default=0)
        return 2 * len(self.row.ids) + self.n_candidates * (longest + self.lookahead + 1)

    def count(self, n_scored: int) -> None:
        """Count one pass over the parts, and how often the output layer is used."""
        self.n_passes += 1
        self.n_read += sum(map(len, self.parts))
        self.n_scored += n_scored
        self.depth += len(self.parts[0])

    def targets(self) -> list[list[int]]:
        """Return the kept tokens that decide, of each part from its second token on; none before a decision."""
        return [branch[1:] for branch in self.parts] if self.is_deciding else []

    def hear(self, likelihoods: list[float]) -> bool:
        """Take the log-likelihood of each part's kept tokens; return whether tokens are to be proposed next."""
        if self.is_deciding:
            self.scores = [
                score + likelihood for score, likelihood in zip(self.scores, likelihoods, strict=True)
            ]
            self._decide(self.rest)
            return not (self.is_finished or self.parts[0])
        return True

    def propose(self, values: torch.Tensor, tokens: torch.Tensor) -> None:
        """Take the likeliest tokens (parts, n) after each part, best first, and their log-probabilities."""
        slots, likely, best = self.blanks[0], values.tolist(), tokens.tolist()
        if self.answers == [[]]:
            self.answers, self.scores = [[token] for token in best[0]], likely[0]
        else:
            self.answers = [[*answer, row[0]] for answer, row in zip(self.answers, best, strict=True)]
            self.scores = [score + row[0] for score, row in zip(self.scores, likely, strict=True)]
        self.parts = [[answer[-1]] for answer in self.answers]
        if len(self.answers[0]) == len(slots):
            following = self._kept_after(slots)
            read, self.rest = following[: self.lookahead], following[self.lookahead :]
            self.is_deciding = bool(read)
            self.parts = [branch + read for branch in self.parts]
            if not read:
                self._decide(None)

    def kind(self):
        """Return the kind of the slot that is written next."""
        return self.row.kinds[self.blanks[0][len(self.answers[0])]]

    def _kept_after(self, slots: list[int]) -> list[int]:
        end = self.row.slots[slots[-1] + 1] if len(self.blanks) > 1 else len(self.row.ids)
        return self.row.ids[self.row.slots[slots[-1]] + 1 : end]

    def _decide(self, following: list[int] | None) -> None:
        """Write the best candidate; `following` is to be read after it, None: its last token."""
        rounded = [round(score, DIGITS) for score in self.scores]
        best = self.chosen = rounded.index(max(rounded))
        for slot, token in zip(self.blanks.pop(0), self.answers[best], strict=True):
            self.row.write(slot, token, self.n_passes - 1)
        self.parts = [self.parts[best] if following is None else following]
        self.answers, self.scores, self.rest, self.is_deciding = [[]], [0.0], [], False
