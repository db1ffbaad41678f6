"""The parts of a network and their sizes: hidden states, output layer, parameters, positions, FLOPs."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import torch
from transformers import PreTrainedModel

from ..errors import BlankfillError
from .families import family_of

HEAD_ROWS = 256  # positions through the output layer at a time: their logits stay in a CPU's cache
LIMITS = (
    "max_position_embeddings",
    "max_seq_len",
    "max_encoder_position_embeddings",
    "max_target_positions",
)  # settings that say how many tokens fit
DECODER_LIMIT = "max_decoder_position_embeddings"
# Settings that say how many tokens a layer reads, and what the kinds of layer that do so are called.
ATTENTION_WINDOWS = {
    "sliding_window": "sliding",
    "sliding_window_size": "sliding",
    "attention_chunk_size": "chunk",
    "window_size": "local",
}


def _with_head(model: Any) -> Any:
    """Return the part with the output layer: the decoder of an encoder-decoder of two models, else the model."""
    return model.decoder if model.config.model_type == "encoder-decoder" else model


def _head_modules(model: PreTrainedModel) -> list[torch.nn.Module]:
    names = family_of(model.config).head
    return [getattr(model, name) for name in names] or [model.get_output_embeddings()]


def hidden_states(model: PreTrainedModel, inputs: dict[str, Any]) -> torch.Tensor:
    """Return what `output_layer` takes: the last hidden states (batch, length, width).

    `inputs` has input_ids, usually attention_mask, and decoder_input_ids for an encoder-decoder; anything else
    (past_key_values, use_cache) is passed on, and nothing is cached unless asked. Positions count from 0 whatever the
    model. Of a family without a known head these are the logits.
    """
    if getattr(model.config, "use_cache", False) and "past_key_values" not in inputs:
        inputs = {"use_cache": False} | inputs
    if "position_ids" in inputs and (first := first_position(model)):
        inputs = inputs | {"position_ids": inputs["position_ids"] + first}
    if not family_of(_with_head(model).config).head:
        return model(**inputs).logits
    base: Any = model.base_model
    if "decoder_input_ids" not in inputs:
        return base(**inputs).last_hidden_state
    seen = inputs.get("attention_mask")
    encoded = base.encoder(input_ids=inputs["input_ids"], attention_mask=seen)
    return base.decoder.base_model(
        input_ids=inputs["decoder_input_ids"],
        encoder_hidden_states=encoded.last_hidden_state,
        encoder_attention_mask=seen,
        use_cache=False,
    ).last_hidden_state


def output_layer(model: PreTrainedModel) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the function from rows of `hidden_states` (n, width) to logits (n, vocabulary).

    T5 scales a tied output layer down; BART adds a bias that is not a parameter.
    """
    carrier = _with_head(model)
    if not family_of(carrier.config).head:
        return torch.nn.Identity()
    modules = _head_modules(carrier)
    if getattr(carrier.config, "scale_decoder_outputs", False):
        return lambda hidden: modules[0](hidden * carrier.config.d_model**-0.5)
    if hasattr(carrier, "final_logits_bias"):
        return lambda hidden: modules[0](hidden) + carrier.final_logits_bias[0]
    return modules[0] if len(modules) == 1 else lambda hidden: reduce(lambda x, f: f(x), modules, hidden)


def split_output_layer(
    model: PreTrainedModel,
) -> tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor, torch.Tensor | None] | None:
    """Return `output_layer` as the function before its last product, and the weight and bias (or None) of that product.

    None for a family without a known head, and for a last module that is no plain linear layer.
    """
    carrier = _with_head(model)
    linear, whole = carrier.get_output_embeddings(), output_layer(model)
    if not family_of(carrier.config).head or type(linear) is not torch.nn.Linear:
        return None
    if hasattr(carrier, "final_logits_bias"):
        return torch.nn.Identity(), linear.weight, carrier.final_logits_bias[0]

    def before(hidden: torch.Tensor) -> torch.Tensor:
        vars(linear)["forward"] = torch.nn.Identity()
        try:
            return whole(hidden)
        finally:
            del vars(linear)["forward"]

    return before, linear.weight, linear.bias


def _embeddings(model: PreTrainedModel) -> set[int]:
    """Return the ids of the embedding matrices and of the norms that belong to them."""
    tables = [module for module in model.modules() if isinstance(module, torch.nn.Embedding)]
    near = [parameter for name, parameter in model.named_parameters() if ".embeddings." in name]
    return {id(p) for p in [*near, *(table.weight for table in tables)]}


def _head(model: PreTrainedModel) -> set[int]:
    return {id(p) for module in _head_modules(_with_head(model)) for p in module.parameters()}


def head_parameters(model: PreTrainedModel) -> list[str]:
    """Return the names of the output layer's own parameters (those not tied to the embeddings)."""
    ids = _head(model) - _embeddings(model)
    return [name for name, parameter in model.named_parameters() if id(parameter) in ids]


def count_parameters(model: PreTrainedModel) -> dict[str, int]:
    """Return the parameters that every position passes (`body`) and those of the output layer (`head`).

    A matrix shared by the embeddings and the output layer counts in both.
    """
    sizes = {id(parameter): parameter.numel() for parameter in model.parameters()}
    embeddings, head = _embeddings(model), _head(model)
    return {
        "body": sum(size for key, size in sizes.items() if key not in embeddings | head),
        "head": sum(sizes[key] for key in head),
        "embeddings": sum(sizes[key] for key in embeddings),
    }


def vocabulary_size(model: PreTrainedModel) -> int:
    """Return how many tokens a model knows; BlankfillError for one that does not say."""
    n = getattr(model.config.get_text_config(decoder=True), "vocab_size", None)
    if not isinstance(n, int):
        raise BlankfillError(
            f"{type(model).__name__} has no vocabulary (vocab_size): it is no language model of text"
        )
    return n


def _position_tables(model: PreTrainedModel) -> list[Any]:
    """Return the tables of learned positions: embeddings whose name says so, without those of distances."""
    named: list[tuple[str, Any]] = [
        (name.rpartition(".")[2], module) for name, module in model.named_modules()
    ]
    return [
        table
        for name, table in named
        if "pos" in name and "rel" not in name and hasattr(table, "padding_idx")
    ]


def first_position(model: PreTrainedModel) -> int:
    """Return the number that a model gives to the position of the first token.

    A table of positions with a padding row (RoBERTa's) keeps that row for padding: positions start after it.
    """
    rows = [getattr(table, "padding_idx", None) for table in _position_tables(model)]
    return next((row + 1 for row in rows if row is not None), 0)


def position_limit(model: PreTrainedModel, is_written: bool = False) -> int | None:
    """Return how many tokens fit the model, special tokens included; None where positions have no limit (T5).

    Of an encoder-decoder these are the tokens that it reads, or with `is_written` those that it writes.
    """
    config: Any = model.config
    if config.model_type == "encoder-decoder":
        config = config.decoder if is_written else config.encoder
    config = config.get_text_config()
    named = [getattr(config, name, None) for name in (*LIMITS, *[DECODER_LIMIT] * is_written)]
    limits = [limit - first_position(model) for limit in named if isinstance(limit, int) and limit > 0]
    if limits and getattr(config, "attention_type", None) == "block_sparse":
        # BigBird leaves this attention for good at the first short text: a long one would depend on those before it
        limits.append((5 + 2 * config.num_random_blocks) * config.block_size)
    return min(limits, default=None)


def attention_window(model: PreTrainedModel) -> int | None:
    """Return the length from which some layer does not read a whole text, in tokens; None where all layers do."""
    config: Any = model.config.get_text_config(decoder=True)
    layers = getattr(config, "layer_types", None) or getattr(config, "attention_layers", None)
    windows = [
        getattr(config, name, None)
        for name, kind in ATTENTION_WINDOWS.items()
        if layers is None or any(kind in layer for layer in layers)
    ]
    return min((window for window in windows if isinstance(window, int) and window > 0), default=None)


def forward_flops(parameters: dict[str, int], tokens: int, scored: int) -> int:
    """Return the FLOPs of one forward pass: 2 per parameter and token, the output layer at `scored` positions only.

    The attention products themselves, a few percent at these lengths, are left out, as in 6ND accounting.
    """
    return 2 * parameters["body"] * tokens + 2 * parameters["head"] * scored
