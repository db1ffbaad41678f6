"""The public face: fill the blanks of texts with any masked, causal or encoder-decoder model."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, fields

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..blanks import BlankedText, DocumentError, FilledText, Span, blank_out, find_marks, put_together
from ..documents import find_words
from ..errors import StudyError
from ..models.checkpoints import check_kind, model_kind
from .axes import MODEL_KINDS, arguments_of
from .causal import fill_causal
from .infill import fill_infill
from .ledger import Ledger
from .masked import fill_masked
from .sampling import Sampling
from .seq2seq import fill_seq2seq

Write = Callable[[list[BlankedText]], tuple[list[FilledText], Ledger]]

CAUSAL_CONTEXTS = {"left": fill_causal, "both": fill_infill}


@dataclass(frozen=True)
class Filled:
    """Filled texts, in the order given.

    fills: what was written in each blank of each text. spans: where each fill stands in its new text, in
    characters (None for an empty one). ledger: what it cost. skipped: the ids of documents that could not be filled,
    with the reason; their blanks are left out, or stay as they were where the blanks themselves were wrong.
    n_unanswered: the blanks of the other documents for which the model gave no answer (an empty fill).
    """

    texts: list[str]
    fills: list[list[str]]
    spans: list[list[Span | None]]
    ledger: Ledger
    skipped: dict[str, str]
    n_unanswered: int


def fill(
    texts: list[str],
    blanks: list[list[Span]] | str,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    *,
    temperature: float = 0.0,
    top_k: int = 0,
    top_p: float = 1.0,
    seed: int = 0,
    ids: list[str] | None = None,
    counts: list[list[int]] | None = None,
    on_error: str = "raise",
    **axes,
) -> Filled:
    """Fill the blanks of texts; the class of the model says how.

    >>> tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
    >>> model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased").eval()
    >>> filled = fill(["Take ___ tablets a ___."], "___", model, tokenizer, length="one", order="confidence")
    >>> filled.texts, filled.fills

    blanks: for each text the characters to replace as (start, end) pairs, in order and apart; or one string that
    marks every blank in the texts. A mark hides nothing, so a masked or causal model has then no original to count:
    say length="one" or "free", or give the `counts`: for each text, how many sub-words each blank takes.

    axes of a masked model (`fill_masked`): context "both" | "left" | "leaky"; length "known" (as many sub-words as
    the original) | "one" | "free"; order (a key of ORDERS) and its pace per_pass, passes, threshold, entropy_bound,
    sweeps, schedule; max_length. Of a causal model (`fill_causal`, `fill_infill`): context "left" (the default) or
    "both" (for a model trained as objective `infill`), length "known" | "one" | "free", max_length. Of an encoder-decoder (`fill_seq2seq`): source "sentinel" (the
    default) | "kept", and max_new_tokens (256).

    temperature 0 is greedy. Draws are keyed by (seed, id, slot): neither the batch nor the order of the texts changes
    a fill. ids name the texts in errors and draws, "0", "1", ... by default. Every character outside the blanks is
    kept, except with an encoder-decoder that writes the whole text (source "kept", or a tokenizer without
    `<extra_id_0>`).

    Raises StudyError, which names a document by id and never shows its text, for a model or settings that cannot
    fill, and for a document that cannot be filled. on_error="skip" leaves such documents out and goes on; they are
    counted in `skipped`.
    """
    if on_error not in ("raise", "skip"):
        raise StudyError(f"on_error={on_error} is unknown: choose raise or skip")
    kind = model_kind(model)
    _check_axes(kind, axes, isinstance(blanks, str), counts is not None)
    sampling = Sampling(temperature, top_k, top_p, seed)
    write = WRITERS[kind](model, _with_padding(tokenizer), sampling, seed, axes)
    names = [str(i) for i in range(len(texts))] if ids is None else list(ids)
    if len(set(names)) != len(names) or len(names) != len(texts):
        raise StudyError(f"ids: {len(texts)} texts need as many different ids, these are {len(set(names))}")
    skipped: dict[str, str] = {}
    blanked = _read_blanks(names, texts, blanks, counts, skipped if on_error == "skip" else None)
    whole = [text for text in blanked if text.id not in skipped]
    if on_error == "raise":
        filled, ledger = write(whole)
    else:
        filled, ledger, unfit = fill_what_fits(write, whole)
        skipped |= unfit
    return _gather(blanked, {made.id: made for made in filled}, ledger, skipped)


def fill_what_fits(
    write: Write, blanked: list[BlankedText]
) -> tuple[list[FilledText], Ledger, dict[str, str]]:
    """Fill the documents that can be; return them, what it cost, and why each of the others was left out (by id).

    Halves the documents until those that raise DocumentError stand alone. Any other error is about all of them and
    is raised.
    """
    try:
        return *write(blanked), {}
    except DocumentError as error:
        if len(blanked) == 1:
            return [], Ledger(), {blanked[0].id: str(error)}
    middle = len(blanked) // 2
    first, second = fill_what_fits(write, blanked[:middle]), fill_what_fits(write, blanked[middle:])
    return first[0] + second[0], _add(first[1], second[1]), first[2] | second[2]


def _add(one: Ledger, other: Ledger) -> Ledger:
    return Ledger(*(getattr(one, field.name) + getattr(other, field.name) for field in fields(Ledger)))


def _check_axes(kind: str, axes: dict, is_marker: bool, is_counted: bool) -> None:
    known = arguments_of(*(writer for writer, of in MODEL_KINDS.items() if of == kind))
    unknown = [name for name in axes if name not in known]
    if unknown:
        raise StudyError(f"a {kind} model has no axis {unknown[0]}: it has {', '.join(known)}")
    is_known = kind != "seq2seq" and axes.get("length", "known") == "known"
    if is_counted and not is_known:
        raise StudyError(
            "counts say how long the blanks are: they need a masked or causal model, and length=known"
        )
    if is_marker and is_known and not is_counted:
        raise StudyError(
            'a marked blank has no original to count the sub-words of: say length="one" or "free", give counts, or '
            "give the blanks as spans"
        )


def _masked(model, tokenizer, sampling: Sampling, seed: int, axes: dict) -> Write:
    check_kind(model, "masked", "model")
    return lambda texts: fill_masked(model, tokenizer, texts, sampling=sampling, seed=seed, **axes)


def _causal(model, tokenizer, sampling: Sampling, seed: int, axes: dict) -> Write:
    check_kind(model, "causal", "model")
    context = axes.pop("context", "left")
    if context not in CAUSAL_CONTEXTS:
        raise StudyError(f"context={context} is not one of a causal model: {', '.join(CAUSAL_CONTEXTS)}")
    write = CAUSAL_CONTEXTS[context]
    return lambda texts: write(model, tokenizer, texts, sampling=sampling, seed=seed, **axes)


def _seq2seq(model, tokenizer, sampling: Sampling, seed: int, axes: dict) -> Write:
    if sampling.temperature:
        raise StudyError("an encoder-decoder is decoded greedily: leave temperature at 0")
    settings = {"source": "sentinel", "max_new_tokens": 256} | axes
    return lambda texts: fill_seq2seq(model, tokenizer, texts, **settings)


WRITERS = {"masked": _masked, "causal": _causal, "seq2seq": _seq2seq}


def _with_padding(tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """Return the tokenizer, with its last mark as padding where it has none; the caller's own is left as it is."""
    if tokenizer.pad_token_id is not None:
        return tokenizer
    padded = deepcopy(tokenizer)
    padded.pad_token = next(mark for mark in (padded.eos_token, padded.unk_token) if mark is not None)
    return padded


def _read_blanks(
    ids: list[str],
    texts: list[str],
    blanks: list[list[Span]] | str,
    counts: list[list[int]] | None,
    skipped: dict[str, str] | None,
) -> list[BlankedText]:
    """Return the texts with words and blanks; wrong ones are noted in `skipped`, or raised where that is None."""
    spans = [find_marks(text, blanks) for text in texts] if isinstance(blanks, str) else blanks
    if len(spans) != len(texts):
        raise StudyError(f"blanks: {len(texts)} texts need as many lists of blanks, these are {len(spans)}")
    if counts is not None and len(counts) != len(texts):
        raise StudyError(f"counts: {len(texts)} texts need as many lists of counts, these are {len(counts)}")
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
    filled = [made.get(text.id) or put_together(text, [""] * len(text.blanks)) for text in blanked]
    spans = [[one.spans[w] for w in text.blanks] for text, one in zip(blanked, filled, strict=True)]
    n_unanswered = sum(fill == "" for one in made.values() for fill in one.fills)
    texts, fills = [one.text for one in filled], [one.fills for one in filled]
    return Filled(texts, fills, spans, ledger, skipped, n_unanswered)
