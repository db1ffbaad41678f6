"""How a causal model fills with both sides visible: it reads the text with masks, then generates the answers."""

from functools import partial

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..errors import BlankfillError
from ..networks.checkpoints import edge_tokens
from ..networks.evaluation import in_evaluation_mode
from ..networks.layouts import OPENING, lay_out_answers
from ..slots.ledger import Ledger
from ..slots.rows import TokenRow
from ..slots.sampling import GREEDY, Sampling
from ..text import BlankedText, FilledText
from .causal import Plan, check_positions, fill_by_walking
from .walking import Walk


@in_evaluation_mode
def fill_infill(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    length: str = "known",
    max_length: int = 4,
    sampling: Sampling = GREEDY,
    batch_tokens: int = 32768,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks with a causal model trained with objective `infill`, which sees both sides of each blank.

    A blank is marked by as many masks as its original has tokens, and filled with as many; answers are generated from
    left to right, each seeing those before. length `one` and `free` are those of `fill_causal`, with one mask per
    blank; a longer answer then uses the positions of the text that follows. Raises BlankfillError for a model or tokenizer
    that cannot do this, and for a text that does not fit the model.
    """
    plan = plan_infill(model, tokenizer)
    return fill_by_walking(model, tokenizer, blanked, plan, length, max_length, sampling, batch_tokens)


def plan_infill(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Plan:
    """Return how to read a row as laid out by objective `infill`; BlankfillError for a model or tokenizer that cannot."""
    closing = edge_tokens(tokenizer)[1]
    if tokenizer.mask_token_id is None or not closing:
        raise BlankfillError(
            "infilling needs a tokenizer with a mask and a token that ends a text: train a model with objective=infill, "
            "or fill from the left context"
        )
    check_positions(model, "infilling")
    return partial(read_answers, mask_id=tokenizer.mask_token_id, opening_id=closing[0])


def read_answers(row: TokenRow, mask_id: int, opening_id: int) -> Walk:
    """Plan to read a masked text and then its answers (see `lay_out_answers`); the last token is never read."""
    row.mask(mask_id)
    laid_out = lay_out_answers(row.slots, [not inside for inside in row.inside])
    sources, positions = (numbers.tolist() for numbers in laid_out)
    n_text, n_steps = len(row.ids), len(sources) - 1
    answers = [opening_id if source == OPENING else row.ids[source] for source in sources[:-1]]
    writes = [n_text + step for step, source in enumerate(sources) if source != OPENING]
    return Walk(row, row.ids + answers, [*range(n_text), *positions[:-1]], writes, 1 + n_steps)
