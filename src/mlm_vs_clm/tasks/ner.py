"""Named entities: a linear-chain CRF trained on annotated texts; its spans are counted strictly and leniently.

A seed leaves out a tenth of the training documents; nothing else is random. A gold span counts as the words that
it touches, so an entity that is a part of a word counts as that word. Names that the CRF found are then searched for
in the rest of the document, as a name seldom changes its type there.
"""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pycrfsuite

from blankfill.text import find_words, split_words

from ..documents import Document, Entity
from .outcome import NO_ROOM, UNTRAINED, Measure, Outcome, compute_f1, divide, draw_training_set, find_cluster
from .word_clusters import WordClusters, learn_word_clusters
from .word_features import describe_words
from .word_spans import (
    COUNTS,
    WordSpan,
    count_lenient,
    count_strict,
    list_spans,
    mark_edges,
    repeat_names,
    tag_spans,
    unmark_edges,
)

CRF_SETTINGS = {"c1": 0.0, "c2": 0.1, "max_iterations": 50}
MODES = {"": count_strict, "lenient_": count_lenient}


def evaluate(
    train: list[Document], dev: list[Document], test: list[Document], background: list[Document], seed: int
) -> Outcome:
    """Train a CRF on `train`, return span scores on `test`; `background` gives the word clusters, `dev` is not needed.

    Training documents without words are skipped. Where none has an entity, the answers are those of `majority`.
    """
    chosen = [document for document in draw_training_set(train, seed) if find_words(document.text)]
    tags, skipped = tag_documents(chosen)
    skipped["training document without words"] = sum(not find_words(document.text) for document in train)
    if not any(tag != "O" for row in tags for tag in row):
        note = f"{UNTRAINED}: no entity to train on, majority answers"
        return make_outcome(majority_spans(chosen, test), test, skipped, (note,))
    clusters = learn_word_clusters(tuple(document.text for document in background))
    tagger = train_tagger([describe(document.text, clusters) for document in chosen], tags)
    answers = [find_names(tagger, document.text, clusters) for document in test]
    return make_outcome(answers, test, skipped, ())


def majority(train: list[Document], test: list[Document]) -> Outcome:
    """Give each word the tag that it most often has in `train`, and O to words never seen there."""
    return make_outcome(majority_spans(train, test), test, Counter(), ())


def shuffle_labels(train: list[Document], rng: np.random.Generator) -> list[Document]:
    """Return the documents with their entities moved to random words and their types permuted."""
    return [move_entities(document, rng) for document in train]


def find_spans(document: Document) -> tuple[list[WordSpan], Counter]:
    """Return entities as (first word, word after the last, type), and counts of those left out, by reason.

    Of overlapping entities the longest stays. An entity that touches no word (its words are gone) is left out.
    """
    words, spans = find_words(document.text), []
    skipped: Counter[str] = Counter()
    covered: set[int] = set()
    for entity in sorted(document.entities, key=lambda entity: (entity.start - entity.end, entity.start)):
        touched = [i for i, (start, end) in enumerate(words) if start < entity.end and end > entity.start]
        if not touched or entity.start >= entity.end:
            skipped["entity without words"] += 1
        elif covered.intersection(touched):
            skipped["overlapping entity"] += 1
        else:
            covered.update(touched)
            spans.append((touched[0], touched[-1] + 1, entity.type))
    return sorted(spans), skipped


def tag_documents(documents: list[Document]) -> tuple[list[list[str]], Counter]:
    """Return one IOB2 tag per word of each document, and counts of the entities left out."""
    tags: list[list[str]] = []
    skipped: Counter[str] = Counter()
    for document in documents:
        spans, left_out = find_spans(document)
        skipped.update(left_out)
        tags.append(tag_spans(spans, len(find_words(document.text))))
    return tags, skipped


@lru_cache(maxsize=512)
def describe(text: str, clusters: WordClusters) -> pycrfsuite.ItemSequence:
    """Return the features of a text, cached: the seeds of a cell share most texts, and all cells share the test set."""
    return pycrfsuite.ItemSequence(describe_words(split_words(text), clusters))


def train_tagger(texts: list[pycrfsuite.ItemSequence], tags: list[list[str]]) -> pycrfsuite.Tagger:
    """Return a CRF fitted by L-BFGS to texts and one IOB2 tag per word; it predicts tags with marked ends."""
    trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
    trainer.set_params(CRF_SETTINGS)
    for words, row in zip(texts, tags, strict=True):
        trainer.append(words, mark_edges(row))
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.crf"
        trainer.train(str(path))
        tagger.open(str(path))
    return tagger


def find_names(tagger: pycrfsuite.Tagger, text: str, clusters: WordClusters) -> set[WordSpan]:
    """Return the spans that the tagger finds in a text, and the repetitions of their names."""
    spans = list_spans(unmark_edges(tagger.tag(describe(text, clusters))))
    return repeat_names(split_words(text), spans) if spans else spans


def majority_spans(train: list[Document], test: list[Document]) -> list[set[WordSpan]]:
    """Return the test spans if each word has its most frequent tag in `train` (lower case; ties: the first seen)."""
    seen: dict[str, Counter] = defaultdict(Counter)
    for document, row in zip(train, tag_documents(train)[0], strict=True):
        for word, tag in zip(split_words(document.text.lower()), row, strict=True):
            seen[word][tag] += 1
    best = {word: counts.most_common(1)[0][0] for word, counts in seen.items()}
    return [list_spans([best.get(word, "O") for word in split_words(d.text.lower())]) for d in test]


def move_entities(document: Document, rng: np.random.Generator) -> Document:
    """Return the document with the same number of spans, of the same lengths, at random words, their types permuted."""
    spans, words = find_spans(document)[0], find_words(document.text)
    lengths = [spans[i][1] - spans[i][0] for i in rng.permutation(len(spans))]
    kinds = [spans[i][2] for i in rng.permutation(len(spans))]
    n_free = len(words) - sum(lengths)
    places = sorted(rng.permutation(n_free + len(spans))[: len(spans)])
    moved, shift = [], 0
    for place, length, kind in zip(places, lengths, kinds, strict=True):
        first = int(place) + shift
        moved.append(Entity(words[first][0], words[first + length - 1][1], kind))
        shift += length - 1
    return replace(document, entities=tuple(moved))


def make_outcome(answers: list[set[WordSpan]], test: list[Document], skipped: dict, notes: tuple) -> Outcome:
    """Return the Outcome of the spans found in each test document, with counts for each type of the test set."""
    tags, left_out = tag_documents(test)
    gold = [list_spans(row) for row in tags]
    types = sorted({kind for spans in gold for _, _, kind in spans})
    units = [
        {"id": document.id, "cluster": find_cluster(document)} | count_spans(true, predicted, types)
        for document, true, predicted in zip(test, gold, answers, strict=True)
    ]
    counted = {reason: count for reason, count in skipped.items() if count}
    counted |= {f"test {reason}": count for reason, count in left_out.items()}
    columns = tuple(name_counts(types))
    no_room = "" if types else f"{NO_ROOM}: none of {len(test)} documents has an entity"
    return Outcome(units, columns, MEASURES, counted, notes, no_room)


def name_counts(types: list[str]) -> list[str]:
    """Return the columns: strict and lenient counts over all types, and then of each type."""
    kinds = ("", *(f" {type}" for type in types))
    return [f"{mode}{count}{kind}" for kind in kinds for mode in MODES for count in COUNTS]


def count_spans(gold: set[WordSpan], predicted: set[WordSpan], types: list[str]) -> dict[str, int]:
    """Return the counts of one document, by the names of `name_counts`."""
    pairs = [(gold, predicted)]
    pairs += [({s for s in gold if s[2] == kind}, {s for s in predicted if s[2] == kind}) for kind in types]
    counts = [number for pair in pairs for count in MODES.values() for number in count(*pair)]
    return dict(zip(name_counts(types), counts, strict=True))


def sum_counts(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the sums as an array (all types and each type, strict and lenient, tp fp fn, n resamples)."""
    return (weights @ table).T.reshape(-1, len(MODES), len(COUNTS), len(weights))


def measure_f1(mode: int, table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return micro-F1 (n resamples,) from counts (n documents, columns) and weights."""
    return compute_f1(*sum_counts(table, weights)[0, mode])


def measure_precision(mode: int, table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the share of found spans that are correct; NaN where nothing was found."""
    tp, fp, _ = sum_counts(table, weights)[0, mode]
    return divide(tp, tp + fp)


def measure_recall(mode: int, table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the share of gold spans that were found; NaN where there are none."""
    tp, _, fn = sum_counts(table, weights)[0, mode]
    return divide(tp, tp + fn)


def measure_macro(mode: int, table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the mean F1 of the types that the test has (n2c2's own "macro" is a mean over documents)."""
    scores = [compute_f1(*counts) for counts in sum_counts(table, weights)[1:, mode]]
    defined = ~np.isnan(scores)
    return divide(np.nansum(scores, axis=0), defined.sum(axis=0)) if scores else np.full(len(weights), np.nan)


KINDS: dict[str, Callable[..., np.ndarray]] = {
    "f1": measure_f1,
    "precision": measure_precision,
    "recall": measure_recall,
    "macro_f1": measure_macro,
}
MEASURES: dict[str, Measure] = {
    f"{mode}{name}": partial(measure, number)
    for number, mode in enumerate(MODES)
    for name, measure in KINDS.items()
}
