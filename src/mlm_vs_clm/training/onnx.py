"""Weights of int8 ONNX graphs, under the names of the modules they were exported from."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import (
    DistilBertConfig,
    DistilBertForMaskedLM,
    DistilBertForTokenClassification,
    PreTrainedTokenizerFast,
)

from blankfill.networks.folders import VOCABULARY, read_settings, refuse_unfetched

from ..errors import StudyError

TAGGER_GRAPH = "tagger.onnx"
QUANTISED = "_quantized"
PRODUCT = "MatMul"
DEQUANTISED = "_DequantizeLinear_Output"  # behind the name of its matrix, in that of its input
TIED = "vocab_projector.weight"  # DistilBERT's output layer: its embeddings
HEAD_WIDTH = 64  # of every published BERT-class network; the weights do not show it
# What a graph of another network, or of other shapes, leads to.
WRONG_GRAPH = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def read_distilbert(
    folder: Path, seed: int
) -> tuple[DistilBertForMaskedLM, PreTrainedTokenizerFast, list[str]]:
    """Return the DistilBERT of a folder with tagger.onnx and tokenizer.json as a masked model, and its new weights.

    A tagger has no language-modelling layer: that is drawn from `seed` and tied to the embeddings. Raises StudyError
    for the graph of another network.
    """
    weights = read_weights(folder / TAGGER_GRAPH)
    body = {name: value for name, value in weights.items() if name.startswith("distilbert.")}
    try:
        config = describe_distilbert(body)
        torch.manual_seed(seed)
        model = DistilBertForMaskedLM(config)
        lacks = model.load_state_dict(body, strict=False)
    except WRONG_GRAPH as error:
        raise StudyError(f"{folder}: the ONNX graph is not that of a DistilBERT") from error
    new = [name for name in lacks.missing_keys if name.endswith("weight") and name != TIED]
    if lacks.unexpected_keys or any(name.startswith("distilbert.") for name in new):
        raise StudyError(f"{folder}: the ONNX graph is not that of a DistilBERT")
    model.tie_weights()
    return model, _wordpiece_tokenizer(folder, config), new


def read_tagger(folder: Path) -> tuple[DistilBertForTokenClassification, PreTrainedTokenizerFast]:
    """Return the DistilBERT of a folder with tagger.onnx, tokenizer.json and tag_vocab.json as the tagger that it is.

    Raises StudyError for the graph of another network, and where the tags are missing.
    """
    weights = read_weights(folder / TAGGER_GRAPH)
    try:
        tags = json.loads((folder / "tag_vocab.json").read_text(encoding="utf-8"))["tags"]
        config = describe_distilbert(weights)
        config.id2label = dict(enumerate(tags))
        model = DistilBertForTokenClassification(config)
        model.load_state_dict(weights)
    except (OSError, *WRONG_GRAPH) as error:
        raise StudyError(
            f"{folder}: the ONNX graph and its tags are not those of a DistilBERT tagger"
        ) from error
    return model, _wordpiece_tokenizer(folder, config)


def describe_distilbert(weights: dict[str, torch.Tensor]) -> DistilBertConfig:
    """Return the configuration of a DistilBERT from the shapes of its weights."""
    vocabulary, width = weights["distilbert.embeddings.word_embeddings.weight"].shape
    numbers = {
        int(name.split(".")[3]) for name in weights if name.startswith("distilbert.transformer.layer.")
    }
    return DistilBertConfig(
        vocab_size=vocabulary,
        dim=width,
        n_heads=width // HEAD_WIDTH,
        n_layers=len(numbers),
        hidden_dim=weights["distilbert.transformer.layer.0.ffn.lin1.weight"].shape[0],
        max_position_embeddings=weights["distilbert.embeddings.position_embeddings.weight"].shape[0],
    )


def _wordpiece_tokenizer(folder: Path, config: DistilBertConfig) -> PreTrainedTokenizerFast:
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    path = folder / VOCABULARY
    if not path.is_file():
        raise StudyError(f"{folder} holds no {VOCABULARY}: copy that of the model there")
    read_settings(path)
    try:
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(path), **special)
    except Exception as error:  # the class that the library raises for a wrong file
        raise StudyError(
            f"{path}: cannot be read as a tokenizer: {' '.join(str(error).split())[:200]}"
        ) from error
    tokenizer.backend_tokenizer.no_truncation()  # a tagger cuts its texts; here the caller does
    tokenizer.model_max_length = config.max_position_embeddings
    return tokenizer


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Return the float32 weights of a graph: (q - zero) * scale where quantised, matrices as modules hold them.

    An exporter renames the matrices of products; the product's own name still has the module.
    """
    import onnx
    from google.protobuf.message import DecodeError

    if not path.is_file():
        raise StudyError(f"{path} is missing: copy it from the model's source")
    refuse_unfetched(path)
    try:
        graph = onnx.load(path).graph
    except (OSError, DecodeError) as error:
        raise StudyError(f"{path}: cannot be read as an ONNX graph") from error
    try:
        return _read_graph(graph)
    except (KeyError, IndexError, ValueError) as error:
        raise StudyError(
            f"{path}: the graph lacks a tensor that it uses, or a scale: export it again"
        ) from error


def _read_graph(graph: Any) -> dict[str, torch.Tensor]:
    import onnx

    values = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights = {name: value for name, value in values.items() if name.endswith((".weight", ".bias"))}
    for name in values:
        if name.endswith(f".weight{QUANTISED}"):
            weights[name.removesuffix(QUANTISED)] = _dequantise(name, values)
    for node in graph.node:
        matrix = node.input[1].removesuffix(DEQUANTISED) + QUANTISED if node.op_type == PRODUCT else ""
        if matrix in values:
            module = node.name.removeprefix("/").rpartition("/")[0].replace("/", ".")
            weights[f"{module}.weight"] = _dequantise(matrix, values).T
    return {name: torch.tensor(np.ascontiguousarray(value)) for name, value in weights.items()}


def _dequantise(name: str, values: dict[str, np.ndarray]) -> np.ndarray:
    stem = name.removesuffix(QUANTISED)
    whole, zero = values[name].astype(np.float32), values[f"{stem}_zero_point"].astype(np.float32)
    return (whole - zero) * values[f"{stem}_scale"]
