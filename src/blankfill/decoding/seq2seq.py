"""How an encoder-decoder fills blanks: it reads the kept text and generates the whole text or only the answers."""

from collections.abc import Callable, Iterator

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..axes import check_values
from ..errors import BlankfillError
from ..networks.checkpoints import sentinel_tokens
from ..networks.evaluation import in_evaluation_mode
from ..networks.sizes import count_parameters, forward_flops, position_limit
from ..slots.ledger import Ledger
from ..slots.marks import INSIDE, word_mark
from ..slots.vocabulary import special_tokens
from ..text import BlankedText, DocumentError, FilledText, assemble_text, group_adjacent_blanks
from .alignment import align, split_answer
from .batches import batch_by_size
from .generation import generate_tokens

Settle = Callable[[BlankedText, list[int]], FilledText]


@in_evaluation_mode
def fill_seq2seq(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    source: str = "kept",
    max_new_tokens: int,
    batch_documents: int = 160,
    batch_tokens: int | None = None,
) -> tuple[list[FilledText], Ledger]:
    """Generate every text greedily with an encoder-decoder, at most `max_new_tokens` tokens.

    - source `kept`: the model reads the kept words alone, without masks, and generates the whole text; the fills are
      read off an alignment with the kept words.
    - source `sentinel`: a mask stands for each group of adjacent blanks. A T5-style tokenizer has a sentinel per group
      (`<extra_id_0>`, ...); the model generates the answers alone, so every other character is kept. Any other tokenizer
      has one mask, and the model generates the whole text.

    A blank without an answer gets an empty fill. Equal inputs are read once; the ledger counts each document as if it
    were alone. Raises DocumentError for a document that does not fit, BlankfillError for a tokenizer without masks.
    """
    check_values("seq2seq", {"max_new_tokens": max_new_tokens})
    read, settle = _way(tokenizer, source)
    inputs = [read(text) for text in blanked]
    lengths = _check_lengths(model, tokenizer, blanked, inputs)
    distinct = sorted(set(inputs), key=lambda text: (len(text), text))
    limit = position_limit(model, is_written=True)
    max_new_tokens = min(max_new_tokens, limit - 1) if limit else max_new_tokens
    ledger = Ledger.of(blanked)
    generated: dict[str, list[int]] = {}
    for batch in _cut(distinct, lengths, batch_documents, batch_tokens):
        generated |= zip(batch, generate_tokens(model, tokenizer, batch, max_new_tokens), strict=True)
    sizes = count_parameters(model)
    for prompt in inputs:
        _count(ledger, sizes, lengths[prompt], len(generated[prompt]))
    return [settle(text, generated[prompt]) for text, prompt in zip(blanked, inputs, strict=True)], ledger


def _cut(
    inputs: list[str], lengths: dict[str, int], batch_documents: int, batch_tokens: int | None
) -> Iterator[list[str]]:
    """Yield batches of so many inputs at most, or of so many tokens."""
    if batch_tokens:
        yield from batch_by_size(inputs, lengths.__getitem__, batch_tokens)
        return
    for start in range(0, len(inputs), batch_documents):
        yield inputs[start : start + batch_documents]


def _way(tokenizer: PreTrainedTokenizerBase, source: str) -> tuple[Callable[[BlankedText], str], Settle]:
    """Return how a document is read, and how the generated tokens become a filled text."""
    check_values("seq2seq", {"source": source})
    marks = special_tokens(tokenizer)
    if source == "kept":
        return lambda text: without_marks(text, [kept_words(text)], marks), settle_whole(tokenizer)
    sentinels = sentinel_tokens(tokenizer)
    if sentinels:
        marks = [*dict.fromkeys([*marks, *sentinels])]  # they need not be special tokens (mT5)
        ids_of = list(sentinels.values())
        return lambda text: masked_text(text, list(sentinels), marks), lambda text, ids: settle_answers(
            text, find_answers(tokenizer, ids, ids_of)
        )
    mask = tokenizer.mask_token
    if mask is None:
        raise BlankfillError("source=sentinel needs a tokenizer with a mask or <extra_id_0>: use source=kept")
    return lambda text: masked_text(text, [mask] * len(text.blanks), marks), settle_whole(tokenizer)


def settle_whole(tokenizer: PreTrainedTokenizerBase) -> Settle:
    """Return how the tokens of a text that was generated whole become a filled text."""
    # WordPiece puts spaces around punctuation; decoding removes them
    is_spaced = word_mark(tokenizer) == INSIDE

    def settle(text: BlankedText, ids: list[int]) -> FilledText:
        decoded = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=is_spaced)
        return align(text, str(decoded))

    return settle


def kept_words(text: BlankedText) -> str:
    """Return the kept words joined by spaces."""
    return " ".join(text.text[slice(*text.words[i])] for i in text.kept_words())


def without_marks(text: BlankedText, pieces: list[str], marks: list[str]) -> str:
    """Return what a model reads of a text; DocumentError if it would take characters of the text for a special token."""
    typed = [mark for mark in marks if any(mark in piece for piece in pieces)]
    if typed:
        raise DocumentError(
            text.id, f"it contains {typed[0]}, a special token of this tokenizer: take it out"
        )
    return "".join(pieces)


def masked_text(text: BlankedText, masks: list[str], marks: list[str] | None = None) -> str:
    """Return the text with a mask for every group of adjacent blanks.

    Raises DocumentError if there are too few masks, and if one of `marks` (the special tokens) stands in the text.
    """
    groups = group_adjacent_blanks(text)
    if len(groups) > len(masks):
        raise DocumentError(
            text.id, f"{len(groups)} groups of blanks, and the tokenizer has {len(masks)} sentinels for them"
        )
    pieces, cursor = [], 0
    for group, mask in zip(groups, masks, strict=False):
        pieces += [text.text[cursor : text.words[group[0]][0]], mask]
        cursor = text.words[group[-1]][1]
    pieces.append(text.text[cursor:])
    without_marks(text, pieces[::2], marks or [])
    return "".join(pieces)


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
    encoded = tokenizer(inputs, verbose=False)["input_ids"] if inputs else []
    for text, ids in zip(blanked, encoded, strict=True):
        if limit and len(ids) > limit:
            raise DocumentError(text.id, f"{len(ids)} tokens do not fit the model's {limit}; cut it shorter")
    return {text: len(ids) for text, ids in zip(inputs, encoded, strict=True)}


def _count(ledger: Ledger, sizes: dict[str, int], n_read: int, n_generated: int) -> None:
    ledger.passes += n_generated
    ledger.tokens_filled += n_generated
    ledger.token_forwards += n_read + n_generated
    ledger.flops += forward_flops(sizes, (n_read + n_generated) // 2, n_generated)
