"""How a causal model writes a text anew: it reads the kept words, then a separator, then generates the whole text."""

from dataclasses import dataclass
from functools import partial

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..axes import check_values
from ..errors import BlankfillError
from ..networks.checkpoints import edge_tokens
from ..networks.evaluation import in_evaluation_mode
from ..networks.sizes import position_limit
from ..slots.ledger import Ledger
from ..slots.rows import TokenRow, to_rows
from ..slots.vocabulary import check_finite
from ..text import BlankedText, DocumentError, FilledText
from .causal import count_walks
from .seq2seq import settle_whole
from .walking import walk
from .walks import Walk


@dataclass
class TextWalk(Walk):
    """Kept tokens to read, then a text that grows until one of `closings` is written; `writes` has how long both may be together."""

    closings: frozenset[int] = frozenset()

    def n_ahead(self) -> int:
        """Return how many tokens are read before the next is written; 0 when the text has ended."""
        is_closed = self.n_written and self.ids[-1] in self.closings
        return 0 if is_closed or len(self.ids) == self.most() else len(self.ids) - self.n_read

    @property
    def written(self) -> list[int]:
        """Return the tokens that were written."""
        return self.ids[len(self.ids) - self.n_written :]

    def write(self, token: int) -> None:
        """Write the next token of the text, and where it is read."""
        self.ids.append(token)
        self.n_written += 1


@in_evaluation_mode
def fill_kept(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    max_new_tokens: int = 256,
    batch_tokens: int = 32768,
) -> tuple[list[FilledText], Ledger]:
    """Generate every text greedily, at most `max_new_tokens` tokens, with a causal model trained with objective `kept`.

    The model reads the kept words alone, without masks; the token that closes a text separates them from what it
    writes. The fills are read off an alignment with the kept words. Equal inputs are read once; the ledger counts each
    document as if it were alone.

    Raises BlankfillError for a tokenizer without a token that closes a text, DocumentError for kept words that leave no
    room.
    """
    check_values("kept", {"max_new_tokens": max_new_tokens})
    if not (closing := edge_tokens(tokenizer)[1]):
        raise BlankfillError(
            "writing from kept words needs a tokenizer with a token that closes a text (SEP or EOS)"
        )
    plan = partial(plan_text, n_most=max_new_tokens, limit=position_limit(model), closings=frozenset(closing))
    distinct: dict[tuple[int, ...], TextWalk] = {}
    walks: list[TextWalk] = []
    for row in to_rows(blanked, tokenizer, None):
        slots = set(row.slots)
        kept_ids = tuple(token for place, token in enumerate(row.ids) if place not in slots)
        if kept_ids not in distinct:
            distinct[kept_ids] = plan(row, [*kept_ids])
        walks.append(distinct[kept_ids])
    walk(model, [*distinct.values()], write_best, batch_tokens)
    settle = settle_whole(tokenizer)
    filled = [settle(text, document.written) for text, document in zip(blanked, walks, strict=True)]
    return filled, count_walks(model, blanked, walks)


def plan_text(
    row: TokenRow, kept_ids: list[int], n_most: int, limit: int | None, closings: frozenset[int]
) -> TextWalk:
    """Plan to read tokens, then to write `n_most` as far as the network's `limit` lets; DocumentError where it has no room."""
    room = limit - len(kept_ids) if limit else n_most
    if room < 1:
        raise DocumentError(row.id, f"{len(kept_ids)} kept tokens leave no room in the model's {limit}")
    return TextWalk(row, kept_ids, None, [len(kept_ids) + min(n_most, room)], closings=closings)


def write_best(here: list[TextWalk], logits: torch.Tensor) -> None:
    """Write the most likely token of each text; BlankfillError for logits that are not finite."""
    check_finite(logits, [document.row.id for document in here])
    for document, token in zip(here, logits.argmax(dim=-1).tolist(), strict=True):
        document.write(token)
