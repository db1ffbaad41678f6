"""How an encoder-decoder writes: it reads what is kept, and writes the whole text or the answers, of any length."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from transformers import EncoderDecoderCache, GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

from ..blanks import BlankedText, DocumentError, FilledText, put_together, runs_of_blanks
from ..errors import StudyError
from ..hardware import MEMORY
from ..models.checkpoints import answer_marks
from ..models.kernels.attention import NAME as FAST
from ..models.kernels.attention import kept_in
from ..models.kernels.linear import prepacked_products
from ..models.kernels.training_attention import attention_of
from ..models.sizes import count_parameters, forward_flops, output_layer, position_limit
from .alignment import align, deal_answers
from .axes import check_values
from .ledger import Ledger
from .vocabulary import GOES_ON, word_sign
from .walking import make_cache

MARKS = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id")


def fill_seq2seq(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    source: str = "kept",
    max_new_tokens: int,
    batch_documents: int = 160,
) -> tuple[list[FilledText], Ledger]:
    """Write every document greedily, `max_new_tokens` sub-words at most.

    source `kept`: the model reads the kept words alone, no mark where words are missing, and writes the whole text;
    the fills are read off an alignment with the kept words. source `sentinel`: a mark stands for each run of
    adjacent blanks. A T5-style tokenizer has a mark for every run (`<extra_id_0>`, ...); the model writes the
    answers alone, so the rest is kept byte for byte. Any other has one mask, and the model writes the whole text.
    A blank without an answer gets an empty fill. Equal inputs are written once.

    Raises DocumentError for a document that does not fit, StudyError for a tokenizer without marks.
    """
    read, settle = _way(tokenizer, source)
    sources = [read(text) for text in blanked]
    lengths = _check_lengths(model, tokenizer, blanked, sources)
    distinct = sorted(set(sources), key=lambda text: (len(text), text))
    ledger = Ledger(documents=len(blanked), blanks=sum(len(text.blanks) for text in blanked))
    written: dict[str, list[int]] = {}
    with prepacked_products(model):
        for start in range(0, len(distinct), batch_documents):
            batch = distinct[start : start + batch_documents]
            output = _write(model, tokenizer, batch, _room(model, max_new_tokens))
            written |= zip(batch, output, strict=True)
            _count(ledger, model, sum(lengths[text] for text in batch), sum(len(ids) for ids in output))
    return [settle(text, written[text_in]) for text, text_in in zip(blanked, sources, strict=True)], ledger


Settle = Callable[[BlankedText, list[int]], FilledText]


def _way(tokenizer: PreTrainedTokenizerBase, source: str) -> tuple[Callable[[BlankedText], str], Settle]:
    """Return how a document is read, and how what the model wrote becomes a filled text."""
    check_values("seq2seq", {"source": source})
    pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    spaced_marks = (
        word_sign(pieces) == GOES_ON
    )  # WordPiece sets spaces around every mark; decoding takes them out

    def settle_whole(text: BlankedText, ids: list[int]) -> FilledText:
        return align(
            text, tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=spaced_marks)
        )

    if source == "kept":
        return kept_words, settle_whole
    marks = answer_marks(tokenizer)
    if marks:
        return lambda text: marked_text(text, list(marks)), lambda text, ids: settle_answers(
            text, read_answers(tokenizer, ids, list(marks.values()))
        )
    if tokenizer.mask_token is None:
        raise StudyError("source=sentinel needs a tokenizer with a mask or <extra_id_0>: use source=kept")
    return lambda text: marked_text(text, [tokenizer.mask_token] * len(text.blanks)), settle_whole


def kept_words(text: BlankedText) -> str:
    """Return the kept words joined by spaces."""
    return " ".join(text.text[slice(*text.words[i])] for i in text.kept_words())


def marked_text(text: BlankedText, marks: list[str]) -> str:
    """Return the text with a mark in place of every run of adjacent blanks; raises DocumentError if they run out."""
    runs = runs_of_blanks(text)
    if len(runs) > len(marks):
        raise DocumentError(
            text.id, f"{len(runs)} runs of blanks, and the tokenizer has {len(marks)} marks for them"
        )
    pieces, cursor = [], 0
    for run, mark in zip(runs, marks, strict=False):
        pieces += [text.text[cursor : text.words[run[0]][0]], mark]
        cursor = text.words[run[-1]][1]
    return "".join([*pieces, text.text[cursor:]])


def read_answers(tokenizer: PreTrainedTokenizerBase, ids: list[int], mark_ids: list[int]) -> dict[int, str]:
    """Return what was written behind each mark, by the mark's number; the first answer of a mark stands."""
    number_of = {mark: number for number, mark in enumerate(mark_ids)}
    answers: dict[int, list[int]] = {}
    current: list[int] = []
    for token in ids:
        if token in number_of:
            current = []
            answers.setdefault(number_of[token], current)
        else:
            current.append(token)
    return {
        number: tokenizer.decode(answer, skip_special_tokens=True).strip()
        for number, answer in answers.items()
    }


def settle_answers(text: BlankedText, answers: dict[int, str]) -> FilledText:
    """Put the answers into the runs of blanks; the words of an answer are dealt to the blanks of its run."""
    fills: list[str] = []
    for number, run in enumerate(runs_of_blanks(text)):
        fills += deal_answers(answers.get(number, ""), len(run))
    return put_together(text, fills)


def _check_lengths(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, blanked: list[BlankedText], sources: list[str]
) -> dict[str, int]:
    """Return the number of sub-words of each input; raises DocumentError for one that does not fit."""
    limit = position_limit(model)
    encoded = tokenizer(sources)["input_ids"] if sources else []
    for text, ids in zip(blanked, encoded, strict=True):
        if limit and len(ids) > limit:
            raise DocumentError(
                text.id, f"{len(ids)} sub-words do not fit the model's {limit}; cut it shorter"
            )
    return {source: len(ids) for source, ids in zip(sources, encoded, strict=True)}


def _room(model: PreTrainedModel, max_new_tokens: int) -> int:
    """Return how many sub-words may be written: no more than the model has positions for."""
    limit = position_limit(model)
    return min(max_new_tokens, limit - 1) if limit else max_new_tokens


@torch.inference_mode()
def _write(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, sources: list[str], max_new_tokens: int
) -> list[list[int]]:
    """Return the sub-words that the model writes for each input, padding left off."""
    inputs = tokenizer(sources, padding=True, return_tensors="pt")
    ids, seen = inputs["input_ids"].to(model.device), inputs["attention_mask"].to(model.device)
    if model.config.model_type == "encoder-decoder":
        with attention_of(model, FAST):
            written = _write_step_by_step(model, ids, seen, max_new_tokens)
    else:
        settings = {"max_new_tokens": max_new_tokens, "do_sample": False, "num_beams": 1}
        with _marks_alone(model):
            written = model.generate(input_ids=ids, attention_mask=seen, **settings)[:, 1:].tolist()
    return [[token for token in ids if token != tokenizer.pad_token_id] for ids in written]


@contextmanager
def _marks_alone(model: PreTrainedModel) -> Iterator[None]:
    """Let `generate` know the checkpoint's marks and none of its habits (forced marks, least length, no repeats).

    A fresh configuration that is handed to `generate` would take those up again, so the model's own is exchanged.
    """
    own = model.generation_config
    model.generation_config = GenerationConfig(**{name: getattr(own, name) for name in MARKS})
    try:
        yield
    finally:
        model.generation_config = own


def _write_step_by_step(
    model: PreTrainedModel, ids: torch.Tensor, seen: torch.Tensor, n_most: int
) -> list[list[int]]:
    """Write as `generate` does, greedily, but let finished documents leave: their places go when they are a quarter."""
    read = model.encoder(input_ids=ids, attention_mask=seen).last_hidden_state
    kept = kept_in(model.decoder)
    cache = EncoderDecoderCache(make_cache(n_most, kept), make_cache(ids.shape[1], kept))
    written: list[list[int]] = [[] for _ in ids]
    rows, marks = list(range(len(ids))), model.generation_config
    last, head = (
        torch.full((len(ids), 1), marks.decoder_start_token_id, device=ids.device),
        output_layer(model),
    )
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
            if written[row][-1:] != [marks.eos_token_id]:
                written[row].append(token)
        MEMORY.look()
        going = [i for i, row in enumerate(rows) if written[row][-1] != marks.eos_token_id]
        if not going:
            break
        if len(going) <= 0.75 * len(rows):
            for part in (cache.self_attention_cache, cache.cross_attention_cache):
                part.batch_select_indices(torch.tensor(going, device=ids.device))
            rows, last, read, seen = [rows[i] for i in going], last[going], read[going], seen[going]
    return written


def _count(ledger: Ledger, model: PreTrainedModel, n_read: int, n_written: int) -> None:
    ledger.passes += n_written
    ledger.tokens_filled += n_written
    ledger.token_forwards += n_read + n_written
    ledger.flops += forward_flops(count_parameters(model), (n_read + n_written) // 2, n_written)
