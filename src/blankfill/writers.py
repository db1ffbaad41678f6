"""The ways of filling, by name: which of them a model has, with which settings, and which documents they cannot fill."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .axes import AXIS, MODEL_KINDS, NAMES, arguments_of, check_together, check_values
from .decoding.causal import fill_causal
from .decoding.infill import fill_infill
from .decoding.kept import fill_kept
from .decoding.lookahead import fill_lookahead
from .decoding.masked import fill_masked
from .decoding.masked_left import fill_masked_left
from .decoding.middle import fill_middle
from .decoding.product import fill_product
from .decoding.seq2seq import fill_seq2seq
from .errors import BlankfillError
from .networks.checkpoints import check_kind, model_kind
from .slots.ledger import Ledger
from .slots.sampling import Sampling
from .text import BlankedText, DocumentError, FilledText

FillTexts = Callable[[list[BlankedText]], tuple[list[FilledText], Ledger]]
FILLERS: dict[str, Callable[..., tuple[list[FilledText], Ledger]]] = {
    "masked": fill_masked,
    "causal": fill_causal,
    "infill": fill_infill,
    "masked_left": fill_masked_left,
    "lookahead": fill_lookahead,
    "kept": fill_kept,
    "middle": fill_middle,
    "seq2seq": fill_seq2seq,
    "product": fill_product,
}
CAUSAL_CONTEXTS = {
    "left": "causal",
    "true_left": "causal",
    "prefix": "causal",
    "both": "infill",
    "masked_left": "masked_left",
    "kept": "kept",
    "fim": "middle",
}


@dataclass(frozen=True)
class Way:
    """How a model fills under some settings: the writer, its keyword arguments, how it draws, the tokens of a batch."""

    writer: str
    settings: dict[str, Any]
    sampling: Sampling
    batch_tokens: int

    @property
    def tokens(self) -> int | None:
        """Return how many tokens a blank may take; None: as many as its original."""
        most = {"known": None, "one": 1, "free": self.settings.get("max_length", 4)}
        return most[self.settings.get("length", "known")]


def fill_skipping_failures(
    fill_texts: FillTexts, blanked: list[BlankedText]
) -> tuple[list[FilledText], Ledger, dict[str, str]]:
    """Fill the documents that can be filled; return them, the cost, and why each of the others was left out (by id).

    The documents are halved until those that raise DocumentError are alone. Any other error concerns all of them and is
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


def check_settings(kind: str, settings: dict, has_marker: bool, has_counts: bool) -> None:
    """Raise BlankfillError for a setting that this kind of model lacks, and for lengths that are not known or not used."""
    names = arguments_of(*(writer for writer, of in MODEL_KINDS.items() if of == kind))
    if not names:
        raise BlankfillError(
            f"{kind}: no way of filling has such a pair; give a masked model and a causal `second`"
        )
    unknown = [name for name in settings if name not in names]
    if unknown:
        raise BlankfillError(f"a {kind} model has no setting {unknown[0]}: it has {', '.join(names)}")
    is_anew = kind == "seq2seq" or settings.get("context") in ("kept", "fim")
    is_known = not is_anew and settings.get("length", "known") == "known"
    if has_counts and not is_known:
        raise BlankfillError(
            "counts are the lengths of the blanks: they need a masked or causal model, and length=known"
        )
    if has_counts and settings.get("context") in ("leaky", "true_left"):
        raise BlankfillError(
            f"context={settings['context']} reads the originals, which have a length of their own: leave counts out"
        )
    if has_marker and settings.get("context") in ("leaky", "true_left"):
        raise BlankfillError(
            f"context={settings['context']} reads the originals, and a marked blank has none: give the blanks as spans"
        )
    if has_marker and is_known and "length" in settings and not has_counts:
        raise BlankfillError(
            'a marked blank has no known length: set length="one" or "free", give counts, or give the blanks as spans'
        )


def choose_writer(
    model: PreTrainedModel, second: PreTrainedModel | None, settings: dict, has_marker: bool, has_counts: bool
) -> tuple[str, dict]:
    """Return which writer fills with a model, or with two (a key of FILLERS), and its settings; BlankfillError for none."""
    models = [model] if second is None else [model, second]
    kinds = [model_kind(network) for network in models]
    kind = " and ".join(kinds)
    check_settings(kind, settings, has_marker, has_counts)
    for network, its_kind in zip(models, kinds, strict=True):
        check_kind(network, its_kind, "model")
    if second is not None:
        return "product", {"second": second} | settings
    if kind == "seq2seq":
        return kind, {"source": "sentinel", "max_new_tokens": 256} | settings
    if kind == "masked":
        return kind, settings
    context = settings.pop("context", "left")
    if context not in [*CAUSAL_CONTEXTS]:  # of any type
        raise BlankfillError(f"context={context} is not one of a causal model: {', '.join(CAUSAL_CONTEXTS)}")
    searches = context == "both" and {"candidates", "lookahead"} & settings.keys()
    writer = "lookahead" if searches else CAUSAL_CONTEXTS[context]
    if unknown := [name for name in settings if name not in (names := arguments_of(writer))]:
        raise BlankfillError(
            f"{unknown[0]} is no setting of context={context} here, which has {', '.join(names)}"
        )
    return writer, settings | ({"context": context} if writer == "causal" else {})


def fill_with(
    writer: str,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    sampling: Sampling,
    settings: Mapping[str, Any],
    blanked: list[BlankedText],
) -> tuple[list[FilledText], Ledger]:
    """Fill with the function of a writer (a key of FILLERS); `settings` are its keyword arguments."""
    refuse_draws(writer, sampling.temperature)
    if writer in AXIS["temperature"].values:
        settings = {**settings, "sampling": sampling}
    return FILLERS[writer](model, tokenizer, blanked, **settings)


def refuse_draws(writer: str, temperature: float) -> None:
    """Raise BlankfillError for a temperature of a writer that only decodes greedily."""
    if temperature and writer not in AXIS["temperature"].values:
        raise BlankfillError(f"{NAMES[writer]} is decoded greedily: leave temperature at 0")


def check_way(writer: str, settings: Mapping[str, Any], temperature: float) -> None:
    """Raise BlankfillError for settings of a writer that do not go together, before anything is filled."""
    check_values(writer, settings)
    check_together(writer, settings, temperature)
    refuse_draws(writer, temperature)


def with_padding(tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """Return the tokenizer, or its copy that pads with EOS or UNK where it has no padding token; BlankfillError without these."""
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
    return _pad_with(mark, tokenizer, len(tokenizer), (*tokenizer.all_special_tokens,))


@lru_cache(maxsize=8)
def _pad_with(
    mark: str, tokenizer: PreTrainedTokenizerBase, n_tokens: int, special: tuple[str, ...]
) -> PreTrainedTokenizerBase:
    """Return one copy of a tokenizer, of which all caches know; another where it got tokens in the meantime."""
    padded = deepcopy(tokenizer)
    padded.pad_token = mark
    return padded
