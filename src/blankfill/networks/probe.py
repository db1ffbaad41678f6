"""Which way of reading a network is right: each is tried on two short texts, once per network.

A way is a cache, a padded batch, packed tokens or trimmed layers. It is right if its logits equal those of plain
passes: one text at a time, whole, without a cache and padding, with the network's own attention.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any
from weakref import WeakKeyDictionary

import torch
from transformers import PreTrainedModel

from ..errors import BlankfillError
from .checkpoints import find_reason
from .evaluation import evaluating
from .sizes import vocabulary_size
from .trimming import has_plain_layers, is_changed

TOLERANCE = 1e-4  # of the largest logit
ROUGH = 0.05  # the same in 16 bits, for a network with hooks, or of which there is no small copy in float32
LONG, SHORT = 8, 5  # tokens of the two texts
LARGEST = 500_000_000  # parameters of a copy
N_LAYERS = 2  # of a copy
LENGTH_ROPES = {"longrope", "dynamic"}
MARKS = ("pad", "bos", "eos", "cls", "sep", "mask", "unk", "decoder_start")
Way = Callable[[PreTrainedModel], torch.Tensor]  # from a network to logits (n, vocabulary)
_KNOWN: WeakKeyDictionary[PreTrainedModel, dict[tuple, str]] = WeakKeyDictionary()


def choose_way(model: PreTrainedModel, ways: Mapping[str, Way], *key: Any) -> str | None:
    """Return the name of the first way whose logits equal those of the last, which is the plain one.

    What was found is kept with the network, by the names and `key` (what else the ways depend on). None, and tried
    again the next time: the weights give no finite logits, so nothing can be said. Raises BlankfillError for a network
    that cannot be read even the plain way.
    """
    return [*ways][-1] if reads_by_length(model) else compare_ways(model, ways, *key)


def compare_ways(model: PreTrainedModel, ways: Mapping[str, Way], *key: Any) -> str | None:
    """Return the same of two short texts alone, whatever the network does with longer ones."""
    outcomes = _KNOWN.setdefault(model, {})
    key = (*ways, *key, *_state(model))
    name = outcomes.get(key) or _first_right(model, ways)
    if name:
        outcomes[key] = name
    return name


def refuse_hidden(model: PreTrainedModel) -> None:
    """Raise BlankfillError for weights with a number that is not finite, where attention hides it from the logits."""
    for name, weights in model.named_parameters():
        if weights.is_floating_point() and not torch.isfinite(weights).all():
            raise BlankfillError(
                f"the weights of {type(model).__name__} are not finite ({name}), so it cannot be read: its training diverged, or "
                "its file is damaged"
            )


def reads_by_length(model: PreTrainedModel) -> bool:
    """Return whether the length of a pass changes how its first tokens are read, beyond the lengths that are tried here.

    So it is with rotary positions that are scaled for long texts, and with attention to tokens that are sorted into buckets.
    """
    config = model.config.get_text_config(decoder=True)
    rope = getattr(config, "rope_parameters", None) or {}
    kinds = {entry.get("rope_type") for entry in (rope, *rope.values()) if isinstance(entry, dict)}
    return bool(kinds & LENGTH_ROPES) or "lsh" in (getattr(config, "attn_layers", None) or ())


def probe_texts(model: PreTrainedModel, *excluded: int | None) -> list[list[int]]:
    """Return two short texts of tokens that are no special ones, nor `excluded`."""
    config = model.config.get_text_config(decoder=True)
    marks = {getattr(config, f"{mark}_token_id", None) for mark in MARKS} | {*excluded}
    plain = [token for token in range(vocabulary_size(model)) if token not in marks] or [0]
    spread = [plain[(7 * n + 3) % len(plain)] for n in range(LONG + SHORT)]
    return [spread[:LONG], spread[LONG:]]


def _state(model: PreTrainedModel) -> tuple:
    """Return what may change in a network and change how it is read."""
    config = model.config
    sides = (getattr(config, "is_decoder", None), getattr(config, "is_causal", None))
    changes = (
        has_plain_layers(model),
        id(vars(model).get("forward")),  # one that replaces that of the class
        *model._forward_hooks,
        *model._forward_pre_hooks,
    )
    return (*sides, config._attn_implementation, model.dtype, model.device, *changes)


@torch.inference_mode()
def _first_right(model: PreTrainedModel, ways: Mapping[str, Way]) -> str | None:
    subject, tolerance = _testable(model)
    *candidates, plain = ways
    with evaluating(*{subject, model}):
        try:
            expected = ways[plain](subject)
            if subject is not model:  # which may not run in 16 bits
                ways[plain](model)
        except Exception as error:  # whatever the code of a class may raise
            raise BlankfillError(
                f"{type(model).__name__} cannot be read as a language model of text alone: "
                f"{type(error).__name__}: {find_reason(error)}"
            ) from error
        if not expected.isfinite().any():
            return None
        if expected.isfinite().all():
            refuse_hidden(model)
        return next(
            (name for name in candidates if _is_right(ways[name], subject, expected, tolerance)), plain
        )


def _is_right(way: Way, model: PreTrainedModel, expected: torch.Tensor, tolerance: float) -> bool:
    try:
        logits = way(model)
    except Exception:  # what a class raises that cannot be read this way
        return False
    is_known = expected.isfinite()
    if logits.shape != expected.shape or not torch.equal(is_known, logits.isfinite()):
        return False
    error = (logits - expected)[is_known].abs().max()
    return bool(error <= tolerance * expected[is_known].abs().max())


def _testable(model: PreTrainedModel) -> tuple[PreTrainedModel, float]:
    """Return a network in float32, this or a small copy of its class, and the tolerance.

    A copy would be without the hooks and patches of the network, which may change how it is read.
    """
    if model.dtype not in (torch.bfloat16, torch.float16):
        return model, TOLERANCE
    if any(map(is_changed, model.modules())):
        return model, ROUGH
    try:
        return _copy_small(model), TOLERANCE
    except Exception:  # a class whose configuration cannot be cut
        return model, ROUGH


@torch.inference_mode(False)
def _copy_small(model: PreTrainedModel) -> PreTrainedModel:
    """Return a network of the same class with random weights in float32 and the first layers only."""
    config: Any = deepcopy(model.config)
    for part in (config.encoder, config.decoder) if config.model_type == "encoder-decoder" else (config,):
        _cut_layers(part)
    build = type(model)
    with torch.device("meta"):
        if sum(parameter.numel() for parameter in build(config).parameters()) > LARGEST:
            raise BlankfillError("the copy would be too large")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        copy: Any = build(config).float()
        for parameter in copy.parameters():
            if parameter.dim() > 1:
                torch.nn.init.normal_(parameter, std=parameter.shape[-1] ** -0.5)
    for attention in copy.modules():
        if hasattr(attention, "is_causal") and getattr(config, "is_causal", None) is False:
            attention.is_causal = False
    copy.config._attn_implementation = model.config._attn_implementation
    if hasattr(model, "generation_config"):
        copy.generation_config = deepcopy(model.generation_config)
    return copy.to(model.device)


def _cut_layers(config: Any) -> None:
    """Leave the first layers of a configuration, and of what it lists by layer."""
    n_layers = config.num_hidden_layers
    for name, value in list(vars(config).items()):
        if isinstance(value, list | tuple) and len(value) == n_layers:
            setattr(config, name, value[:N_LAYERS])
    config.num_hidden_layers = min(N_LAYERS, n_layers)
