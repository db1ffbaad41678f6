"""How an encoder-decoder fills blanks: it reads the kept text and generates the whole text or only the answers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from transformers import EncoderDecoderCache, GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

from ..blanks import BlankedText, DocumentError, FilledText, assemble_text, group_adjacent_blanks
from ..errors import StudyError
from ..hardware import MEMORY
from ..models.checkpoints import sentinel_tokens
from ..models.kernels.attention import NAME as FAST
from ..models.kernels.attention import kept_in
from ..models.kernels.linear import prepacked_products
from ..models.kernels.training_attention import attention_of
from ..models.sizes import count_parameters, forward_flops, output_layer, position_limit
from .alignment import align, split_answer
from .axes import check_values
from .ledger import Ledger
from .vocabulary import CONTINUATION_PREFIX, all_tokens, word_prefix
from .walking import make_cache

GENERATION_TOKENS = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id")
Settle = Callable[[BlankedText, list[int]], FilledText]


def fill_seq2seq(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    source: str = "kept",
    max_new_tokens: int,
    batch_documents: int = 160,
) -> tuple[list[FilledText], Ledger]:
    """Generate for every document greedily, at most `max_new_tokens` tokens.

    source `kept`: the model reads the kept words alone, without masks, and generates the whole text; the fills are
    read off an alignment with the kept words. source `sentinel`: a mask stands for each group of adjacent blanks. A
    T5-style tokenizer has a sentinel per group (`<extra_id_0>`, ...); the model generates the answers alone, so every
    other character is kept. Any other tokenizer has one mask, and the model generates the whole text. A blank without
    an answer gets an empty fill. Equal inputs are read once; the ledger counts each document as if it were alone.

    Raises DocumentError for a document that does not fit, StudyError for a tokenizer without masks.
    """
    check_values("seq2seq", {"max_new_tokens": max_new_tokens})
    read, settle = _way(tokenizer, source)
    inputs = [read(text) for text in blanked]
    lengths = _check_lengths(model, tokenizer, blanked, inputs)
    distinct = sorted(set(inputs), key=lambda text: (len(text), text))
    limit = position_limit(model)
    max_new_tokens = min(max_new_tokens, limit - 1) if limit else max_new_tokens
    ledger = Ledger.of(blanked)
    generated: dict[str, list[int]] = {}
    with prepacked_products(model):
        for start in range(0, len(distinct), batch_documents):
            batch = distinct[start : start + batch_documents]
            generated |= zip(batch, _generate(model, tokenizer, batch, max_new_tokens), strict=True)
    sizes = count_parameters(model)
    for given in inputs:
        _count(ledger, sizes, lengths[given], len(generated[given]))
    return [settle(text, generated[given]) for text, given in zip(blanked, inputs, strict=True)], ledger


def _way(tokenizer: PreTrainedTokenizerBase, source: str) -> tuple[Callable[[BlankedText], str], Settle]:
    """Return how a document is read, and how the generated tokens become a filled text."""
    check_values("seq2seq", {"source": source})
    if source == "kept":
        return kept_words, settle_whole(tokenizer)
    sentinels = sentinel_tokens(tokenizer)
    if sentinels:
        ids_of = list(sentinels.values())
        return lambda text: masked_text(text, list(sentinels)), lambda text, ids: settle_answers(
            text, find_answers(tokenizer, ids, ids_of)
        )
    mask = tokenizer.mask_token
    if mask is None:
        raise StudyError("source=sentinel needs a tokenizer with a mask or <extra_id_0>: use source=kept")
    return lambda text: masked_text(text, [mask] * len(text.blanks)), settle_whole(tokenizer)


def settle_whole(tokenizer: PreTrainedTokenizerBase) -> Settle:
    """Return how the tokens of a text that was generated whole become a filled text."""
    # WordPiece puts spaces around punctuation; decoding removes them
    is_spaced = word_prefix(all_tokens(tokenizer)) == CONTINUATION_PREFIX

    def settle(text: BlankedText, ids: list[int]) -> FilledText:
        decoded = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=is_spaced)
        return align(text, str(decoded))

    return settle


def kept_words(text: BlankedText) -> str:
    """Return the kept words joined by spaces."""
    return " ".join(text.text[slice(*text.words[i])] for i in text.kept_words())


def masked_text(text: BlankedText, masks: list[str]) -> str:
    """Return the text with a mask for every group of adjacent blanks; DocumentError if there are too few masks."""
    groups = group_adjacent_blanks(text)
    if len(groups) > len(masks):
        raise DocumentError(
            text.id, f"{len(groups)} groups of blanks, and the tokenizer has {len(masks)} sentinels for them"
        )
    pieces, cursor = [], 0
    for group, mask in zip(groups, masks, strict=False):
        pieces += [text.text[cursor : text.words[group[0]][0]], mask]
        cursor = text.words[group[-1]][1]
    return "".join([*pieces, text.text[cursor:]])


def find_answers(
    tokenizer: PreTrainedTokenizerBase, ids: list[int], sentinel_ids: list[int]
) -> dict[int, str]:
    """Return what was generated after each sentinel, by the sentinel's number; the first answer counts."""
    number_of = {sentinel: number for number, sentinel in enumerate(sentinel_ids)}
    answers: dict[int, list[int]] = {}
    current: list[int] = []
    for token in ids:
        if token in number_of:
            current = []
            answers.setdefault(number_of[token], current)
        else:
            current.append(token)
    return {
        number: str(tokenizer.decode(answer, skip_special_tokens=True)).strip()
        for number, answer in answers.items()
    }


def settle_answers(text: BlankedText, answers: dict[int, str]) -> FilledText:
    """Put the answers into the groups of blanks, the words of an answer into the blanks of its group."""
    fills: list[str] = []
    for number, group in enumerate(group_adjacent_blanks(text)):
        fills += split_answer(answers.get(number, ""), len(group))
    return assemble_text(text, fills)


def _check_lengths(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, blanked: list[BlankedText], inputs: list[str]
) -> dict[str, int]:
    """Return the number of tokens of each input; raises DocumentError for one that does not fit."""
    limit = position_limit(model)
    encoded = tokenizer(inputs)["input_ids"] if inputs else []
    for text, ids in zip(blanked, encoded, strict=True):
        if limit and len(ids) > limit:
            raise DocumentError(text.id, f"{len(ids)} tokens do not fit the model's {limit}; cut it shorter")
    return {text: len(ids) for text, ids in zip(inputs, encoded, strict=True)}


@torch.inference_mode()
def _generate(
    model: Any, tokenizer: PreTrainedTokenizerBase, inputs: list[str], max_new_tokens: int
) -> list[list[int]]:
    """Return the tokens that the model generates for each input, without padding."""
    encoded = tokenizer(inputs, padding=True, return_tensors="pt")
    ids, seen = encoded["input_ids"].to(model.device), encoded["attention_mask"].to(model.device)
    if model.config.model_type == "encoder-decoder":
        with attention_of(model, FAST):
            generated = _generate_step_by_step(model, ids, seen, max_new_tokens)
    else:
        settings = {"max_new_tokens": max_new_tokens, "do_sample": False, "num_beams": 1}
        with _plain_generation(model):
            generated = model.generate(input_ids=ids, attention_mask=seen, **settings)[:, 1:].tolist()
    return [[token for token in ids if token != tokenizer.pad_token_id] for ids in generated]


@contextmanager
def _plain_generation(model: PreTrainedModel) -> Iterator[None]:
    """Let `generate` use the checkpoint's special tokens but none of its habits (forced tokens, least length, ...).

    A fresh configuration passed to `generate` would take those up again, so the model's own is replaced.
    """
    own = model.generation_config
    model.generation_config = GenerationConfig(**{name: getattr(own, name) for name in GENERATION_TOKENS})
    try:
        yield
    finally:
        model.generation_config = own


def _generate_step_by_step(model: Any, ids: torch.Tensor, seen: torch.Tensor, n_most: int) -> list[list[int]]:
    """Generate greedily, as `generate` does, but drop finished documents once they are a quarter of the batch."""
    read = model.encoder(input_ids=ids, attention_mask=seen).last_hidden_state
    kept = kept_in(model.decoder)
    cache = EncoderDecoderCache(make_cache(n_most, kept), make_cache(ids.shape[1], kept))
    generated: list[list[int]] = [[] for _ in ids]
    rows, head, tokens = list(range(len(ids))), output_layer(model), model.generation_config
    last = torch.full((len(ids), 1), tokens.decoder_start_token_id, device=ids.device)
    for _ in range(n_most):
        states = model.decoder.base_model(
            input_ids=last,
            encoder_hidden_states=read,
            encoder_attention_mask=seen,
            past_key_values=cache,
            use_cache=True,
        ).last_hidden_state[:, -1]
        last = head(states).argmax(-1, keepdim=True)
        for row, token in zip(rows, last[:, 0].tolist(), strict=True):
            if generated[row][-1:] != [tokens.eos_token_id]:
                generated[row].append(token)
        MEMORY.release_if_grown()
        going = [i for i, row in enumerate(rows) if generated[row][-1] != tokens.eos_token_id]
        if not going:
            break
        if len(going) <= 0.75 * len(rows):
            for part in (cache.self_attention_cache, cache.cross_attention_cache):
                part.batch_select_indices(torch.tensor(going, device=ids.device))
            rows, last, read, seen = [rows[i] for i in going], last[going], read[going], seen[going]
    return generated


def _count(ledger: Ledger, sizes: dict[str, int], n_read: int, n_generated: int) -> None:
    ledger.passes += n_generated
    ledger.tokens_filled += n_generated
    ledger.token_forwards += n_read + n_generated
    ledger.flops += forward_flops(sizes, (n_read + n_generated) // 2, n_generated)
