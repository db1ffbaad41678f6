"""Weights out of int8 ONNX graphs, under the names of the modules that they were exported from."""

from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from .errors import StudyError

QUANTISED = "_quantized"
MATRIX_PRODUCT = "MatMulInteger"
EMBEDDINGS = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")


def read_t5(folder: Path) -> tuple[T5ForConditionalGeneration, PreTrainedTokenizerFast]:
    """Return the T5 of a folder with encoder.onnx, decoder.onnx and tokenizer.json, its weights dequantised.

    The output layer and both embeddings are tensors of their own, whatever the class would tie: a checkpoint that
    holds them apart is loaded so. Raises StudyError for graphs of another network.
    """
    encoder = _rename(read_weights(folder / "encoder.onnx"), "encoder.")
    decoder = read_weights(folder / "decoder.onnx")
    decoder = {name.partition(".")[2]: value for name, value in decoder.items()}
    weights = encoder | decoder
    try:
        model = T5ForConditionalGeneration(describe_t5(weights))
        model.lm_head.weight = torch.nn.Parameter(weights["lm_head.weight"])
        model.load_state_dict(weights | dict.fromkeys(EMBEDDINGS, weights["shared.weight"]))
    except (KeyError, RuntimeError) as error:
        raise StudyError(f"{folder}: the ONNX graphs are not those of a T5 encoder and decoder") from error
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    )
    return model, tokenizer


def describe_t5(weights: dict[str, torch.Tensor]) -> T5Config:
    """Return the shape of a T5 (version 1.1: gated, output layer of its own) as its weights show it."""
    first = "encoder.block.0.layer."
    heads = weights[f"{first}0.SelfAttention.relative_attention_bias.weight"].shape[1]
    numbers = {int(name.split(".")[2]) for name in weights if name.startswith("encoder.block.")}
    deeper = {int(name.split(".")[2]) for name in weights if name.startswith("decoder.block.")}
    return T5Config(
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


def _rename(weights: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {prefix + name.partition(".")[2]: value for name, value in weights.items()}


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Return the float32 weights of a graph: (q - zero) * scale of what is quantised, matrices as modules hold them.

    An exporter renames the matrices of products; the product's own name still says which module it belongs to.
    """
    import onnx
    from google.protobuf.message import DecodeError

    try:
        graph = onnx.load(path).graph
    except (OSError, DecodeError) as error:
        raise StudyError(f"{path}: cannot be read as an ONNX graph") from error
    values = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights = {name: value for name, value in values.items() if name.endswith(".weight")}
    for name in values:
        if name.endswith(f".weight{QUANTISED}"):
            weights[name.removesuffix(QUANTISED)] = _dequantise(name, values)
    for node in graph.node:
        if node.op_type == MATRIX_PRODUCT:
            module = node.name.removeprefix("/").rpartition("/")[0].replace("/", ".")
            weights[f"{module}.weight"] = _dequantise(node.input[1], values).T
    return {name: torch.tensor(np.ascontiguousarray(value)) for name, value in weights.items()}


def _dequantise(name: str, values: dict[str, np.ndarray]) -> np.ndarray:
    stem = name.removesuffix(QUANTISED)
    whole, zero = values[name].astype(np.float32), values[f"{stem}_zero_point"].astype(np.float32)
    return (whole - zero) * values[f"{stem}_scale"]
