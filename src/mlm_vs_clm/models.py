"""One set of parameters as a masked model, a causal model, or both sides of an encoder-decoder."""

import json
from pathlib import Path

import torch
from tokenizers import BertWordPieceTokenizer, Tokenizer
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    BertLMHeadModel,
    EncoderDecoderConfig,
    EncoderDecoderModel,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from .errors import StudyError

AUTO_CLASSES = {
    "masked": AutoModelForMaskedLM,
    "causal": AutoModelForCausalLM,
    "seq2seq": AutoModelForSeq2SeqLM,
}


def load_tokenizer(folder: Path | str) -> PreTrainedTokenizerBase:
    """Return the tokenizer stored in a checkpoint folder."""
    return AutoTokenizer.from_pretrained(folder, trust_remote_code=False)


def load_model(folder: Path | str, kind: str, dtype: torch.dtype = torch.float32) -> PreTrainedModel:
    """Return a stored checkpoint as a `masked`, `causal` or `seq2seq` model, in evaluation mode; safetensors only."""
    model = AUTO_CLASSES[kind].from_pretrained(
        folder, dtype=dtype, use_safetensors=True, trust_remote_code=False
    )
    model.config._name_or_path = ""  # or the place of the folder would be saved with what is trained from it
    return model.eval()


def start_from_encoder(folder: Path, seed: int) -> BertForMaskedLM:
    """Return a BERT-class encoder with a new language-modelling head tied to its embeddings.

    The head is drawn from `seed`; dropout is off, as every example is seen about once.
    """
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    if config.model_type != "bert":
        raise StudyError(
            f"{folder}: the matched track starts from a BERT-class encoder, this is {config.model_type}"
        )
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    torch.manual_seed(seed)
    return BertForMaskedLM.from_pretrained(folder, config=config, dtype=torch.float32, use_safetensors=True)


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


MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def train_tokenizer(texts: list[str], n_vocabulary: int) -> PreTrainedTokenizerBase:
    """Return an uncased WordPiece tokenizer of BERT's form, learned from the texts; the same texts, the same pieces.

    The trainer numbers letters within words (`##a`) in the order of a random hash, and settles ties by number;
    so the letters are given to it, in order.
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
        special_tokens=[*MARKS, *(f"##{letter}" for letter in letters)],
        show_progress=False,
    )
    learned = Tokenizer.from_str(BertWordPieceTokenizer(wordpiece.get_vocab(), lowercase=True).to_str())
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(tokenizer_object=learned, **dict(zip(names, MARKS, strict=True)))


def as_kind(start: BertForMaskedLM, kind: str, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """Return the same parameters in the class that an objective needs."""
    return {"masked": lambda *_: start, "causal": _as_causal, "seq2seq": _as_encoder_decoder}[kind](
        start, tokenizer
    )


def _as_causal(start: BertForMaskedLM, tokenizer: PreTrainedTokenizerBase) -> BertLMHeadModel:
    config = BertConfig.from_dict(start.config.to_dict() | {"is_decoder": True})
    model = BertLMHeadModel(config)
    model.load_state_dict(start.state_dict())
    _set_marks(model, tokenizer)
    return model


def _as_encoder_decoder(start: BertForMaskedLM, tokenizer: PreTrainedTokenizerBase) -> EncoderDecoderModel:
    """Warm-start both sides from every second layer, so that the whole is about the size of the other models.

    The embeddings of both sides are one matrix; each layer's cross-attention starts from its self-attention.
    """
    n_layers = max(1, start.config.num_hidden_layers // 2)
    shape = start.config.to_dict() | {"num_hidden_layers": n_layers}
    decoder_config = BertConfig.from_dict(shape | {"is_decoder": True, "add_cross_attention": True})
    config = EncoderDecoderConfig.from_encoder_decoder_configs(BertConfig.from_dict(shape), decoder_config)
    model = EncoderDecoderModel(config)
    weights = _every_second_layer(start.state_dict(), n_layers)
    cross = {
        k.replace(".attention.", ".crossattention."): v for k, v in weights.items() if ".attention." in k
    }
    model.decoder.load_state_dict(weights | cross)
    encoder = {
        name.removeprefix("bert."): value for name, value in weights.items() if name.startswith("bert.")
    }
    model.encoder.load_state_dict(encoder, strict=False)
    _set_marks(model, tokenizer)
    return model


def _every_second_layer(weights: dict[str, torch.Tensor], n_layers: int) -> dict[str, torch.Tensor]:
    kept = {}
    for name, value in weights.items():
        before, found, after = name.partition(".layer.")
        number, _, rest = after.partition(".")
        if not found:
            kept[name] = value
        elif int(number) % 2 == 0 and int(number) // 2 < n_layers:
            kept[f"{before}.layer.{int(number) // 2}.{rest}"] = value
    return kept


def _set_marks(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Say to `generate` where a text starts, ends and is padded."""
    marks = {
        "bos_token_id": tokenizer.cls_token_id,
        "decoder_start_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    for name, value in marks.items():
        setattr(model.config, name, value)
        setattr(model.generation_config, name, value)


def hidden_states(model: PreTrainedModel, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return the last hidden states (batch, length, width), before the output layer.

    `inputs` has input_ids and attention_mask, and decoder_input_ids for an encoder-decoder.
    """
    if "decoder_input_ids" not in inputs:
        return model.base_model(**inputs).last_hidden_state
    encoded = model.encoder(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
    return model.decoder.base_model(
        input_ids=inputs["decoder_input_ids"],
        encoder_hidden_states=encoded.last_hidden_state,
        encoder_attention_mask=inputs["attention_mask"],
        use_cache=False,
    ).last_hidden_state


def output_layer(model: PreTrainedModel) -> torch.nn.Module:
    """Return the part that turns hidden states (n, width) into logits (n, vocabulary)."""
    return (model.decoder if hasattr(model, "decoder") and hasattr(model, "encoder") else model).cls


def head_parameters(model: PreTrainedModel) -> list[str]:
    """Return the names of the output layer's own parameters (those not tied to the embeddings)."""
    return [name for name, _ in model.named_parameters() if "cls.predictions" in name]


def count_parameters(model: PreTrainedModel) -> dict[str, int]:
    """Return the parameters that every position passes (`body`) and those of the output layer (`head`)."""
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters()}
    embeddings = sum(size for name, size in sizes.items() if ".embeddings." in name)
    head = sum(size for name, size in sizes.items() if "cls.predictions" in name)
    tied = model.get_output_embeddings().weight.numel()
    return {"body": sum(sizes.values()) - embeddings - head, "head": head + tied, "embeddings": embeddings}


def read_shape(folder: Path) -> dict:
    """Return the configuration that a checkpoint folder declares."""
    return json.loads((folder / "config.json").read_text())
