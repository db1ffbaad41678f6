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
    T5Config,
    T5ForConditionalGeneration,
)

from blankfill.networks.folders import VOCABULARY, read_settings, refuse_unfetched

from ..errors import StudyError

TAGGER_GRAPH = "tagger.onnx"
QUANTISED = "_quantized"
# How the two kinds of int8 graphs (activations too, or weights alone) name the matrix of a product.
MATRIX_OF = {
    "MatMulInteger": lambda name: name,
    "MatMul": lambda name: name.removesuffix("_DequantizeLinear_Output") + QUANTISED,
}
TIED = "vocab_projector.weight"  # DistilBERT's output layer: its embeddings
HEAD_WIDTH = 64  # of every published BERT-class network; the weights do not show it
# What a graph of another network, or of other shapes, leads to.
WRONG_GRAPH = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
EMBEDDINGS = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")


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
    tokenizer = _read_tokenizer(folder, **special)
    tokenizer.backend_tokenizer.no_truncation()  # a tagger cuts its texts; here the caller does
    tokenizer.model_max_length = config.max_position_embeddings
    return tokenizer


def _read_tokenizer(folder: Path, **special: str) -> PreTrainedTokenizerFast:
    path = folder / VOCABULARY
    if not path.is_file():
        raise StudyError(f"{folder} holds no {VOCABULARY}: copy that of the model there")
    read_settings(path)
    try:
        return PreTrainedTokenizerFast(tokenizer_file=str(path), **special)
    except Exception as error:  # the class that the library raises for a wrong file
        raise StudyError(
            f"{path}: cannot be read as a tokenizer: {' '.join(str(error).split())[:200]}"
        ) from error


def read_t5(folder: Path, seed: int) -> tuple[T5ForConditionalGeneration, PreTrainedTokenizerFast, list[str]]:
    """Return the T5 of a folder with encoder.onnx, decoder.onnx and tokenizer.json, dequantised; no weight is new.

    The output layer and both embeddings stay separate tensors, whatever the class would tie, as in the graphs.
    Raises StudyError for graphs of another network.
    """
    encoder, decoder = (read_weights(folder / f"{name}.onnx") for name in ("encoder", "decoder"))
    weights = {f"encoder.{name.partition('.')[2]}": value for name, value in encoder.items()}
    weights |= {name.partition(".")[2]: value for name, value in decoder.items()}
    try:
        model = T5ForConditionalGeneration(describe_t5(weights))
        model.lm_head.weight = torch.nn.Parameter(weights["lm_head.weight"])
        model.load_state_dict(weights | dict.fromkeys(EMBEDDINGS, weights["shared.weight"]))
    except WRONG_GRAPH as error:
        raise StudyError(f"{folder}: the ONNX graphs are not those of a T5 encoder and decoder") from error
    return model, _read_tokenizer(folder, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"), []


def describe_t5(weights: dict[str, torch.Tensor]) -> T5Config:
    """Return the configuration of a T5 (version 1.1: gated, untied output layer) from the shapes of its weights."""
    first = "encoder.block.0.layer."
    heads = weights[f"{first}0.SelfAttention.relative_attention_bias.weight"].shape[1]
    numbers = {int(name.split(".")[2]) for name in weights if name.startswith("encoder.block.")}
    deeper = {int(name.split(".")[2]) for name in weights if name.startswith("decoder.block.")}
    return T5Config(  # type: ignore[call-arg]  # the stubs lack the settings of every configuration
        vocab_size=weights["shared.weight"].shape[0],
        d_model=weights["shared.weight"].shape[1],
        d_kv=weights[f"{first}0.SelfAttention.q.weight"].shape[0] // heads,
        d_ff=weights[f"{first}1.DenseReluDense.wi_0.weight"].shape[0],
        num_heads=heads,
        num_layers=len(numbers),
        num_decoder_layers=len(deeper),
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
    )


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
        matrix = MATRIX_OF[node.op_type](node.input[1]) if node.op_type in MATRIX_OF else ""
        if matrix in values:
            module = node.name.removeprefix("/").rpartition("/")[0].replace("/", ".")
            weights[f"{module}.weight"] = _dequantise(matrix, values).T
    return {name: torch.tensor(np.ascontiguousarray(value)) for name, value in weights.items()}


def _dequantise(name: str, values: dict[str, np.ndarray]) -> np.ndarray:
    stem = name.removesuffix(QUANTISED)
    whole, zero = values[name].astype(np.float32), values[f"{stem}_zero_point"].astype(np.float32)
    return (whole - zero) * values[f"{stem}_scale"]
