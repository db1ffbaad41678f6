"""The public function `fill`: fill the blanks of texts with any masked, causal or encoder-decoder model."""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .arguments import read_arguments
from .axes import AXIS, MODEL_KINDS, arguments_of
from .decoding.causal import fill_causal
from .decoding.infill import fill_infill
from .decoding.kept import fill_kept
from .decoding.lookahead import fill_lookahead
from .decoding.masked import fill_masked
from .decoding.masked_left import fill_masked_left
from .decoding.product import fill_product
from .decoding.seq2seq import fill_seq2seq
from .errors import BlankfillError
from .networks.checkpoints import check_kind, model_kind
from .slots.ledger import Ledger
from .slots.sampling import Sampling
from .text import (
    BlankedText,
    CharSpan,
    DocumentError,
    FilledText,
    blank_out,
    find_markers,
    find_words,
    leave_unfilled,
)

FillTexts = Callable[[list[BlankedText]], tuple[list[FilledText], Ledger]]
HALF = "\ufffd"  # what a decoder writes for bytes that are no character
FILLERS: dict[str, Callable[..., tuple[list[FilledText], Ledger]]] = {
    "masked": fill_masked,
    "causal": fill_causal,
    "infill": fill_infill,
    "masked_left": fill_masked_left,
    "lookahead": fill_lookahead,
    "kept": fill_kept,
    "seq2seq": fill_seq2seq,
    "product": fill_product,
}
CAUSAL_CONTEXTS = {
    "left": "causal",
    "true_left": "causal",
    "both": "infill",
    "masked_left": "masked_left",
    "kept": "kept",
}


@dataclass(frozen=True)
class Filled:
    """Filled texts, in the order given.

    fills: what each blank of each text was filled with. spans: the characters of each fill in its new text (None for
    an empty one). ledger: what it cost. skipped: the ids of documents that could not be filled, with the reason; their
    blanks are left out, or kept as they were where the blanks themselves were wrong. n_unanswered: the blanks of the
    other documents for which the model gave no answer (an empty fill) or one with half of a character in it, as tokens
    of bytes can make one in a blank of several.
    """

    texts: list[str]
    fills: list[list[str]]
    spans: list[list[CharSpan | None]]
    ledger: Ledger
    skipped: dict[str, str]
    n_unanswered: int


def fill(
    texts: Iterable[str],
    blanks: Iterable[list[CharSpan]] | str,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    *,
    second: PreTrainedModel | None = None,
    temperature: float = 0.0,
    top_k: int = 0,
    top_p: float = 1.0,
    seed: int = 0,
    ids: Iterable[str] | None = None,
    counts: Iterable[list[int]] | None = None,
    on_error: str = "raise",
    **axes: Any,
) -> Filled:
    """Fill the blanks of texts; the class of the model decides how.

    >>> tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
    >>> model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased").eval()
    >>> filled = fill(["Take ___ tablets a ___."], "___", model, tokenizer, length="one", order="confidence")
    >>> filled.texts, filled.fills

    One text may be given as a string, with its blanks, id and counts without a list around them. The model may be in
    training mode: it is used in evaluation mode and given back as it was.

    blanks: for each text the characters to replace as (start, end) pairs, in order and not overlapping; or one marker
    string that stands for every blank in the texts. A marker has no original, so a masked or causal model has no
    tokens to count: give length="one" or "free", or the `counts`: for each text, the number of tokens of each blank.

    axes of a masked model (`fill_masked`): context "both" | "left" | "leaky"; length "known" (as many tokens as the
    original) | "one" | "free"; order (one of ORDERS) and its pace per_pass, passes, threshold, entropy_bound,
    sweeps, schedule; max_length. Of a causal model (`fill_causal`, `fill_infill`): context "left" (the default) or
    "both" (for a model trained with objective `infill`; with `candidates` and `lookahead`, for any: `fill_lookahead`),
    length "known" | "one" | "free", max_length; or "masked_left" (`fill_masked_left`, for one trained with objective
    `mlm_left`), length "known" | "one"; or "kept" (`fill_kept`, for one trained with objective `kept`), which writes the
    whole text, and max_new_tokens (256). Of an encoder-decoder (`fill_seq2seq`): source "sentinel" (the default) | "kept", and max_new_tokens (256). Of a masked
    model with a causal `second` of the same tokenizer (`fill_product`): weight (0.5), length "known" | "one".

    temperature 0 is greedy. Draws are keyed by (seed, id, slot): neither the batch nor the order of the texts changes
    a fill. ids name the texts in errors and draws, "0", "1", ... by default. Every character outside the blanks is
    kept, except where the whole text is generated (context or source "kept", or an encoder-decoder's tokenizer without
    `<extra_id_0>`).

    Raises BlankfillError, which names a document by id and never shows its text, for a model or settings that cannot
    fill, and for a document that cannot be filled. on_error="skip" leaves such documents unfilled and lists them in
    `skipped`.
    """
    if on_error not in ("raise", "skip"):
        raise BlankfillError(f"on_error={on_error} is unknown: choose raise or skip")
    given = read_arguments(texts, blanks, ids, counts)
    writer, axes = choose_writer(model, second, axes, isinstance(given.blanks, str), counts is not None)
    sampling, padded = Sampling(temperature, top_k, top_p, seed), with_padding(tokenizer)
    fill_texts = partial(fill_with, writer, model, padded, sampling, axes)
    names = name_texts(given.ids, given.texts)
    skipped: dict[str, str] = {}
    blanked = read_blanks(
        names, given.texts, given.blanks, given.counts, skipped if on_error == "skip" else None
    )
    whole = [text for text in blanked if text.id not in skipped]
    if on_error == "raise":
        filled, ledger = fill_texts(whole)
    else:
        filled, ledger, failed = fill_skipping_failures(fill_texts, whole)
        skipped |= failed
    return _gather(blanked, {made.id: made for made in filled}, ledger, skipped)


def fill_skipping_failures(
    fill_texts: FillTexts, blanked: list[BlankedText]
) -> tuple[list[FilledText], Ledger, dict[str, str]]:
    """Fill the documents that can be; return them, the cost, and why each of the others was left out (by id).

    Halves the documents until those that raise DocumentError are alone. Any other error concerns all of them and is
    raised.
    """
    try:
        return *fill_texts(blanked), {}
    except DocumentError as error:
        if len(blanked) == 1:
            return [], Ledger(), {blanked[0].id: str(error)}
    middle = len(blanked) // 2
    first = fill_skipping_failures(fill_texts, blanked[:middle])
    second = fill_skipping_failures(fill_texts, blanked[middle:])
    return first[0] + second[0], first[1] + second[1], first[2] | second[2]


def name_texts(ids: list[str] | None, texts: list[str]) -> list[str]:
    """Return the ids of the texts, by default their numbers; BlankfillError unless they are all different."""
    names = [str(i) for i in range(len(texts))] if ids is None else list(ids)
    if len(set(names)) != len(names) or len(names) != len(texts):
        raise BlankfillError(
            f"ids: {len(texts)} texts need as many different ids, these are {len(set(names))}"
        )
    return names


def check_axes(kind: str, axes: dict, has_marker: bool, has_counts: bool) -> None:
    """Raise BlankfillError for an axis that this kind of model lacks, and for lengths that are not known or not used."""
    known = arguments_of(*(writer for writer, of in MODEL_KINDS.items() if of == kind))
    if not known:
        raise BlankfillError(
            f"{kind}: no writer fills with such a pair; give a masked model and a causal `second`"
        )
    unknown = [name for name in axes if name not in known]
    if unknown:
        raise BlankfillError(f"a {kind} model has no axis {unknown[0]}: it has {', '.join(known)}")
    is_anew = kind == "seq2seq" or axes.get("context") == "kept"
    is_known = not is_anew and axes.get("length", "known") == "known"
    if has_counts and not is_known:
        raise BlankfillError(
            "counts are the lengths of the blanks: they need a masked or causal model, and length=known"
        )
    if has_marker and is_known and not has_counts:
        raise BlankfillError(
            'a marked blank has no known length: set length="one" or "free", give counts, or give the blanks as spans'
        )


def choose_writer(
    model: PreTrainedModel, second: PreTrainedModel | None, axes: dict, has_marker: bool, has_counts: bool
) -> tuple[str, dict]:
    """Return which writer fills with a model, or with two (a key of FILLERS), and its axes; BlankfillError for none."""
    models = [model] if second is None else [model, second]
    kinds = [model_kind(one) for one in models]
    kind = " and ".join(kinds)
    check_axes(kind, axes, has_marker, has_counts)
    for one, its_kind in zip(models, kinds, strict=True):
        check_kind(one, its_kind, "model")
    if second is not None:
        return "product", {"second": second} | axes
    if kind == "seq2seq":
        return kind, {"source": "sentinel", "max_new_tokens": 256} | axes
    if kind == "masked":
        return kind, axes
    context = axes.pop("context", "left")
    if context not in [*CAUSAL_CONTEXTS]:  # of any type
        raise BlankfillError(f"context={context} is not one of a causal model: {', '.join(CAUSAL_CONTEXTS)}")
    searches = context == "both" and {"candidates", "lookahead"} & axes.keys()
    writer = "lookahead" if searches else CAUSAL_CONTEXTS[context]
    if unknown := [name for name in axes if name not in (known := arguments_of(writer))]:
        raise BlankfillError(
            f"{unknown[0]} is no axis of context={context} here, which has {', '.join(known)}"
        )
    return writer, axes | ({"context": context} if writer == "causal" else {})


def fill_with(
    writer: str,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    sampling: Sampling,
    axes: Mapping[str, Any],
    blanked: list[BlankedText],
) -> tuple[list[FilledText], Ledger]:
    """Fill with the function of a writer (a key of FILLERS); `axes` are its keyword arguments."""
    if writer in AXIS["temperature"].values:
        axes = {**axes, "sampling": sampling}
    elif sampling.temperature:
        raise BlankfillError(f"writer {writer} is decoded greedily: leave temperature at 0")
    return FILLERS[writer](model, tokenizer, blanked, **axes)


def with_padding(tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """Return the tokenizer, or a copy that pads with EOS or UNK where it has no padding token; BlankfillError without these."""
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise BlankfillError(
            f"a loaded tokenizer is needed, this is a {type(tokenizer).__name__}: load it with AutoTokenizer"
        )
    if tokenizer.pad_token_id is not None:
        return tokenizer
    mark = tokenizer.eos_token or tokenizer.unk_token
    if not mark:
        raise BlankfillError(
            "the tokenizer has no padding, EOS or UNK token to pad with: set its pad_token to one of its tokens"
        )
    padded = deepcopy(tokenizer)
    padded.pad_token = mark
    return padded


def read_blanks(
    ids: list[str],
    texts: list[str],
    blanks: list[list[CharSpan]] | str,
    counts: list[list[int]] | None,
    skipped: dict[str, str] | None,
) -> list[BlankedText]:
    """Return the texts with words and blanks; a wrong one is added to `skipped`, or raised where that is None."""
    spans = [find_markers(text, blanks) for text in texts] if isinstance(blanks, str) else blanks
    if len(spans) != len(texts):
        raise BlankfillError(
            f"blanks: {len(texts)} texts need as many lists of blanks, these are {len(spans)}"
        )
    if counts is not None and len(counts) != len(texts):
        raise BlankfillError(
            f"counts: {len(texts)} texts need as many lists of counts, these are {len(counts)}"
        )
    blanked = []
    for i, (id, text, given) in enumerate(zip(ids, texts, spans, strict=True)):
        try:
            blanked.append(blank_out(id, text, given, counts[i] if counts else None))
        except DocumentError as error:
            if skipped is None:
                raise
            skipped[id] = str(error)
            blanked.append(BlankedText(id, text, find_words(text), []))
    return blanked


def _gather(
    blanked: list[BlankedText], made: dict[str, FilledText], ledger: Ledger, skipped: dict[str, str]
) -> Filled:
    filled = [made.get(text.id) or leave_unfilled(text) for text in blanked]
    spans = [[one.spans[w] for w in text.blanks] for text, one in zip(blanked, filled, strict=True)]
    n_unanswered = sum(not fill or HALF in fill for one in made.values() for fill in one.fills)
    texts, fills = [one.text for one in filled], [one.fills for one in filled]
    return Filled(texts, fills, spans, ledger, skipped, n_unanswered)
