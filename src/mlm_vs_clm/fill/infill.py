"""How a causal model fills with both sides in sight: it reads the text with marks, then writes the answers."""

from dataclasses import dataclass
from inspect import signature

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..blanks import BlankedText, FilledText
from ..errors import StudyError
from ..models.objectives import OPENING, lay_out_answers
from .causal import fill_by_walking
from .ledger import Ledger
from .rows import Row
from .sampling import Sampling
from .walking import Walk


@dataclass
class Answers:
    """A document whose blanks are marked, and what is read after it; see `lay_out_answers`."""

    row: Row
    sources: list[int]
    positions: list[int]

    @property
    def n_steps(self) -> int:
        """Return how many sub-words are read; the last one is written and never read."""
        return len(self.sources) - 1


def fill_infill(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    length: str = "known",
    max_length: int = 4,
    sampling: Sampling | None = None,
    seed: int = 0,
    batch_tokens: int = 32768,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks with a causal model trained as objective `infill`, which sees both sides of each blank.

    A blank is marked by as many masks as its original has sub-words, and filled with as many; answers are
    written from left to right, each in sight of those before. length `one` and `free` are those of `fill_causal`, with
    one mask a blank; a longer answer then goes on over the positions of what stands behind it in the text. Raises StudyError for a model or tokenizer that
    cannot do this, and for a text that does not fit the model.
    """
    check_infill(model, tokenizer)
    marks = tokenizer.mask_token_id, tokenizer.sep_token_id
    return fill_by_walking(
        model,
        tokenizer,
        blanked,
        lambda row: read_answers(mark_blanks(row, marks[0]), marks[1]),
        length,
        max_length,
        sampling or Sampling(seed=seed),
        batch_tokens,
    )


def check_infill(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raise StudyError for a model or a tokenizer that cannot carry the layout of objective `infill`."""
    if tokenizer.mask_token_id is None or tokenizer.sep_token_id is None:
        raise StudyError(
            "infilling needs a tokenizer with a mask and a separator: train a model with objective=infill, or fill "
            "from the left context"
        )
    if "position_ids" not in signature(model.forward).parameters:
        raise StudyError(
            f"infilling says at which position a sub-word stands, and {model.config.model_type} models do not ask: "
            "fill from the left context"
        )


def mark_blanks(row: Row, mark_id: int) -> Answers:
    """Hide every slot of a row under a mark and plan its answers; the last sub-word is written but never read."""
    for place in row.slots:
        row.ids[place] = mark_id
    sources, positions = lay_out_answers(row.slots, [not inside for inside in row.inside])
    return Answers(row, sources.tolist(), positions.tolist())


def read_answers(work: Answers, opening_id: int) -> Walk:
    """Plan to read a marked text and then its answers, each slot written after what stands before it there."""
    n_text, answers = len(work.row.ids), work.sources[:-1]
    writes = [n_text + step for step, source in enumerate(work.sources) if source != OPENING]
    return Walk(
        work.row,
        work.row.ids + [opening_id if source == OPENING else work.row.ids[source] for source in answers],
        [*range(n_text), *work.positions[:-1]],
        writes,
        1 + work.n_steps,
    )
