"""What is known of a type of network, in one table: its output layer, the parts of its layers, what hides its right side."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from transformers import PreTrainedConfig, PreTrainedModel


class Layer(NamedTuple):
    """The parts of a layer, each with the products and norms of BERT's; `block` has the attention and its output."""

    block: Any
    attention: Any
    attention_output: Any
    intermediate: Any
    output: Any


class Parts(NamedTuple):
    """The parts of a network that is read layer by layer; `stack` has the layers as they stand in the encoder."""

    embeddings: Any
    encoder: Any
    stack: Any
    layers: list[Layer]


def bert_parts(base: Any) -> Parts:
    """Return the parts of a BERT, or of a network whose parts have the same names."""
    stack = base.encoder.layer
    blocks = [(layer.attention, layer.intermediate, layer.output) for layer in stack]
    layers = [Layer(block, block.self, block.output, *feed_forward) for block, *feed_forward in blocks]
    return Parts(base.embeddings, base.encoder, stack, layers)


@dataclass(frozen=True)
class Family:
    """Networks of the same make; of one that is not in the table nothing is known.

    `head`: the modules between the last hidden states and the logits; a network without any is run whole. `parts`: the parts of a
    network without its head; None where layers are run whole. `switch`: the setting that hides the right side of a text.
    """

    head: tuple[str, ...] = ()
    parts: Callable[[Any], Parts] | None = None
    switch: str = "is_causal"


ROBERTA = Family(("lm_head",), bert_parts, "is_decoder")
FAMILIES = {"bert": replace(ROBERTA, head=("cls",)), "modernbert": Family(("head", "decoder"))}
FAMILIES |= dict.fromkeys(("roberta", "xlm-roberta", "camembert"), ROBERTA)
FAMILIES |= dict.fromkeys(("gpt2", "llama", "t5", "bart"), Family(("lm_head",)))
BERT_LIKE = tuple(name for name, family in FAMILIES.items() if family.parts)


def family_of(config: PreTrainedConfig) -> Family:
    """Return the family of a network by its configuration."""
    return FAMILIES.get(config.model_type, Family())


def parts_of(model: PreTrainedModel) -> Parts | None:
    """Return the parts of a network; None for a family whose layers are run whole."""
    parts = family_of(model.config).parts
    return parts(model.base_model) if parts else None
