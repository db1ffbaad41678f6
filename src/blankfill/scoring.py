"""How likely originals are, for texts of any length: exactly, or each token masked alone."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .arguments import list_requests, to_list
from .config import FillConfig, types_of_settings
from .errors import BlankfillError
from .likelihood import Likelihood, measure_likelihood, measure_pseudo_likelihood
from .text import BlankedText, CharSpan, DocumentError, blank_out, find_markers
from .windows import Windows, cut_originals, rename_errors
from .writers import Way

METHODS = ("exact", "pseudo")


def refuse_settings(subject: str, settings: dict[str, Any], names: Iterable[str]) -> None:
    """Raise BlankfillError for a setting of a call that would change nothing."""
    for name in names:
        if name in settings:
            raise BlankfillError(f"{name} changes nothing about {subject}: leave it out")


def refuse_beside_pseudo(settings: dict[str, Any], config: FillConfig) -> None:
    """Raise BlankfillError for settings that method "pseudo" does not heed: it masks each token alone, both sides in sight."""
    refuse_settings("method pseudo", settings, types_of_settings())
    right_words = -1 if config.right_words is None else config.right_words
    if config.context not in (None, "both") or right_words >= 0:
        raise BlankfillError(
            "method=pseudo sees both sides: the filler was made to see less, make another for it"
        )


def blank_originals(texts: Any, spans: Any, ids: Any, marker: str) -> list[BlankedText]:
    """Return the texts with what is scored as blanks; spans None: each text as a whole.

    Raises BlankfillError for a marker, and for a text with one where there are no spans.
    """
    if isinstance(spans, str):
        raise BlankfillError("blanks: a marker has no original to score; give the characters of each blank")
    texts = texts if isinstance(texts, str) else to_list("texts", texts)
    listed = [texts] if isinstance(texts, str) else texts
    blanks = [_whole(text) for text in listed] if spans is None else spans
    blanked = []
    for id, text, places, _ in list_requests(texts, blanks, ids):
        assert not isinstance(places, str)
        marked = find_markers(text, marker)
        if marked and (spans is None or {*marked} & {tuple(place) for place in places}):
            raise DocumentError(id, f"it has a marker {marker}, where nothing stands to score")
        blanked.append(blank_out(id, text, places))
    return blanked


def _whole(text: Any) -> list[CharSpan]:
    if not isinstance(text, str) or not (bare := text.strip()):
        return []
    start = text.index(bare)
    return [(start, start + len(bare))]


def measure(
    way: Way,
    method: str,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
) -> list[Likelihood]:
    """Return the likelihood of the originals of each text, summed over its windows where it is longer than the model."""
    if method not in METHODS:
        raise BlankfillError(f"method={method} is unknown: choose one of {', '.join(METHODS)}")
    if method == "pseudo":
        if way.writer != "masked":
            raise BlankfillError("method=pseudo masks each token alone: it needs a masked model")
        run = partial(measure_pseudo_likelihood, model, tokenizer, batch_tokens=way.batch_tokens)
    else:
        run = partial(
            measure_likelihood,
            way.writer,
            model,
            tokenizer,
            way.settings,
            way.sampling.seed,
            batch_tokens=way.batch_tokens,
        )
    windows = Windows(model, tokenizer, None, sees_right=method == "pseudo")
    windows_of = [cut_originals(windows, text) for text in blanked]
    sums = [Likelihood(text.id, 0.0, sum(map(len, text.originals())), 0) for text in blanked]
    for number in range(max(map(len, windows_of), default=0)):  # ids of windows differ within a round
        here = [i for i, cut in enumerate(windows_of) if number < len(cut)]
        likelihoods = rename_errors(run, [windows_of[i][number] for i in here], [blanked[i].id for i in here])
        for i, likelihood in zip(here, likelihoods, strict=True):
            was = sums[i]
            sums[i] = Likelihood(
                was.id, was.nats + likelihood.nats, was.characters, was.tokens + likelihood.tokens
            )
    return sums
