"""How an encoder-decoder writes: it reads the kept words alone and writes the whole text, of any length."""

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..models import count_parameters
from .alignment import align
from .blanks import BlankedText, FilledText
from .ledger import Ledger, forward_flops


def fill_seq2seq(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    max_new_tokens: int,
    batch_documents: int = 48,
) -> tuple[list[FilledText], Ledger]:
    """Write every document greedily from its kept words (input `kept`: no mark where words are missing).

    Equal sources are written once. The fills are read off an alignment with the kept words.
    """
    sources = [" ".join(text.text[slice(*text.words[i])] for i in text.kept_words()) for text in blanked]
    distinct = sorted(set(sources), key=lambda source: (len(source), source))
    ledger = Ledger(documents=len(blanked), blanks=sum(len(text.blanks) for text in blanked))
    written: dict[str, str] = {}
    for start in range(0, len(distinct), batch_documents):
        batch = distinct[start : start + batch_documents]
        written |= zip(batch, _write(model, tokenizer, batch, max_new_tokens, ledger), strict=True)
    return [align(text, written[source]) for text, source in zip(blanked, sources, strict=True)], ledger


@torch.inference_mode()
def _write(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    sources: list[str],
    max_new_tokens: int,
    ledger: Ledger,
) -> list[str]:
    limit = model.config.encoder.max_position_embeddings
    inputs = tokenizer(sources, padding=True, truncation=True, max_length=limit, return_tensors="pt")
    output = model.generate(
        input_ids=inputs["input_ids"].to(model.device),
        attention_mask=inputs["attention_mask"].to(model.device),
        max_new_tokens=max_new_tokens,
        do_sample=False,
        num_beams=1,
    )
    written = int((output[:, 1:] != tokenizer.pad_token_id).sum())
    read = int(inputs["attention_mask"].sum())
    ledger.passes += written
    ledger.tokens_filled += written
    ledger.token_forwards += read + written
    ledger.flops += forward_flops(count_parameters(model), (read + written) // 2, written)
    return tokenizer.batch_decode(output, skip_special_tokens=True, clean_up_tokenization_spaces=True)
