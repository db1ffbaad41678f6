"""Initial models and tokenizers: from random weights, and from one kind of network to another."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from tokenizers import BertWordPieceTokenizer, Tokenizer
from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    BertConfig,
    BertForMaskedLM,
    DistilBertForMaskedLM,
    EncoderDecoderConfig,
    EncoderDecoderModel,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from blankfill.networks.checkpoints import set_attention
from blankfill.networks.families import parts_of

from ..errors import StudyError
from .noise import TokenizedDocument

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def start_from_scratch(shape: dict, tokenizer: PreTrainedTokenizerBase, seed: int) -> BertForMaskedLM:
    """Return a new BERT of the given shape (layers, width, heads, positions), drawn from `seed`."""
    torch.manual_seed(seed)
    return BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer),
            num_hidden_layers=shape["layers"],
            hidden_size=shape["width"],
            num_attention_heads=shape["heads"],
            intermediate_size=4 * shape["width"],
            max_position_embeddings=shape["positions"],
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def set_output_bias(model: PreTrainedModel, documents: list[TokenizedDocument]) -> None:
    """Set the bias of a new output layer to the log-frequency of each token in the documents, each counted once more.

    Training then starts from the unigram distribution. An output layer without a bias stays as it is.
    """
    head = model.get_output_embeddings()
    if getattr(head, "bias", None) is None:
        return
    ids = np.concatenate([document.ids for document in documents])
    counts = np.bincount(ids, minlength=len(head.bias)) + 1.0
    with torch.no_grad():
        head.bias.copy_(torch.from_numpy(np.log(counts / counts.sum())))


def train_tokenizer(texts: list[str], n_vocabulary: int) -> PreTrainedTokenizerBase:
    """Return an uncased WordPiece tokenizer of BERT's form, learned from the texts, the same for the same texts.

    The trainer numbers letters within words (`##a`) in the order of a random hash, and breaks ties by number;
    so it gets the letters in order.
    """
    wordpiece = BertWordPieceTokenizer(lowercase=True)
    letters = sorted(
        {letter for text in texts for letter in wordpiece.normalize(text) if not letter.isspace()}
    )
    wordpiece.train_from_iterator(
        texts,
        vocab_size=n_vocabulary,
        min_frequency=2,
        limit_alphabet=len(letters),
        initial_alphabet=letters,
        special_tokens=[*SPECIAL_TOKENS, *(f"##{letter}" for letter in letters)],
        show_progress=False,
    )
    learned = Tokenizer.from_str(BertWordPieceTokenizer(wordpiece.get_vocab(), lowercase=True).to_str())
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(tokenizer_object=learned, **dict(zip(names, SPECIAL_TOKENS, strict=True)))


def add_mask_token(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Give a tokenizer and its model a mask token, in place, where they have none.

    Its embedding starts from the mean of the others, and so does its row of an output layer with weights of its own.
    """
    if tokenizer.mask_token_id is not None:
        return
    tokenizer.add_special_tokens({"mask_token": "<mask>"})
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    mask: Any = tokenizer.mask_token_id
    layers = model.get_input_embeddings(), model.get_output_embeddings()  # perhaps with the same weights
    with torch.no_grad():
        for layer in layers:
            table: Any = layer.weight
            table[mask] = torch.cat([table[:mask], table[mask + 1 :]]).mean(0)


def see_both_sides(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Turn a causal model into a masked one, in place: no position is hidden from attention, and there is a mask token.

    `config.is_causal` records it, and `checkpoints.load_model` reads it.
    """
    add_mask_token(model, tokenizer)
    model.config.is_causal = model.config.use_cache = False
    set_attention(model, is_causal=False)


# The modules of a DistilBERT, and those of a BERT that do the same.
BERT_MODULES = {
    "distilbert.": "bert.",
    "transformer.layer.": "encoder.layer.",
    "attention.q_lin.": "attention.self.query.",
    "attention.k_lin.": "attention.self.key.",
    "attention.v_lin.": "attention.self.value.",
    "attention.out_lin.": "attention.output.dense.",
    "sa_layer_norm.": "attention.output.LayerNorm.",
    "ffn.lin1.": "intermediate.dense.",
    "ffn.lin2.": "output.dense.",
    "output_layer_norm.": "output.LayerNorm.",
}


def as_bert(distilled: DistilBertForMaskedLM, seed: int) -> BertForMaskedLM:
    """Return a DistilBERT as a BERT with the same hidden states, as its token types add zero; its head is drawn from `seed`."""
    shape = distilled.config
    torch.manual_seed(seed)
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=shape.vocab_size,
            num_hidden_layers=shape.n_layers,
            hidden_size=shape.dim,
            num_attention_heads=shape.n_heads,
            intermediate_size=shape.hidden_dim,
            max_position_embeddings=shape.max_position_embeddings,
            hidden_act=shape.activation,
            pad_token_id=shape.pad_token_id,
        )
    )
    weights = {}
    for name, value in distilled.distilbert.state_dict(prefix="distilbert.").items():
        for theirs, ours in BERT_MODULES.items():
            name = name.replace(theirs, ours)
        weights[name] = value
    types: Any = model.bert.embeddings.token_type_embeddings.weight
    weights["bert.embeddings.token_type_embeddings.weight"] = torch.zeros_like(types)
    model.bert.load_state_dict({name.removeprefix("bert."): value for name, value in weights.items()})
    model.tie_weights()
    return model


def keep_lower_layers(model: PreTrainedModel, layers: int) -> None:
    """Take the upper layers off an encoder, in place; 0 keeps all. Raises StudyError where it has fewer."""
    parts: Any = parts_of(model)
    if layers > len(parts.stack):
        raise StudyError(
            f"model.layers={layers}: the encoder has {len(parts.stack)}; give fewer, or 0 for all"
        )
    if layers:
        del parts.stack[layers:]
        model.config.num_hidden_layers = layers


def as_kind(start: PreTrainedModel, kind: str, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """Return the same parameters as a masked (the model itself), causal or seq2seq model.

    What a kind has and never uses, such as the pooler of an encoder, is the same in every process too.
    """
    torch.manual_seed(0)
    return _AS_KIND[kind](start, tokenizer)


def _as_causal(start: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    config = start.config.from_dict(start.config.to_dict() | {"is_decoder": True})
    network: Any = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    model = network(config)
    model.load_state_dict(start.state_dict())
    _set_generation_tokens(model, tokenizer)
    return model


def _as_encoder_decoder(start: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> EncoderDecoderModel:
    """Warm-start both sides from every second layer, so that the model is about the size of the other kinds.

    Both sides share one embedding matrix; each layer's cross-attention starts from its self-attention.
    """
    n_layers = max(1, start.config.num_hidden_layers // 2)
    shape = start.config.to_dict() | {"num_hidden_layers": n_layers}
    decoder_config = start.config.from_dict(shape | {"is_decoder": True, "add_cross_attention": True})
    config = EncoderDecoderConfig.from_encoder_decoder_configs(start.config.from_dict(shape), decoder_config)
    model = EncoderDecoderModel(config)
    weights = _every_second_layer(start.state_dict(), n_layers)
    cross = {
        k.replace(".attention.", ".crossattention."): v for k, v in weights.items() if ".attention." in k
    }
    model.decoder.load_state_dict(weights | cross)
    prefix = f"{start.base_model_prefix}."
    encoder = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
    model.encoder.load_state_dict(encoder, strict=False)
    _set_generation_tokens(model, tokenizer)
    return model


def _every_second_layer(weights: dict[str, torch.Tensor], n_layers: int) -> dict[str, torch.Tensor]:
    chosen = {}
    for name, value in weights.items():
        before, separator, after = name.partition(".layer.")
        number, _, tail = after.partition(".")
        if not separator:
            chosen[name] = value
        elif int(number) % 2 == 0 and int(number) // 2 < n_layers:
            chosen[f"{before}.layer.{int(number) // 2}.{tail}"] = value
    return chosen


_AS_KIND: dict[str, Callable[..., PreTrainedModel]] = {
    "masked": lambda start, _: start,
    "causal": _as_causal,
    "seq2seq": _as_encoder_decoder,
}


def _set_generation_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Set the tokens with which `generate` starts, ends and pads a text."""
    tokens = {
        "bos_token_id": tokenizer.cls_token_id,
        "decoder_start_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    for name, value in tokens.items():
        setattr(model.config, name, value)
        setattr(model.generation_config, name, value)
