"""One set of parameters as a masked model, a causal model, or both sides of an encoder-decoder."""

from collections.abc import Callable
from functools import reduce
from pathlib import Path

import torch
from tokenizers import BertWordPieceTokenizer, Tokenizer
from transformers import (
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
from transformers.models.auto import modeling_auto as hf

from .errors import StudyError

AUTO_CLASSES = {
    "masked": AutoModelForMaskedLM,
    "causal": AutoModelForCausalLM,
    "seq2seq": AutoModelForSeq2SeqLM,
}
CLASS_NAMES = {"masked": hf.MODEL_FOR_MASKED_LM_MAPPING_NAMES, "causal": hf.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES}


def load_tokenizer(folder: Path | str) -> PreTrainedTokenizerBase:
    """Return the tokenizer stored in a checkpoint folder."""
    return AutoTokenizer.from_pretrained(folder, trust_remote_code=False)


def load_model(folder: Path | str, kind: str, dtype: torch.dtype = torch.float32) -> PreTrainedModel:
    """Return a stored checkpoint as a `masked`, `causal` or `seq2seq` model, in evaluation mode; safetensors only.

    Raises StudyError for a checkpoint of another kind, and where there is none that can be read.
    """
    try:
        load = AUTO_CLASSES[kind].from_pretrained
        model = load(folder, dtype=dtype, use_safetensors=True, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise StudyError(f"{folder}: cannot be loaded as a {kind} model: {find_reason(error)}") from error
    check_kind(model, kind, str(folder))
    model.config._name_or_path = ""  # or the place of the folder would be saved with what is trained from it
    return model.eval()


def find_reason(error: Exception) -> str:
    """Return the first line of what a library says, cut to 200 characters."""
    return str(error).strip().partition("\n")[0][:200]


def model_kind(model: PreTrainedModel) -> str:
    """Return the kind that the class of a model says: `masked`, `causal` or `seq2seq`."""
    if model.config.is_encoder_decoder:
        return "seq2seq"
    name = type(model).__name__
    for kind, classes in CLASS_NAMES.items():
        if name in classes.values():
            return kind
    raise StudyError(
        f"{name} writes no text: load it with AutoModelForMaskedLM, ...ForCausalLM or ...ForSeq2SeqLM"
    )


def check_kind(model: PreTrainedModel, kind: str, name: str) -> None:
    """Raise StudyError unless a model is of that kind.

    A BERT-class network is causal only if its configuration says `is_decoder`; else it sees the right side too.
    """
    found, decodes = model_kind(model), getattr(model.config, "is_decoder", None)
    if found != "seq2seq" and decodes is not None and model.config.model_type in CLASS_NAMES["masked"]:
        found = "causal" if decodes else "masked"
    if found != kind:
        about = f"a {found} checkpoint ({model.config.model_type})"
        raise StudyError(f"{name}: {about}, where a {kind} one is needed")


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


# The modules between the last hidden states and the logits, in order, by model type. Any other type is run whole.
HEADS = {"bert": ("cls",), "modernbert": ("head", "decoder")}
HEADS |= dict.fromkeys(("roberta", "xlm-roberta", "camembert", "gpt2", "llama", "t5", "bart"), ("lm_head",))


def _writer(model: PreTrainedModel) -> PreTrainedModel:
    """Return the part that carries the output layer: the decoder of two models joined, else the model."""
    return model.decoder if model.config.model_type == "encoder-decoder" else model


def _head_modules(model: PreTrainedModel) -> list[torch.nn.Module]:
    names = HEADS.get(model.config.model_type)
    return [getattr(model, name) for name in names] if names else [model.get_output_embeddings()]


def hidden_states(model: PreTrainedModel, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return what `output_layer` takes: the last hidden states (batch, length, width).

    `inputs` has input_ids, usually attention_mask, and decoder_input_ids for an encoder-decoder; whatever else it
    has (past_key_values, use_cache) is passed on. For a type that HEADS does not know these are the logits.
    """
    if _writer(model).config.model_type not in HEADS:
        return model(**inputs).logits
    if "decoder_input_ids" not in inputs:
        return model.base_model(**inputs).last_hidden_state
    sides, seen = model.base_model, inputs.get("attention_mask")
    encoded = sides.encoder(input_ids=inputs["input_ids"], attention_mask=seen)
    return sides.decoder.base_model(
        input_ids=inputs["decoder_input_ids"],
        encoder_hidden_states=encoded.last_hidden_state,
        encoder_attention_mask=seen,
        use_cache=False,
    ).last_hidden_state


def output_layer(model: PreTrainedModel) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return what turns the rows of `hidden_states` (n, width) into logits (n, vocabulary).

    T5 scales a tied output layer down; BART adds a bias that is no parameter.
    """
    writer = _writer(model)
    if writer.config.model_type not in HEADS:
        return torch.nn.Identity()
    modules = _head_modules(writer)
    if getattr(writer.config, "scale_decoder_outputs", False):
        return lambda hidden: modules[0](hidden * writer.config.d_model**-0.5)
    if hasattr(writer, "final_logits_bias"):
        return lambda hidden: modules[0](hidden) + writer.final_logits_bias[0]
    return modules[0] if len(modules) == 1 else lambda hidden: reduce(lambda x, f: f(x), modules, hidden)


def _embeddings(model: PreTrainedModel) -> set[int]:
    """Return the ids of the parameters that are looked up, and of the norms that belong to them."""
    tables = [module for module in model.modules() if isinstance(module, torch.nn.Embedding)]
    near = [parameter for name, parameter in model.named_parameters() if ".embeddings." in name]
    return {id(p) for p in [*near, *(table.weight for table in tables)]}


def _head(model: PreTrainedModel) -> set[int]:
    return {id(p) for module in _head_modules(_writer(model)) for p in module.parameters()}


def head_parameters(model: PreTrainedModel) -> list[str]:
    """Return the names of the output layer's own parameters (those not tied to the embeddings)."""
    own = _head(model) - _embeddings(model)
    return [name for name, parameter in model.named_parameters() if id(parameter) in own]


def count_parameters(model: PreTrainedModel) -> dict[str, int]:
    """Return the parameters that every position passes (`body`) and those of the output layer (`head`).

    A matrix shared by the embeddings and the output layer counts in both.
    """
    sizes = {id(parameter): parameter.numel() for parameter in model.parameters()}
    looked_up, head = _embeddings(model), _head(model)
    return {
        "body": sum(size for key, size in sizes.items() if key not in looked_up | head),
        "head": sum(sizes[key] for key in head),
        "embeddings": sum(sizes[key] for key in looked_up),
    }


# Their positions start after the padding mark, so the table holds that many fewer.
COUNT_FROM_PADDING = ("roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "longformer")


def position_limit(model: PreTrainedModel) -> int | None:
    """Return how many sub-words fit the model, marks included; None where positions are relative (T5)."""
    config = model.config.encoder if model.config.model_type == "encoder-decoder" else model.config
    limit = getattr(config, "max_position_embeddings", None)
    if limit and config.model_type in COUNT_FROM_PADDING:
        return limit - config.pad_token_id - 1
    return limit
