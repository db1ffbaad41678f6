"""`InfillAugmenter` and `augment`: variants of texts in which a model rewrote some words, with their labels."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import torch

from ..arguments import is_number, to_list
from ..draws import keyed_rng, pick_runs, pick_singly
from ..errors import BlankfillError
from ..filler import ON_ERROR, Filler
from ..loading import Model, Tokenizer, open_model, open_second
from ..networks.checkpoints import model_kind, sentinel_tokens
from ..ranges import MANY, SEEDS, Range, check_number
from ..slots.utf8 import HALF
from ..text import CharSpan, DocumentError
from .choosing import Strategy, are_rules
from .labels import KEEP, POLICIES, join, move_entities
from .sources import Source, SourceReader

SHARES, TIMES = Range(0, 1, above=True), Range(1, MANY, whole=True)
OF_DRAWING, OF_GIBBS = {"top_k", "top_p"}, {"order", "sweeps"}  # refused at temperature 0


@dataclass(frozen=True)
class Draft:
    """A variant that is not yet written: which spans of the source are blanks; `id` keys the draws of their fills."""

    id: str
    source: Source
    blanks: list[CharSpan]


class InfillAugmenter:
    """Replaces a share of the words of texts by what a model writes in their place, and moves the labels.

    >>> augmenter = InfillAugmenter(model, tokenizer, share=0.3, protect=["mg"])
    >>> augmenter.augment("Aspirin reduced her fever.", n=2, entities=[(0, 7, "Drug")])
    >>> dataset.map(augmenter, batched=True)

    - model, tokenizer, device, dtype, batch_tokens: as in `Filler`.
    - share: of the words that may change, above 0 and at most 1, rounded to a count; each variant draws its own words.
    - strategy: which words may change. "random": any word but punctuation; "spans": the same, in runs of 3 words on
      average; "entities", "outside_entities": those that touch an entity, or none; or a function of a text, the (start,
      end) of its words and of its entities, which returns word numbers.
    - protect: what never changes: strings (as whole words, in any case), a compiled pattern, or several of both. A word
      that is protected in part does not change.
    - labels: "keep" leaves a label on what was written for its words; "drop_replaced" drops a label whose words were all
      replaced, unless the same characters came back.
    - on_error: "raise", or "skip": a text that cannot be filled has no variants.
    - settings: those of `Filler` by name. Temperature is 1.0 unless given, where the way of filling draws words at all
      (an encoder-decoder, look-ahead and context="fim" are greedy).

    A variant depends on the seed, on the text (or its id, where ids are given) and on its number, never on the other
    texts. Raises BlankfillError for settings that do not go together, and for a model that writes the whole text anew.
    """

    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer | None = None,
        *,
        share: float = 0.3,
        strategy: str | Strategy = "random",
        protect: Any = None,
        labels: str = KEEP,
        seed: int = 0,
        on_error: str = "raise",
        device: str | torch.device = "auto",
        dtype: str | torch.dtype = "auto",
        **settings: Any,
    ):
        check_number("share", share, SHARES)
        check_number("seed", seed, SEEDS)
        for name, value, values in (("labels", labels, POLICIES), ("on_error", on_error, ON_ERROR)):
            if value not in [*values]:
                raise BlankfillError(f"{name}={value} is unknown: choose {' or '.join(values)}")
        self.share, self.labels, self.seed, self.on_error = share, labels, int(seed), on_error
        self.strategy = strategy
        self._reader = SourceReader(strategy, protect)
        if "config" in settings:
            raise BlankfillError("config is not taken here: give its settings by name")
        network, loaded_tokenizer = open_model(model, tokenizer, device, dtype)
        if settings.get("second") is not None:
            second = open_second(settings["second"], loaded_tokenizer, network, device, dtype)
            settings = settings | {"second": second}
        warm = OF_DRAWING | OF_GIBBS if settings.get("order") == "gibbs" else OF_DRAWING
        greedy = {name: value for name, value in settings.items() if name not in warm}
        if "temperature" not in settings and Filler(network, loaded_tokenizer, **greedy).samples():
            settings = settings | {"temperature": 1.0}
        self.filler = Filler(network, loaded_tokenizer, seed=seed, **settings)
        _refuse_whole_texts(self.filler)

    def augment(
        self,
        texts: str | Iterable[str],
        n: int = 1,
        entities: Any = None,
        *,
        blanks: Any = None,
        protect: Any = None,
        ids: Any = None,
    ) -> list:
        """Return for each text a list of n variants, each {"text": ..., "entities": [...]}; one list for a string.

        - entities: for each text a list of {"start", "end", ...} or (start, end, label), characters with the end
          exclusive; or one {"start": [...], "end": [...], ...}, as `datasets` stores a sequence of features. They come
          back in the same form and order, with new offsets. The keys `text` and `word` of an entity get its new characters.
        - blanks: for each text the spans (start, end) that may be replaced, in place of a strategy.
        - protect: for each text the spans (start, end) that never change, beside what the augmenter protects.
        - ids: a name for each text, all different, by which draws are keyed and errors name it.

        A blank for which the model has no answer keeps its original. Raises BlankfillError, which never shows a text.
        """
        check_number("n", n, TIMES)
        sources = self._reader.read(texts, entities, blanks, protect, ids)
        drafts = [[self._draft(source, number) for number in range(n)] for source in sources]
        fills = self._write([draft for variants in drafts for draft in variants])
        augmented = [
            [self._finish(draft, fills[draft.id]) for draft in variants if draft.id in fills]
            for variants in drafts
        ]
        return augmented[0] if isinstance(texts, str) else augmented

    def __call__(self, batch: Mapping[str, list], n: int = 1) -> dict[str, list]:
        """Return a batch of columns with n variants in place of each row, one after the other, for `dataset.map`.

        >>> dataset.map(augmenter, batched=True, fn_kwargs={"n": 3})

        Columns `text` and, where there is one, `entities` are written anew; draws are keyed by `id` where there is
        one. All others are repeated, `id` too. Draws of rows that share an id, as variants do, are keyed by <id>-1,
        <id>-2, ..., in the order of the batch.
        """
        if not isinstance(batch, Mapping) or "text" not in batch or isinstance(batch["text"], str):
            raise BlankfillError(
                "an augmenter is called on a batch of columns with a column text, as `dataset.map(augmenter, "
                "batched=True)` does; for texts call its `augment`"
            )
        ids = batch.get("id")
        ids = None if ids is None else [*_number_repeated(to_list("ids", ids))]
        augmented = self.augment(batch["text"], n, batch.get("entities"), ids=ids)
        columns = {
            name: [value for value, variants in zip(values, augmented, strict=True) for _ in variants]
            for name, values in batch.items()
        }
        for name in {"text", "entities"} & {*batch}:
            columns[name] = [variant[name] for variants in augmented for variant in variants]
        return columns

    def _draft(self, source: Source, number: int) -> Draft:
        rng = keyed_rng(self.seed, "augment", source.name, number)
        n_blanks = int(np.floor(self.share * len(source.eligible) + 0.5))
        pick = pick_runs if self.strategy == "spans" else pick_singly
        blanks = [source.eligible[place] for place in sorted(pick(len(source.eligible), n_blanks, rng))]
        key = (source.name, number, source.text, blanks)
        return Draft(hashlib.sha256(repr(key).encode()).hexdigest(), source, blanks)

    def _write(self, drafts: list[Draft]) -> dict[str, list[str]]:
        """Return the fills of each draft by its id; equal drafts are written once, and those that fail left out."""
        fills: dict[str, list[str]] = {draft.id: [] for draft in drafts if not draft.blanks}
        open_drafts = {draft.id: draft for draft in drafts if draft.blanks}
        if not open_drafts:
            return fills
        try:
            filled = self.filler(
                [draft.source.text for draft in open_drafts.values()],
                [draft.blanks for draft in open_drafts.values()],
                ids=[*open_drafts],
                on_error=self.on_error,
            )
        except DocumentError as error:
            raise DocumentError(open_drafts[error.id].source.place, error.problem) from error
        except BlankfillError as error:
            problem = str(error)
            for id, draft in open_drafts.items():
                problem = problem.replace(id, draft.source.place)
            raise BlankfillError(problem) from error
        for (id, draft), written in zip(open_drafts.items(), filled.fills, strict=True):
            if id not in filled.skipped:
                fills[id] = [
                    draft.source.text[slice(*span)] if not words or HALF in words else words
                    for span, words in zip(draft.blanks, written, strict=True)
                ]
        return fills

    def _finish(self, draft: Draft, fills: list[str]) -> dict[str, Any]:
        source = draft.source
        moved = move_entities(source.entities, self.labels, source.text, draft.blanks, fills)
        by_key = source.keys and {key: [row[key] for row in moved] for key in source.keys}
        return {"text": join(source.text, draft.blanks, fills), "entities": by_key or moved}


def _number_repeated(ids: list) -> Iterator[Any]:
    """Yield ids, each that stands there more than once as <id>-1, <id>-2, ..., and never as another id of these."""
    times = Counter(map(str, ids))
    numbers = {name: count(1) for name in times}
    for id in ids:
        is_name = isinstance(id, str) or is_number(id)  # anything else is refused as it stands
        if is_name and times[str(id)] > 1:
            names = (f"{id}-{number}" for number in numbers[str(id)])
            yield next(name for name in names if name not in times)
        else:
            yield id


def _refuse_whole_texts(filler: Filler) -> None:
    """Raise BlankfillError for a model or setting that writes the whole text anew."""
    config = filler.config
    has_blanks = model_kind(filler.model) != "seq2seq" or sentinel_tokens(filler.tokenizer)
    if config.context == "kept" or config.source == "kept" or not has_blanks:
        raise BlankfillError(
            "this model or setting writes the whole text anew, so labels have no place: give a masked or causal model, "
            "or an encoder-decoder with sentinels (T5)"
        )


def augment(
    texts: str | Iterable[str],
    model: Model,
    tokenizer: Tokenizer | None = None,
    *,
    n: int = 1,
    entities: Any = None,
    blanks: Any = None,
    protect: Any = None,
    ids: Any = None,
    **settings: Any,
) -> list:
    """Return for each text a list of n variants, each {"text": ..., "entities": [...]}; one list for a string.

    protect: strings, a compiled pattern, or for each text the spans (start, end) that never change. settings: those of
    `InfillAugmenter`. All else is as in `InfillAugmenter.augment`.
    """
    protect = [*protect] if isinstance(protect, Iterator) else protect
    rules, spans = (protect, None) if are_rules(protect) else (None, protect)
    augmenter = InfillAugmenter(model, tokenizer, protect=rules, **settings)
    return augmenter.augment(texts, n, entities, blanks=blanks, protect=spans, ids=ids)
