"""Stored checkpoints: loading them, their kind (masked, causal, seq2seq), and the special tokens of their tokenizers."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.models.auto import modeling_auto as hf

from ..errors import BlankfillError
from .families import BERT_LIKE, family_of
from .folders import (
    SETTINGS,
    check_class_files,
    check_fit,
    check_model_files,
    check_size,
    check_tokenizer_files,
    is_place,
    largest_size,
    list_missing,
    read_settings,
)

AUTO_CLASSES: dict[str, Any] = {
    "masked": AutoModelForMaskedLM,
    "causal": AutoModelForCausalLM,
    "seq2seq": AutoModelForSeq2SeqLM,
}
CLASS_NAMES = {"masked": hf.MODEL_FOR_MASKED_LM_MAPPING_NAMES, "causal": hf.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES}
SWITCHABLE = "masked_and_causal"
COUNTED = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
)  # 1 or more in every network
SENTINEL = "<extra_id_{}>"
LONGEST = 200  # characters of a library's message in ours
# What leads from a wrapper to the model inside: of torch.compile, of an adapter, of several devices.
WAYS_INSIDE = {"_orig_mod": "._orig_mod", "merge_and_unload": ".merge_and_unload()", "module": ".module"}


def load_tokenizer(folder: Path | str) -> PreTrainedTokenizerBase:
    """Return the tokenizer stored in a checkpoint folder.

    Raises BlankfillError where none is stored there, or one that cannot be the model's.
    """
    tokenizer = read_tokenizer(folder)
    if (path := Path(folder, SETTINGS)).is_file() and isinstance(
        n_rows := read_settings(path).get("vocab_size"), int
    ):
        check_size(tokenizer, n_rows, folder)
    return tokenizer


def read_tokenizer(source: Path | str, **options: Any) -> PreTrainedTokenizerBase:
    """Return the tokenizer of a folder or hub id; BlankfillError where it cannot be read, or is not there and made up."""
    folder = Path(source)
    if is_place(source):
        check_tokenizer_files(folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False, **options)
    except Exception as error:  # of any class: it depends on what is wrong with which file
        raise BlankfillError(f"{source}: the tokenizer cannot be read: {find_reason(error)}") from error
    if is_place(source):
        check_class_files(tokenizer, folder)
    return tokenizer


def load_model(folder: Path | str, kind: str, dtype: torch.dtype = torch.float32) -> PreTrainedModel:
    """Return a stored checkpoint as a `masked`, `causal` or `seq2seq` model, in evaluation mode; safetensors only.

    Raises BlankfillError for a checkpoint of another kind, for one that lacks weights of the network that its settings
    describe, such as the output layer, and where there is none that can be read.
    """
    config = read_config(folder, kind)
    sees_both = not getattr(config, "is_causal", True)
    if getattr(config, SWITCHABLE, False):
        _set_sides(config, kind)
    auto_class = AUTO_CLASSES["causal" if sees_both else kind]
    model, report = read_network(auto_class, folder, kind, config=config, dtype=dtype)
    if not getattr(config, "is_causal", True):
        set_attention(model, is_causal=False)
    check_kind(model, kind, str(folder))
    check_fit(model, report, folder)
    refuse_missing(list_missing(model, report), kind, folder)
    model.config._name_or_path = ""  # or the folder's path would be saved with what is trained from it
    return model.eval()


def read_config(source: Path | str, kind: str, **options: Any) -> PreTrainedConfig:
    """Return the settings of a checkpoint in a folder or on the hub; BlankfillError where its files are not whole."""
    if is_place(source):
        check_model_files(Path(source))
    try:
        config = AutoConfig.from_pretrained(source, trust_remote_code=False, **options)
    except Exception as error:  # of any class: it depends on which setting is wrong
        raise _cannot_load(source, kind, error) from error
    _check_sizes(config, source)
    return config


def _check_sizes(config: PreTrainedConfig, source: Path | str) -> None:
    """Raise BlankfillError for sizes that no network has, and those beyond all stored weights: they would fill the memory."""
    most = largest_size(Path(source)) if is_place(source) else 0
    for name in COUNTED:
        number = getattr(config, name, None)
        if isinstance(number, int) and (number < 1 or number > most > 0):
            raise BlankfillError(
                f"{source}: {SETTINGS} says {name} {number}: take the file of the model itself"
            )


def read_network(
    auto_class: Any, source: Path | str, kind: str, **options: Any
) -> tuple[PreTrainedModel, dict[str, Any]]:
    """Return a model from safetensors, and which weights were missing, unused or of another shape.

    Raises BlankfillError where it cannot be read.
    """
    safeguards: dict[str, Any] = {"output_loading_info": True, "ignore_mismatched_sizes": True}
    safeguards |= {"use_safetensors": True, "trust_remote_code": False}
    try:
        return auto_class.from_pretrained(source, **options, **safeguards)
    except Exception as error:  # of any class: it depends on which setting is wrong
        raise _cannot_load(source, kind, error) from error


def _cannot_load(source: Path | str, kind: str, error: Exception) -> BlankfillError:
    reason = find_reason(error)
    if is_place(source) or not isinstance(error, OSError):
        return BlankfillError(f"{source}: cannot be loaded as a {kind} model: {reason}")
    return BlankfillError(
        f"{source} is neither a local folder nor available on the Hugging Face hub as safetensors ({reason}): check the "
        "id and the network, or give the path of a folder"
    )


def refuse_missing(missing: list[str], kind: str, source: Path | str) -> None:
    """Raise BlankfillError where weights were not stored, and so drawn at random."""
    if missing:
        raise BlankfillError(
            f"{source}: the checkpoint lacks {len(missing)} weights of a {kind} model ({missing[0]} ...): "
            "choose a complete one"
        )


def set_attention(model: PreTrainedModel, is_causal: bool) -> None:
    """Let the attention of a decoder see what follows too, or not; its configuration says so with `is_causal`."""
    modules: Iterable[Any] = model.modules()
    for module in modules:
        if hasattr(module, "is_causal"):
            module.is_causal = is_causal


def make_switchable(model: PreTrainedModel) -> None:
    """Let one masked model be a causal one too (`switch`); its configuration records it, and `load_model` reads it.

    Raises BlankfillError for a network that cannot be both.
    """
    if family_of(model.config).switch == "is_causal" and getattr(model.config, "is_causal", True):
        raise BlankfillError(
            f"objective hybrid needs a {' or '.join(BERT_LIKE)} model, or a causal one with model.bidirectional=true; "
            f"this one is {model.config.model_type}"
        )
    setattr(model.config, SWITCHABLE, True)


def switch(model: PreTrainedModel, kind: str) -> None:
    """Make a model of `make_switchable` masked or causal, in place; any other stays as it is."""
    if getattr(model.config, SWITCHABLE, False):
        _set_sides(model.config, kind)
        set_attention(model, kind == "causal")


def _set_sides(config: PreTrainedConfig, kind: str) -> None:
    setattr(config, family_of(config).switch, kind == "causal")


def find_reason(error: Exception) -> str:
    """Return a library's message in one line, or the error's name where it has none.

    Of a message of more than LONGEST characters the first line; of a longer line the sentences, else the words, that fit.
    """
    said = " ".join(str(error).split())
    if len(said) > LONGEST:
        line = " ".join(str(error).strip().splitlines()[0].split())
        fits = re.match(rf".{{,{LONGEST - 1}}}[.!?](?= )", line) or re.match(rf".{{,{LONGEST}}}(?= )", line)
        said = line if len(line) <= LONGEST else fits[0] if fits else line[:LONGEST]
    return said or type(error).__name__


def model_kind(model: PreTrainedModel) -> str:
    """Return the kind of a model by its class: `masked`, `causal` or `seq2seq`; BlankfillError for what is no model."""
    if way := next((way for name, way in WAYS_INSIDE.items() if hasattr(model, name)), None):
        raise BlankfillError(f"{type(model).__name__} wraps a model: give the one inside, model{way}")
    if not isinstance(getattr(model, "config", None), PreTrainedConfig):
        raise BlankfillError(
            f"a loaded model is needed, this is a {type(model).__name__}: load it with AutoModelForMaskedLM, "
            "...ForCausalLM or ...ForSeq2SeqLM"
        )
    if model.config.is_encoder_decoder:
        return "seq2seq"
    names = [of.__name__ for of in type(model).__mro__]  # a class of one's own is made from another
    for name in names:
        if kind := kind_of_class(name, model.config):
            return kind
    raise BlankfillError(
        f"{names[0]} is not a language model; load it with AutoModelForMaskedLM, ...ForCausalLM or ...ForSeq2SeqLM"
    )


def kind_of_class(name: str, config: PreTrainedConfig) -> str | None:
    """Return the kind of a class of transformers with an output layer, `masked` or `causal`; None for another class."""
    for kind, classes in CLASS_NAMES.items():
        if any(name in ((names,) if isinstance(names, str) else names) for names in classes.values()):
            return kind if getattr(config, "is_causal", True) else "masked"
    return None


def kind_of_config(config: PreTrainedConfig) -> str | None:
    """Return the kind of a network by its configuration alone, `masked` or `causal`; None where it can be neither."""
    kinds = [kind for kind, classes in CLASS_NAMES.items() if config.model_type in classes]
    if not getattr(config, "is_causal", True):
        return "masked" if kinds else None
    return next(iter(kinds[::-1] if getattr(config, "is_decoder", False) else kinds), None)


def check_kind(model: PreTrainedModel, kind: str, name: str) -> None:
    """Raise BlankfillError unless a model is of that kind.

    A BERT-class network is causal only if its configuration has `is_decoder`; else it sees the right side too.
    """
    own_kind, decodes = model_kind(model), getattr(model.config, "is_decoder", None)
    if own_kind != "seq2seq" and decodes is not None and model.config.model_type in CLASS_NAMES["masked"]:
        own_kind = "causal" if decodes else "masked"
    if own_kind != kind:
        about = f"a {own_kind} checkpoint ({model.config.model_type})"
        raise BlankfillError(f"{name}: {about}, where a {kind} one is needed")


def sentinel_tokens(tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """Return the sentinels that a T5-style tokenizer has for groups of blanks, in order, and their ids."""
    vocabulary = tokenizer.get_vocab()
    sentinels: dict[str, int] = {}
    while (sentinel := SENTINEL.format(len(sentinels))) in vocabulary:
        sentinels[sentinel] = vocabulary[sentinel]
    return sentinels


def edge_tokens(tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], list[int]]:
    """Return the tokens that open and close a text: those that the tokenizer puts around it.

    On a side where it puts none: [CLS] and [SEP], else BOS and EOS if there are any. A causal model needs context
    before the first word, so EOS stands in for a missing BOS.
    """
    bare, whole = (tokenizer("a", add_special_tokens=around)["input_ids"] for around in (False, True))
    starts = range(len(whole) - len(bare) + 1) if bare else ()
    start = next((n for n in starts if whole[n : n + len(bare)] == bare), None)
    before, behind = ([], []) if start is None else (whole[:start], whole[start + len(bare) :])
    opening = (tokenizer.cls_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id)
    closing = (tokenizer.sep_token_id, tokenizer.eos_token_id)
    first, last = ([token for token in tokens if token is not None][:1] for tokens in (opening, closing))
    return before or first, behind or last
