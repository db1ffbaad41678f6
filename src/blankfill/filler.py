"""The object that fills blanks, finds candidates for them and scores what stands in them, with one model."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import torch

from .arguments import Request, iterate_requests, list_requests
from .axes import AXIS
from .candidates import Candidate, choose_width, find_candidates
from .config import FillConfig, check_config
from .decoding.walking import STEP
from .errors import BlankfillError
from .filled import Event, Filled, Infill, collect
from .likelihood import Likelihood, refuse_no_likelihood
from .loading import Model, Tokenizer, open_model, open_second
from .networks.evaluation import evaluating
from .networks.linear import packing_if_worth
from .ranges import MANY, Range, check_number
from .scoring import blank_originals, measure, refuse_beside_pseudo, refuse_settings
from .slots.ledger import Ledger
from .streams import cut_stream, show_progress
from .text import (
    BlankedText,
    CharSpan,
    DocumentError,
    FilledText,
    blank_out,
    find_words,
    hide_markers,
    leave_unfilled,
)
from .windows import Windows, fill_in_windows
from .writers import FillTexts, Way, check_way, choose_writer, fill_skipping_failures, fill_with, with_padding

MARKER = "___"
ON_ERROR = ("raise", "skip")
CHARACTERS = 128  # of the texts that are held at a time, per token of a batch


class Filler:
    """Fills the blanks of texts with one model, which is loaded once.

    >>> filler = Filler("google-bert/bert-base-uncased")
    >>> filler("Take ___ tablets a ___.").text

    - model: an object of transformers (masked, causal or encoder-decoder), a hub id, or a folder with safetensors.
    - tokenizer: the same; None is that of a named model. A model that is an object needs its tokenizer.
    - device, dtype: "auto" is a GPU, if there is one, in the stored type, else the CPU in float32; an object stays as it is.
    - batch_tokens: tokens in a pass at most (16 times as many where one token of each text is read at a time).
    - config, settings: those of `FillConfig`; a setting by name counts more. Every method takes settings for one call.
    - second: a causal model beside a masked one, of the same tokenizer, size of vocabulary and number of positions; one
      that is loaded by name goes to the device of `model`, unless another is named.

    `history` has an `Event` for each token that the last call wrote, in order. A model in training mode gets its mode
    back. Raises BlankfillError, in one line, for a model that cannot be read, and for settings that it does not have.
    """

    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer | None = None,
        *,
        device: str | torch.device = "auto",
        dtype: str | torch.dtype = "auto",
        batch_tokens: int = 2048,
        config: FillConfig | None = None,
        second: Model | None = None,
        **settings: Any,
    ):
        check_number("batch_tokens", batch_tokens, Range(1, MANY, whole=True))
        self.config = check_config(config).with_settings(**settings)
        self.batch_tokens = batch_tokens
        self.model, read = open_model(model, tokenizer, device, dtype)
        self.tokenizer = with_padding(read)
        self.second = open_second(second, self.tokenizer, self.model, device, dtype)
        self.history: list[Event] = []
        self._choose(self.config)

    def samples(self) -> bool:
        """Return whether the way of filling draws words: an encoder-decoder, look-ahead and others are greedy."""
        return self._choose(self.config).writer in AXIS["temperature"].values

    def __repr__(self) -> str:
        name = type(self.model).__name__
        settings = ", ".join(f"{name}={value!r}" for name, value in self.config.of_model().items())
        return f"Filler({name}{f', {settings}' if settings else ''})"

    def __call__(
        self,
        texts: str | Iterable[str],
        blanks: Iterable[list[CharSpan]] | str = MARKER,
        *,
        ids: Iterable[str] | None = None,
        counts: Iterable[list[int]] | None = None,
        on_error: str = "raise",
        progress: bool = False,
        **settings: Any,
    ) -> Filled:
        """Fill the blanks of one text or of several; a text without a blank comes back as it is.

        - blanks: for each text the characters to replace as (start, end) pairs, in order; or a marker for every blank.
        - ids: names of the texts in errors and draws, "0", "1", ... by default.
        - counts: the tokens of each blank of each text. Without them or `length` a marked blank gets one token.
        - on_error: "skip" leaves a text that cannot be filled without its blanks, with the reason in `skipped`.

        A text longer than the model is read in windows. Raises BlankfillError, which names a text by id and never shows it.
        """
        requests = list_requests(texts, blanks, ids, counts)
        way = self._choose(self.config.with_settings(**settings), isinstance(blanks, str), counts is not None)
        infills: list[Infill] = []
        ledger = Ledger()
        items = self._read(requests, way, on_error)
        chunks = cut_stream(items, CHARACTERS * self.batch_tokens) if progress else [[*items]]
        with packing_if_worth(self._is_short(texts)), show_progress(progress, len(requests)) as advance:
            for chunk in chunks:
                done, cost = self._fill(way, chunk, on_error)
                infills += done
                ledger = ledger + cost
                advance(len(done))
        filled = collect(infills, ledger)
        self.history = [event for events in filled.history for event in events]
        return filled

    def iter(
        self,
        texts: str | Iterable[str],
        blanks: Iterable[list[CharSpan]] | str = MARKER,
        *,
        ids: Iterable[str] | None = None,
        counts: Iterable[list[int]] | None = None,
        on_error: str = "raise",
        progress: bool = False,
        **settings: Any,
    ) -> Iterator[Infill]:
        """Yield filled texts in order, in constant memory; a generator of texts may never end.

        Arguments as in a call. The first results come after 8 texts. With on_error="raise" the texts before the one
        that cannot be filled are yielded first. `history` has the events of the texts that were filled together. Equal ids
        are refused only where they stand in one part of a stream: whoever gives `ids` sees to it that they differ.
        """
        way = self._choose(self.config.with_settings(**settings), isinstance(blanks, str), counts is not None)
        items = self._read(iterate_requests(texts, blanks, ids, counts), way, on_error)
        return self._stream(way, items, on_error, progress)

    def _stream(self, way: Way, items, on_error: str, progress: bool) -> Iterator[Infill]:
        with show_progress(progress, None) as advance:
            for chunk in cut_stream(items, CHARACTERS * self.batch_tokens):
                infills, failure = self._fill_before(way, chunk, on_error)
                self.history = [event for infill in infills for event in infill.history]
                yield from infills
                advance(len(infills))
                if failure:
                    raise failure

    def _fill_before(self, way: Way, chunk, on_error: str) -> tuple[list[Infill], DocumentError | None]:
        """Return what was filled of a part: all of it, or what stands before the first text that cannot be filled."""
        failure: DocumentError | None = None
        while True:
            try:
                return self._fill(way, chunk, on_error)[0], failure
            except DocumentError as error:  # of any text: one before it may be wrong too
                failure, chunk = error, chunk[: [text.id for text, _ in chunk].index(error.id)]

    def _read(
        self, requests: Iterable[Request], way: Way, on_error: str
    ) -> Iterator[tuple[BlankedText, str | None]]:
        """Yield each text with its blanks, and why they are wrong where that is no error."""
        if on_error not in ON_ERROR:
            raise BlankfillError(f"on_error={on_error} is unknown: choose raise or skip")
        is_open = "length" not in way.settings
        for id, text, blanks, counts in requests:
            try:
                shown, spans = hide_markers(text, blanks) if isinstance(blanks, str) else (text, blanks)
                if isinstance(blanks, str) and counts is None and is_open:
                    counts = [1] * len(spans)
                yield blank_out(id, shown, spans, counts), None
            except DocumentError as error:
                if on_error == "raise":
                    raise
                yield BlankedText(id, text, find_words(text), []), str(error)

    def _is_short(self, texts: str | Iterable[str]) -> bool:
        return isinstance(texts, str) and len(texts) < self.batch_tokens

    def _fill(self, way: Way, chunk: list, on_error: str) -> tuple[list[Infill], Ledger]:
        """Return what a part of the texts is filled with, and the cost."""
        blanked = [text for text, _ in chunk]
        if len({text.id for text in blanked}) != len(blanked):
            raise BlankfillError("ids: each text needs an id of its own, and two have the same")
        skipped = {text.id: reason for text, reason in chunk if reason}
        whole = [text for text in blanked if text.blanks]
        with evaluating(self.model, self.second):
            run = self._run(way)
            if on_error == "raise":
                filled, ledger = run(whole) if whole else ([], Ledger())
            else:
                filled, ledger, failed = fill_skipping_failures(run, whole) if whole else ([], Ledger(), {})
                skipped |= failed
        ledger.documents += sum(not text.blanks and text.id not in skipped for text in blanked)
        by_id = {answer.id: answer for answer in filled}
        return [self._result(text, by_id.get(text.id), skipped.get(text.id)) for text in blanked], ledger

    def _run(self, way: Way) -> FillTexts:
        arguments = way.settings | {"batch_tokens": way.batch_tokens}
        fill_texts = partial(fill_with, way.writer, self.model, self.tokenizer, way.sampling, arguments)
        if way.writer in ("seq2seq", "kept", "middle"):
            return fill_texts
        windows = Windows(self.model, self.tokenizer, way.tokens)
        return partial(fill_in_windows, fill_texts, windows, way.settings.get("context") == "true_left")

    def _result(self, text: BlankedText, filled: FilledText | None, reason: str | None) -> Infill:
        if filled is None:
            fills = [""] * len(text.blanks)
            return Infill(text.id, leave_unfilled(text).text, fills, [None] * len(fills), reason)
        names = self.tokenizer.convert_ids_to_tokens
        history = [Event(text.id, *event[:3], str(names(event.token))) for event in filled.history]
        return Infill(
            text.id, filled.text, filled.fills, [filled.spans[i] for i in text.blanks], reason, history
        )

    def candidates(
        self,
        texts: str | Iterable[str],
        k: int = 5,
        blanks: Iterable[list[CharSpan]] | str = MARKER,
        *,
        beam: int | None = None,
        ids: Iterable[str] | None = None,
        counts: Iterable[list[int]] | None = None,
        **settings: Any,
    ) -> list[Candidate] | list[list[Candidate]]:
        """Return the k likeliest ways to fill all blanks of a text together, likeliest first; a list of them for several.

        A beam search follows `beam` branches (by default 4 k, at least 16) in the order of filling, and is exact where they
        are as many as there are ways. The log-probability of each is exact under that order. Other arguments as in a call,
        but for temperature, top_k and top_p. Raises BlankfillError for a model without probabilities (an encoder-decoder),
        for an order that fills a slot twice, and for blanks that do not fit one window of the model.
        """
        refuse_settings("candidates", settings, ("temperature", "top_k", "top_p"))
        width = choose_width(k, beam)
        config = self.config.with_settings(**settings)
        way = self._choose(config, isinstance(blanks, str), counts is not None, is_exact=True)
        blanked = [text for text, _ in self._read(list_requests(texts, blanks, ids, counts), way, "raise")]
        is_short = all(width * len(text.text) < self.batch_tokens for text in blanked)  # each is read alone
        with evaluating(self.model, self.second), packing_if_worth(is_short):
            answers = [find_candidates(way, self.model, self.tokenizer, text, k, width) for text in blanked]
        return answers[0] if isinstance(texts, str) else answers

    def score(
        self,
        texts: str | Iterable[str],
        blanks: Iterable[list[CharSpan]] | None = None,
        *,
        ids: Iterable[str] | None = None,
        method: str = "exact",
        **settings: Any,
    ) -> Likelihood | list[Likelihood]:
        """Return how likely what stands in the blanks of a text is, or the whole text (None); a list for several texts.

        A `Likelihood` has the id, `nats` (minus the natural logarithm of the likelihood), characters and tokens.

        - blanks: for each text the characters to score as (start, end) pairs, in order.
        - ids: names of the texts in errors and in what is returned, "0", "1", ... by default.
        - method "exact": in the order of a call, which must fill a slot once. Each token is predicted by a softmax over
          the whole vocabulary, after the original tokens of the passes before; tokens of one pass are independent.
        - method "pseudo", of a masked model: each token is masked alone, the rest in sight.

        A text longer than the model is read in windows, each with the originals to its left. Raises BlankfillError where
        nothing stands to score: for a marker (`___`) as blanks, as one of them, or in a text without them; and for a way
        of filling without probabilities.
        """
        refuse_settings("a score", settings, ("temperature", "top_k", "top_p"))
        chosen = self.config.with_settings(**{"length": None, "max_length": None} | settings)
        if method == "pseudo":
            refuse_beside_pseudo(settings, self.config)
            chosen = FillConfig()
        way = self._choose(chosen, is_exact=True)
        refuse_no_likelihood(way.writer, way.settings)  # for a length that was asked for
        blanked = blank_originals(texts, blanks, ids, MARKER)
        with evaluating(self.model, self.second), packing_if_worth(self._is_short(texts)):
            likelihoods = measure(way, method, self.model, self.tokenizer, blanked)
        return likelihoods[0] if isinstance(texts, str) else likelihoods

    def _choose(
        self, config: FillConfig, has_marker: bool = False, has_counts: bool = False, is_exact: bool = False
    ) -> Way:
        """Return how the model fills under some settings; BlankfillError where it cannot."""
        writer, settings = choose_writer(self.model, self.second, config.of_model(), has_marker, has_counts)
        if is_exact:
            refuse_no_likelihood(writer, settings | {"length": "known"})
        check_way(writer, settings, config.temperature)
        n_times = 1 if writer == "masked" else STEP  # a masked model reads whole texts in a pass
        return Way(writer, settings, config.sampling(), n_times * self.batch_tokens)
