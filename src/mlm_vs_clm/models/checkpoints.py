"""One set of parameters as a masked model, a causal model, or both sides of an encoder-decoder."""

from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.models.auto import modeling_auto as hf

from ..errors import StudyError
from .sizes import HEADS

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


HEADS |= dict.fromkeys(("roberta", "xlm-roberta", "camembert", "gpt2", "llama", "t5", "bart"), ("lm_head",))


ANSWER_MARK = "<extra_id_{}>"


def answer_marks(tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """Return the marks that a T5-style tokenizer has for runs of blanks, in order, and their ids."""
    known, marks = tokenizer.get_vocab(), {}
    while (mark := ANSWER_MARK.format(len(marks))) in known:
        marks[mark] = known[mark]
    return marks
