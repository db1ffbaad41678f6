"""Low-rank adapters (LoRA, by peft): a few parameters are trained, and the stored model is a plain one."""

import warnings

from peft import LoraConfig, PeftModel, get_peft_model
from transformers import PreTrainedModel

from ..sizes import head_parameters


def add_adapters(model: PreTrainedModel, rank: int, alpha: float) -> PeftModel:
    """Give every linear layer but the output matrix an adapter, in place, and freeze the rest.

    What else the output layer has of its own (a dense layer, norm and bias) is trained too, as a start from an
    encoder has it new. The adapters are drawn from torch's global generator; the model writes as before.
    """
    output = model.get_output_embeddings()
    named = dict(model.named_parameters())
    own = [named[name] for name in head_parameters(model) if named[name] is not output.weight]
    config = LoraConfig(r=rank, lora_alpha=alpha, target_modules="all-linear", lora_dropout=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peft tells that GPT-2 stores its matrices transposed, and minds it
        adapted = get_peft_model(model, config)
    for parameter in own:
        parameter.requires_grad_(True)
    return adapted


def merge_adapters(adapted: PeftModel) -> PreTrainedModel:
    """Return the plain model with what the adapters learned added to its matrices."""
    return adapted.merge_and_unload()
