"""What a model folder holds, looked at before and after a library reads it: what is missing there, it would make up."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from ..errors import BlankfillError

SETTINGS, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack", "*.ot")
VOCABULARY = "tokenizer.json"  # holds all of a tokenizer; older ones have the files below
TOKENIZER_FILES = ("vocab*", "merges.txt", "*.model", "*.spm", "*.tiktoken", "*.tokenizer", "tekken.json")
TOKENIZER_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
POINTER = b"version https://git-lfs"  # opens the few lines that Git leaves where a large file was not fetched
PADDED_TO = 128  # embeddings have more rows than the tokenizer has tokens up to the next multiple of this
MATRICES = (".weight", ".bias")
# Types of safetensors that a library would turn into numbers that mean something else.
NO_WEIGHTS = ("BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "C64")


def is_place(source: Path | str) -> bool:
    """Return whether a source is a path, rather than the id of a model on the hub."""
    return Path(source).exists() or str(source).startswith((".", "/", "~"))


def check_model_files(folder: Path) -> None:
    """Raise BlankfillError, naming the file and what to do, unless a folder holds the settings and whole weights of a model."""
    _check_folder(folder)
    if not (folder / SETTINGS).is_file():
        raise BlankfillError(
            f"{folder} holds no {SETTINGS}: give the folder of a model (its settings, tokenizer and weights, safetensors only)"
        )
    for name in (SETTINGS, "generation_config.json"):
        if (folder / name).exists():
            read_settings(folder / name)
    for path in _list_weights(folder):
        _check_weights(path)


def largest_size(folder: Path) -> int:
    """Return the largest size of any stored weight of a folder that `check_model_files` has looked at; 0 for no weights."""
    from safetensors import safe_open

    sizes = [0]
    for path in _list_weights(folder):
        with safe_open(path, framework="numpy") as stored:
            sizes += [size for name in stored.keys() for size in stored.get_slice(name).get_shape()]  # noqa: SIM118
    return max(sizes)


def check_tokenizer_files(folder: Path) -> None:
    """Raise BlankfillError, naming the file and what to do, unless a folder holds the vocabulary of a tokenizer, whole."""
    _check_folder(folder)
    files = {path for pattern in (VOCABULARY, *TOKENIZER_FILES) for path in folder.glob(pattern)}
    if not any(path.is_file() for path in files) and _needs_vocabulary(folder):
        raise BlankfillError(
            f"{folder} holds no tokenizer ({VOCABULARY}, vocab.txt, ...): copy the files of the model's own tokenizer there"
        )
    settings = [folder / name for name in TOKENIZER_SETTINGS]
    for path in sorted(path for path in {*files, *settings} if path.exists()):
        if path.suffix == ".json":
            read_settings(path)
        else:
            refuse_unfetched(path)


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        about = "is a file" if folder.exists() else "does not exist"
        raise BlankfillError(f"{folder} {about}: give the folder that holds {SETTINGS} and {WEIGHTS}")


# Tokenizers of bytes or characters have no file of their own.
WITHOUT_FILES = ("ByT5Tokenizer", "CanineTokenizer", "PerceiverTokenizer")


def _needs_vocabulary(folder: Path) -> bool:
    """Return whether a folder's tokenizer needs a file."""
    path = folder / TOKENIZER_SETTINGS[0]
    return not path.is_file() or read_settings(path).get("tokenizer_class") not in WITHOUT_FILES


def check_class_files(tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Raise BlankfillError where a tokenizer's class has found none of its files in a folder, so that it made up a vocabulary."""
    named = dict(tokenizer.vocab_files_names)
    if type(tokenizer) is PreTrainedTokenizerFast or not named or (folder / VOCABULARY).is_file():
        return
    absent = [name for name in named.values() if not (folder / name).is_file()]
    if len(absent) == len(named) or named.get("merges_file") in absent:
        raise BlankfillError(
            f"{folder} lacks {absent[0]}, which {type(tokenizer).__name__} reads: copy the files of the model's own tokenizer there"
        )


def check_size(tokenizer: PreTrainedTokenizerBase, n_rows: int, place: Path | str) -> None:
    """Raise BlankfillError where a tokenizer has more tokens than the model's embeddings have rows, or far fewer.

    Its ids may have gaps, so that the highest counts as well.
    """
    n_tokens = len(tokenizer)
    if (highest := max(tokenizer.get_vocab().values(), default=0)) >= n_rows >= n_tokens:
        raise BlankfillError(
            f"{place}: the tokenizer has a token of id {highest:,} and the model {n_rows:,} tokens, so they do not belong "
            "together: put the model's own tokenizer there"
        )
    padded = -(-n_tokens // PADDED_TO) * PADDED_TO
    if n_tokens <= n_rows <= max(2 * n_tokens, padded):
        return
    raise BlankfillError(
        f"{place}: the tokenizer has {n_tokens:,} tokens and the model {n_rows:,}, so they do not belong together: "
        "put the model's own tokenizer there"
    )


def read_settings(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file of a model; BlankfillError, naming the file, for anything else."""
    refuse_unfetched(path)
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        reason = (
            f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "not text"
        )
        raise BlankfillError(f"{path} is not whole JSON ({reason}): copy it again from its source") from None
    if not isinstance(read, dict):
        raise BlankfillError(
            f"{path} holds a {type(read).__name__} and not the settings of a model: copy it again"
        )
    return read


def refuse_unfetched(path: Path) -> None:
    """Raise BlankfillError for an empty file, for the pointer that Git LFS leaves in place of one, and for a folder."""
    if path.is_dir():
        raise BlankfillError(f"{path} is a folder, where a file is needed: copy that from the model's source")
    with path.open("rb") as file:
        head = file.read(len(POINTER))
    if head == POINTER:
        raise BlankfillError(
            f"{path} is a Git LFS pointer and not the file itself: run `git lfs pull` where it came from"
        )
    if not head:
        raise BlankfillError(f"{path} is empty: copy it again from its source")


def _list_weights(folder: Path) -> list[Path]:
    """Return the safetensors files that a library would read; BlankfillError where there are none, or one is absent."""
    for path in (folder / WEIGHTS, folder / INDEX):
        if path.is_symlink() and not path.exists():
            raise BlankfillError(
                f"{path} is a link to a file that is not there: copy it again from its source"
            )
    if (folder / WEIGHTS).exists():
        return [folder / WEIGHTS]
    if not (folder / INDEX).exists():
        raise BlankfillError(
            f"{folder} holds no {WEIGHTS}, and weights are read from safetensors only: {_advise(folder)}"
        )
    shards = read_settings(folder / INDEX).get("weight_map")
    if not isinstance(shards, dict) or not shards:
        raise BlankfillError(f"{folder / INDEX} lists no weights: copy it again from its source")
    names = sorted(set(map(str, shards.values())))
    if outside := [name for name in names if Path(name).name != name]:
        raise BlankfillError(
            f"{folder / INDEX} lists {outside[0]}: weights are read from the folder itself only, so copy the file there and "
            "list its name"
        )
    paths = [folder / name for name in names]
    for path in paths:
        if not path.is_file():
            raise BlankfillError(
                f"{path} is missing, though {INDEX} lists it: copy it from the model's source"
            )
    return paths


def _advise(folder: Path) -> str:
    """Return what to do about a folder without the weights that are read."""
    pickled = sorted(path.name for pattern in PICKLED for path in folder.glob(pattern))
    if pickled:
        return (
            f"load {pickled[0]} with transformers, if you trust its origin, and store it with save_pretrained"
        )
    shards = sorted(path.name for path in folder.glob("*.safetensors"))
    return f"{shards[0]} needs {INDEX} beside it" if shards else "copy them there"


def _check_weights(path: Path) -> None:
    from safetensors import SafetensorError, safe_open

    refuse_unfetched(path)
    try:
        with safe_open(path, framework="numpy") as stored:
            types = {name: stored.get_slice(name).get_dtype() for name in stored.keys()}  # noqa: SIM118  (no dict)
    except (SafetensorError, OSError) as error:
        raise BlankfillError(
            f"{path} is no whole safetensors file ({error}): copy it again from its source"
        ) from None
    if wrong := [
        name for name, kind in sorted(types.items()) if name.endswith(MATRICES) and kind in NO_WEIGHTS
    ]:
        raise BlankfillError(
            f"{path}: {wrong[0]} is stored as {types[wrong[0]]}, which no weight is: store the model in floating point"
        )


def check_fit(model: PreTrainedModel, report: dict[str, Any], place: Path | str) -> None:
    """Raise BlankfillError where the stored weights have other shapes than the settings ask for, or go unused.

    `report` is what transformers returns beside the model (`output_loading_info`). Of unused weights only those count that
    belong to the network: layers beyond its last, and parts of its modules that the settings turn off. A head for another
    task does not.
    """
    refuse_mismatched(report, place)
    if unused := [name for name in sorted(report["unexpected_keys"]) if _is_of_network(model, name)]:
        raise BlankfillError(
            f"{place}: {len(unused)} stored weights have no place in the network that {SETTINGS} describes ({unused[0]} ...): "
            "correct its number of layers, or take both files from one model"
        )


def refuse_mismatched(report: dict[str, Any], place: Path | str) -> None:
    """Raise BlankfillError where stored weights have other shapes than the settings ask for."""
    for name, stored, expected in sorted(report["mismatched_keys"]):
        shapes = f"{name} is {_shape(stored)} in the weights and {_shape(expected)} by {SETTINGS}"
        raise BlankfillError(f"{place}: {shapes}: take both files from one model")


def _shape(shape: Iterable[int]) -> str:
    return " x ".join(map(str, shape)) or "a number"


def list_missing(model: PreTrainedModel, report: dict[str, Any]) -> list[str]:
    """Return the weights that were not stored, and so drawn at random; a bias that is absent is 0, which is as good."""
    parameters = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    return sorted(name for name in report["missing_keys"] if name in parameters and not name.endswith("bias"))


def _is_of_network(model: PreTrainedModel, name: str) -> bool:
    """Return whether a weight, named with or without the prefix of the base model, has a module but no place there."""
    modules = dict(model.named_modules())
    for stored in (name, f"{model.base_model_prefix}.{name}"):
        attributes = stored.split(".")
        for place, attribute in enumerate(attributes):
            holder = modules.get(".".join(attributes[:place]))
            if attribute.isdigit() and isinstance(holder, nn.ModuleList) and int(attribute) >= len(holder):
                return True
        parent = modules.get(".".join(attributes[:-1]))
        if (
            parent is not None
            and attributes[-1] in parent._parameters
            and parent._parameters[attributes[-1]] is None
        ):
            return True
    return False
