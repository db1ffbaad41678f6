"""What each document cost to fill, counted again by the rule of the ledger: no network runs, so nothing is filled.

The ledger of a cell holds sums. How many passes a document takes follows from its slots and the arm's order, unless
the network has a say in it; the counts of all documents must then add up to the ledger, or none is given.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..blanks import BlankedText
from ..fill.infill import mark_blanks
from ..fill.lengths import one
from ..fill.masked import PLANNERS, Work
from ..fill.orders import Pace
from ..fill.rows import Row, to_rows
from ..models.kernels.trimming import trim_sizes
from ..models.sizes import count_parameters, forward_flops

KINDS = {"masked": "masked", "causal": "causal", "infill": "causal"}
PACES = ("passes", "threshold", "entropy_bound", "sweeps")


@dataclass(frozen=True)
class DocumentCost:
    """What filling one document takes: its sub-words, and the ledger's three counts."""

    id: str
    subwords: int
    passes: int
    token_forwards: int
    flops: int


@dataclass(frozen=True)
class Sizes:
    """A network without its weights, and its parameters as the ledger counts them."""

    model: PreTrainedModel
    parameters: dict[str, int]


def explain_unknown(arm: dict) -> str:
    """Return why the cost of a document does not follow from its blanks; nothing where it does."""
    if arm["writer"] not in KINDS:
        return f"an arm of writer {arm['writer']} decides itself how much it writes"
    if arm["length"] == "free":
        return "the network chooses how many sub-words a blank holds"
    if arm.get("threshold") or arm.get("entropy_bound"):
        return "the network's certainty decides how many passes there are"
    return ""


def open_sizes(folder: Path, writer: str) -> Sizes:
    """Return the network of a checkpoint folder by its shape alone, on no device."""
    import torch
    from transformers import AutoConfig

    from ..models.checkpoints import AUTO_CLASSES

    with torch.device("meta"):
        model = AUTO_CLASSES[KINDS[writer]].from_config(AutoConfig.from_pretrained(folder))
    return Sizes(model, count_parameters(model))


def tokenize_blanked(
    arm: dict, blanked: Sequence[BlankedText], tokenizer: PreTrainedTokenizerBase
) -> list[Row]:
    """Return the documents as sub-words with the slots that the arm fills."""
    texts = list(blanked)
    lengths = one(texts, None, None, None, 1) if arm["length"] == "one" else None
    return to_rows(texts, tokenizer, None, lengths)


def cost_documents(arm: dict, rows: list[Row], sizes: Sizes) -> list[DocumentCost]:
    """Return the cost of every document by the rule of the arm's writer; `explain_unknown` must have no objection."""
    return [COUNTERS[arm["writer"]](arm, row, sizes) for row in rows]


def _cost_masked(arm: dict, row: Row, sizes: Sizes) -> DocumentCost:
    """Go through the order without a network: what a slot is filled with changes no count."""
    pace = Pace(arm["per_pass"], **{name: arm[name] for name in PACES if name in arm})
    order = PLANNERS[arm["context"]](row, arm["order"], pace, arm["seed"])
    work, passes, tokens, flops = Work(row, order, arm["context"]), 0, 0, 0
    while looked := list(order.look()):
        seen = len(work.view(0, sizes.model.config.max_position_embeddings))
        passes, tokens = passes + 1, tokens + seen
        flops += forward_flops(trim_sizes(sizes.model, sizes.parameters, len(looked)), seen, len(looked))
        order.keep([0.0] * len(looked))
    return DocumentCost(row.id, len(row.ids), passes, tokens, flops)


def _cost_causal(arm: dict, row: Row, sizes: Sizes) -> DocumentCost:
    """Each sub-word up to the last slot goes through once; the output layer is read at the slots."""
    n, tokens = len(row.slots), row.slots[-1] if row.slots else 0
    return DocumentCost(row.id, len(row.ids), n, tokens, forward_flops(sizes.parameters, tokens, n))


def _cost_infill(arm: dict, row: Row, sizes: Sizes) -> DocumentCost:
    """The text with its marks goes through once, then the answers, a sub-word a pass."""
    if not row.slots:
        return DocumentCost(row.id, len(row.ids), 0, 0, 0)
    n_steps = mark_blanks(row, 0).n_steps
    tokens = len(row.ids) + n_steps
    return DocumentCost(
        row.id,
        len(row.ids),
        1 + n_steps,
        tokens,
        forward_flops(sizes.parameters, tokens, len(row.slots)),
    )


COUNTERS: dict[str, Callable[[dict, Row, Sizes], DocumentCost]] = {
    "masked": _cost_masked,
    "causal": _cost_causal,
    "infill": _cost_infill,
}


def add_up(costs: Sequence[DocumentCost]) -> dict[str, int]:
    """Return the sums that the ledger of the cell holds."""
    names = ("passes", "token_forwards", "flops")
    return {name: sum(getattr(cost, name) for cost in costs) for name in names}
