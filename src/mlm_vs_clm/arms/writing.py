"""How each arm of the study fills blanks: from its settings and a stored model to filled texts."""

from functools import lru_cache, partial
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blankfill.axes import MODEL_KINDS, SAMPLING, arguments_of
from blankfill.draws import keyed_rng
from blankfill.likelihood import Likelihood, measure_likelihood, measure_weights
from blankfill.slots.ledger import Ledger
from blankfill.slots.sampling import Sampling
from blankfill.text import BlankedText, FilledText, leave_unfilled
from blankfill.writers import fill_skipping_failures, fill_with

from ..corpora import load_split
from ..documents import Document, keep_beginning
from ..hardware import torch_dtype
from ..masking import mask_words
from .baselines import BASELINES, WordCounts
from .mentions import Mentions, gather_mentions
from .ngrams import ORDERS
from .recasing import Recaser, fills_of, insert_missing_spaces, is_cased

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from ..training.noise import TokenizedDocument

DEV_RATIO = 0.5  # of the words of a dev document that are hidden to choose the order of a table
WrittenOrSkipped = tuple[list[FilledText], Ledger, dict[str, str]]


def write_with_model(
    arm: dict, blanked: list[BlankedText], folders: list[Path], corpus: Path, device: str
) -> WrittenOrSkipped:
    """Fill with the models stored in `folders`; a model without capitals gets them by the stated rule.

    A document that cannot be filled comes back unfilled, with its reason by id; the others go on.
    """
    model, tokenizer, axes = _open(arm, folders, device)
    sampling = Sampling(**{name: arm[name] for name in SAMPLING}, seed=arm["seed"])
    fill_texts = partial(fill_with, arm["writer"], model, tokenizer, sampling, axes)
    written, ledger, skipped = fill_skipping_failures(fill_texts, blanked)
    by_id = {text.id: text for text in written}
    filled = [by_id.get(text.id) or leave_unfilled(text) for text in blanked]
    is_anew = _writes_anew(arm, tokenizer)
    if not is_cased(tokenizer):
        recase = _recaser(corpus)
        filled = [_recase(recase, *pair, is_anew) for pair in zip(blanked, filled, strict=True)]
    if not is_anew:
        filled = [insert_missing_spaces(*pair) for pair in zip(blanked, filled, strict=True)]
    return filled, ledger, skipped


def measure_originals(
    arm: dict, blanked: list[BlankedText], folders: list[Path], device: str
) -> list[Likelihood]:
    """Return how likely the models stored in `folders` find the originals, in the order in which the arm fills."""
    model, tokenizer, axes = _open(arm, folders, device)
    return measure_likelihood(arm["writer"], model, tokenizer, axes, arm["seed"], blanked)


def weigh_models(
    arm: dict, blanked: list[BlankedText], folders: list[Path], device: str
) -> dict[float, float]:
    """Return the nats per character of the originals by the weight of a product of the models in `folders`."""
    model, tokenizer, axes = _open(arm, folders, device)
    return measure_weights(model, axes["second"], tokenizer, blanked)


def _open(arm: dict, folders: list[Path], device: str) -> tuple[Any, Any, dict]:
    """Return the model and tokenizer of an arm, and its axes; the second of two models is one of the axes.

    One folder for two models is a network that both are made of.
    """
    kinds = MODEL_KINDS[arm["writer"]].split(" and ")
    models = [_model(*pair, arm["precision"], device) for pair in zip(cycle(folders), kinds, strict=False)]
    axes = {name: arm[name] for name in arguments_of(arm["writer"]) if name in arm}
    axes |= dict(zip(("second",), models[1:], strict=False))
    return models[0], open_tokenizer(folders[0]), axes


@lru_cache(maxsize=8)
def open_tokenizer(folder: Path) -> "PreTrainedTokenizerBase":
    """Return the tokenizer of a stored model, one for all cells of a process: what is derived from it is computed once."""
    from blankfill.networks.checkpoints import load_tokenizer

    return load_tokenizer(folder)


def write_baseline(arm: dict, blanked: list[BlankedText], inputs: dict[str, Path]) -> WrittenOrSkipped:
    """Fill without a model; what counts in lower case gets capitals by the stated rule."""
    baseline, corpus = BASELINES[arm["writer"]], inputs["corpus"]
    counts, is_counting = WordCounts([]), baseline.counts == "trained_on"
    if is_counting:
        counts = _counts_of_read(tuple(list_read(inputs, arm["read"])))
    elif baseline.counts == "split":
        counts = _counts(corpus)
    also: dict[str, Any] = {}
    if baseline.context == "leaky":
        also["per_pass"] = arm["per_pass"]
    if baseline.chooses_order:
        also["order"] = arm.get("table_order") or choose_order(arm["writer"], counts, corpus)
    if baseline.needs_labels:
        also["mentions"] = _mentions(corpus)
    sampling = Sampling(arm["temperature"], seed=arm["seed"])
    filled = [baseline(text, counts, sampling, **also) for text in blanked]
    if is_counting:
        recase = _recaser(corpus)
        filled = [recase.fill(*pair) for pair in zip(blanked, filled, strict=True)]
    filled = [insert_missing_spaces(*pair) for pair in zip(blanked, filled, strict=True)]
    return filled, Ledger.of(blanked), {}


@lru_cache(maxsize=8)
def choose_order(writer: str, counts: WordCounts, corpus: Path) -> int:
    """Return the order at which a table restores most words of the dev documents, half of them hidden; the lowest of equals."""
    texts = [hide_at_random(document, DEV_RATIO) for document in load_split(corpus, "dev")]
    fill_with_order = BASELINES[writer]

    def count_restored(order: int) -> int:
        filled = [fill_with_order(text, counts, Sampling(), order=order) for text in texts]
        return sum(
            fill == original.lower()
            for text, filled_text in zip(texts, filled, strict=True)
            for fill, original in zip(filled_text.fills, text.originals(), strict=True)
        )

    return max(ORDERS, key=count_restored)


def hide_at_random(document: Document, ratio: float) -> BlankedText:
    """Return a document with a share of its words hidden, the same ones whatever else is run."""
    corruption = mask_words(document, "random", ratio, keyed_rng("order of a table", document.id))
    return BlankedText(document.id, document.text, corruption.words, corruption.blanks)


@lru_cache(maxsize=3)
def _counts_of_read(documents: tuple[Document, ...]) -> WordCounts:
    return WordCounts(document.text.lower() for document in documents)


def list_read(inputs: dict[str, Path], read: dict[str, int]) -> list[Document]:
    """Return those documents of the corpus in `inputs` that a training with the settings `read` reads, canaries among them.

    Of a corpus that the training does not read, those of all that it reads.
    """
    corpora = tuple((key, path) for key, path in inputs.items() if key.startswith("corpus/"))
    by_corpus = _list_all_read(inputs["start"], corpora, tuple(sorted(read.items())))
    every = [document for documents in by_corpus.values() for document in documents]
    return by_corpus.get(inputs["corpus"]) or every


@lru_cache(maxsize=3)
def _list_all_read(
    start: Path, corpora: tuple[tuple[str, Path], ...], read: tuple[tuple[str, int], ...]
) -> dict[Path, list[Document]]:
    """Return the documents of each corpus that a training of this budget reads."""
    from ..training.batches import choose_unique, order_batches, tokenize
    from ..training.canaries import plant

    settings, tokenizer = dict(read), open_tokenizer(start)
    most, seed = settings["max_subwords"], settings["seed"]
    read_of: list[tuple[str, Document, int]] = []  # corpus, document, tokens
    for key, path in corpora:
        name = key.removeprefix("corpus/")
        documents = load_split(path, "pretrain")
        tokenized = tokenize([document.text for document in documents], tokenizer, most)
        lengths = [len(tokens.ids) for tokens in tokenized]
        unique = choose_unique(lengths, settings.get("unique_tokens", 0), seed, name)
        learned = [(documents[i], tokenized[i]) for i in unique]
        if canaries := settings.get("canaries"):
            planted = plant(load_split(path, "test"), documents, canaries, settings["canary_copies"], seed)
            phrases = tokenize([canary.text for canary in planted], tokenizer, most)
            learned += zip(planted, phrases, strict=True)
        read_of += [(name, _keep_read(*pair, most), len(pair[1].ids)) for pair in learned]
    names, documents, lengths = (list(column) for column in zip(*read_of, strict=True))
    order = order_batches(lengths, names, settings["token_budget"], settings["batch_documents"], seed)
    by_corpus: dict[Path, list[Document]] = {path: [] for _, path in corpora}
    for i in sorted({i for batch in order for i in batch}):
        by_corpus[dict(corpora)[f"corpus/{names[i]}"]].append(documents[i])
    return by_corpus


def _keep_read(document: Document, tokens: "TokenizedDocument", most: int) -> Document:
    """Return what a training reads of a document: all, or where it has the `most` tokens the text that these hold."""
    return document if len(tokens.ids) < most else keep_beginning(document, tokens.n_characters)


def _recase(recase: Recaser, blanked: BlankedText, filled: FilledText, is_anew: bool) -> FilledText:
    """Recase the fills alone, or all of a text that an arm generated whole."""
    if not is_anew:
        return recase.fill(blanked, filled)
    text = recase.text(filled.text)
    return FilledText(filled.id, text, fills_of(blanked, filled, text), filled.spans)


def _writes_anew(arm: dict, tokenizer) -> bool:
    """Return whether an arm generates the whole text, and not the blanks alone as one with sentinels does."""
    from blankfill.networks.checkpoints import sentinel_tokens

    answers = arm.get("source") == "sentinel" and sentinel_tokens(tokenizer)
    return arm["writer"] in ("seq2seq", "kept") and not answers


@lru_cache(maxsize=3)
def _model(folder: Path, kind: str, precision: str, device: str):
    from blankfill.networks.checkpoints import load_model

    model = load_model(folder, kind, torch_dtype(precision))
    return model.to(device)  # type: ignore[arg-type]  # the stub of `to` has no self


@lru_cache(maxsize=3)
def _recaser(corpus: Path) -> Recaser:
    return Recaser([document.text for document in load_split(corpus, "pretrain")])


@lru_cache(maxsize=3)
def _mentions(corpus: Path) -> Mentions:
    return gather_mentions(load_split(corpus, "generate"), load_split(corpus, "pretrain"))


@lru_cache(maxsize=3)
def _counts(corpus: Path) -> WordCounts:
    return WordCounts(document.text for document in load_split(corpus, "pretrain"))
