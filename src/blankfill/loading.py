"""A model as people name it: an object, a hub id or a folder, with its tokenizer, on a device."""

import os
from typing import Any

import torch
import transformers
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .config import DTYPES
from .errors import BlankfillError
from .networks.checkpoints import (
    kind_of_class,
    kind_of_config,
    load_model,
    load_tokenizer,
    model_kind,
    read_config,
)
from .networks.folders import SETTINGS

Model = PreTrainedModel | str | os.PathLike
Tokenizer = PreTrainedTokenizerBase | str | os.PathLike


def open_model(
    model: Any, tokenizer: Any, device: str | torch.device, dtype: str | torch.dtype
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return a model and its tokenizer from objects, hub ids or folders.

    device "auto" leaves an object where it is, and loads any other to a GPU where there is one. dtype "auto" is float32
    on a CPU and the stored type on a GPU. Weights are read from safetensors alone, and no code comes with them. Raises
    BlankfillError for what cannot be loaded, and for an object of another dtype than asked for.
    """
    place, kind = choose_device(device), choose_dtype(dtype)
    if isinstance(model, str | os.PathLike):
        source = os.path.expanduser(model)
        loaded = load_named(source, place, kind)
        origin = source if tokenizer is None else tokenizer
    else:
        loaded, origin = model, tokenizer
        _check_object(model, tokenizer, kind)
        if device != "auto":
            model_kind(model)  # raises for what is no model
            model.to(place)
    if isinstance(origin, str | os.PathLike):
        return loaded, load_tokenizer(os.path.expanduser(origin))
    return loaded, origin


def open_second(
    second: Any, tokenizer: Any, model: Any, device: str | torch.device, dtype: str | torch.dtype
) -> PreTrainedModel | None:
    """Return the model beside `model`, for device "auto" on the same where it is loaded; None for none."""
    if second is None:
        return None
    is_named = isinstance(second, str | os.PathLike)
    place = getattr(model, "device", device) if is_named and device == "auto" else device
    return open_model(second, tokenizer, place, dtype)[0]


def _check_object(model: Any, tokenizer: Any, dtype: torch.dtype | None) -> None:
    if tokenizer is None:
        raise BlankfillError(
            f"a {type(model).__name__} comes without its tokenizer: give that too, or give the hub id or folder of the model"
        )
    if dtype and getattr(model, "dtype", dtype) != dtype:
        raise BlankfillError(f"the model is in {model.dtype}: load it in {dtype}, or leave dtype at auto")


def load_named(source: str, device: torch.device, dtype: torch.dtype | None) -> PreTrainedModel:
    """Return the model of a hub id or folder, on a device; dtype None is the stored type, on a CPU float32."""
    kind = find_kind(source)
    if dtype is None:
        stored = getattr(read_config(source, kind), "dtype", None)
        dtype = stored if isinstance(stored, torch.dtype) and device.type != "cpu" else torch.float32
    model: Any = load_model(source, kind, dtype)
    return model.to(device)


def find_kind(source: str) -> str:
    """Return the kind of a stored model, `masked`, `causal` or `seq2seq`; BlankfillError for one of another kind."""
    config = read_config(source, "language")
    named = getattr(config, "architectures", None) or [""]
    if not isinstance(named, list) or not isinstance(named[0], str):
        raise BlankfillError(f"{source}: architectures in its {SETTINGS} lists names of classes: correct it")
    name = named[0]
    if getattr(config, "is_encoder_decoder", False):
        return "seq2seq"
    # The weights tell, when they are loaded, what becomes of a class of several output layers, or of one's own.
    is_open = name.endswith("ForPreTraining") or not hasattr(transformers, name)
    if kind := kind_of_class(name, config) or (kind_of_config(config) if is_open else None):
        return kind
    about = f"holds a {name}, which" if name else "says no class of model, so it"
    raise BlankfillError(
        f"{source} {about} has no output layer over a vocabulary: choose a masked, causal or encoder-decoder model"
    )


def choose_device(device: str | torch.device) -> torch.device:
    """Return the device of that name; `auto` is a GPU where there is one. Raises BlankfillError for an unknown name."""
    gpu = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if device == "auto":
        return gpu or torch.device("cpu")
    try:
        place = torch.device(device)
        if place.type == "meta":
            raise TypeError("it holds no numbers")
        if gpu is None or place.type != gpu.type:
            torch.empty(0, device=place)  # not on a GPU that is there: it would take memory
        elif (place.index or 0) >= (number := torch.accelerator.device_count()):
            raise TypeError(f"torch sees {number} in all, counted from 0")
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise BlankfillError(f"device={device} cannot be used: {reason}: choose cpu") from None
    return place


def choose_dtype(dtype: str | torch.dtype) -> torch.dtype | None:
    """Return the type of that name; None for `auto`. Raises BlankfillError for an unknown name."""
    if dtype == "auto":
        return None
    name = str(dtype).removeprefix("torch.")
    if name not in DTYPES:
        raise BlankfillError(f"dtype={dtype} is unknown: choose auto, {', '.join(DTYPES)}")
    return getattr(torch, name)
