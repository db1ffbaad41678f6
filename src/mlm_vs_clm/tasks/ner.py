"""Named entities: a linear-chain CRF trained on marked texts, scored by strict spans on real ones.

A seed leaves out a tenth of the training documents; nothing else is random. A gold span counts as the words that
it touches, so an entity that is a part of a word counts as that word.
"""

import math
import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pycrfsuite
from seqeval.scheme import IOB2, Entities

from mlm_vs_clm.documents import Document, Entity, find_words, split_words
from mlm_vs_clm.tasks.outcome import Outcome, compute_f1, draw_training_set, find_origin
from mlm_vs_clm.tasks.word_features import describe_words

CRF_SETTINGS = {"c1": 0.05, "c2": 0.05, "max_iterations": 60}
COLUMNS = ("tp", "fp", "fn")


def evaluate(
    train: list[Document], dev: list[Document], test: list[Document], background: list[Document], seed: int
) -> Outcome:
    """Train a CRF on `train` and return strict span scores on `test`; `dev` and `background` are not needed.

    Training documents without words are skipped; when none has an entity the answer is `majority`'s.
    """
    chosen = [document for document in draw_training_set(train, seed) if find_words(document.text)]
    tags, skipped = tag_documents(chosen)
    skipped["training document without words"] = sum(not find_words(document.text) for document in train)
    if not any(tag != "O" for row in tags for tag in row):
        return score(majority_tags(chosen, test), test, skipped, ("no entity to train on: majority",))
    tagger = train_tagger([describe_words(split_words(document.text)) for document in chosen], tags)
    answers = [tagger.tag(describe_words(split_words(document.text))) for document in test]
    return score(answers, test, skipped, ())


def majority(train: list[Document], test: list[Document]) -> Outcome:
    """Give each word the tag that it most often has in `train`, and O to words never seen there."""
    return score(majority_tags(train, test), test, Counter(), ())


def shuffle_labels(train: list[Document], rng: np.random.Generator) -> list[Document]:
    """Move each document's entities to random words of it, and deal their types out anew."""
    return [move_entities(document, rng) for document in train]


def find_spans(document: Document) -> tuple[list[tuple[int, int, str]], Counter]:
    """Return entities as (first word, word after the last, type), and counts of those left out with reasons.

    Of overlapping entities the longest stays. An entity that touches no word (its words vanished) is left out.
    """
    words, skipped, spans = find_words(document.text), Counter(), []
    taken = set()
    for entity in sorted(document.entities, key=lambda entity: (entity.start - entity.end, entity.start)):
        touched = [i for i, (start, end) in enumerate(words) if start < entity.end and end > entity.start]
        if not touched or entity.start >= entity.end:
            skipped["entity without words"] += 1
        elif taken.intersection(touched):
            skipped["overlapping entity"] += 1
        else:
            taken.update(touched)
            spans.append((touched[0], touched[-1] + 1, entity.type))
    return sorted(spans), skipped


def tag_documents(documents: list[Document]) -> tuple[list[list[str]], Counter]:
    """Return one IOB2 tag per word of each document, and counts of the entities left out."""
    tags, skipped = [], Counter()
    for document in documents:
        spans, left_out = find_spans(document)
        skipped.update(left_out)
        row = ["O"] * len(find_words(document.text))
        for first, after, kind in spans:
            row[first:after] = [f"B-{kind}"] + [f"I-{kind}"] * (after - first - 1)
        tags.append(row)
    return tags, skipped


def train_tagger(features: list[list[list[str]]], tags: list[list[str]]) -> pycrfsuite.Tagger:
    """Return a CRF fitted by L-BFGS to one feature list per word and one tag per word."""
    trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
    trainer.set_params(CRF_SETTINGS)
    for words, row in zip(features, tags, strict=True):
        trainer.append(words, row)
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.crf"
        trainer.train(str(path))
        tagger.open(str(path))
    return tagger


def majority_tags(train: list[Document], test: list[Document]) -> list[list[str]]:
    """Return for each test word its most frequent tag in `train` (lower case; ties go to the first seen)."""
    seen = defaultdict(Counter)
    for document, row in zip(train, tag_documents(train)[0], strict=True):
        for word, tag in zip(split_words(document.text.lower()), row, strict=True):
            seen[word][tag] += 1
    best = {word: counts.most_common(1)[0][0] for word, counts in seen.items()}
    return [[best.get(word, "O") for word in split_words(document.text.lower())] for document in test]


def move_entities(document: Document, rng: np.random.Generator) -> Document:
    """Return the document with as many spans, as long, at random words, their types in random order."""
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


def score(
    answers: list[list[str]], test: list[Document], skipped: Counter, notes: tuple[str, ...]
) -> Outcome:
    """Return the Outcome of one tag list per test document, with seqeval's strict IOB2 spans."""
    gold, left_out = tag_documents(test)
    units = []
    for document, true, answer in zip(test, gold, answers, strict=True):
        true, found = list_entities(true), list_entities(answer)
        tp = len(true & found)
        counts = {"tp": tp, "fp": len(found) - tp, "fn": len(true) - tp}
        units.append({"id": document.id, "cluster": find_origin(document)} | counts)
    counted = {reason: count for reason, count in skipped.items() if count}
    counted |= {f"test {reason}": count for reason, count in left_out.items()}
    return Outcome(units, COLUMNS, MEASURES, counted, notes)


def list_entities(tags: list[str]) -> set[tuple[int, int, str]]:
    """Return the strict IOB2 spans of one tag list as (first word, word after the last, type)."""
    if not tags:
        return set()
    return {(span.start, span.end, span.tag) for span in Entities([tags], scheme=IOB2).entities[0]}


def measure_f1(counts: np.ndarray) -> float:
    """Return micro-F1 from an array (n documents, tp fp fn)."""
    return compute_f1(*counts.sum(axis=0))


def measure_precision(counts: np.ndarray) -> float:
    """Return the share of found spans that are right; NaN where nothing was found."""
    tp, fp, _ = counts.sum(axis=0)
    return float(tp / (tp + fp)) if tp + fp else math.nan


def measure_recall(counts: np.ndarray) -> float:
    """Return the share of true spans that were found; NaN where there are none."""
    tp, _, fn = counts.sum(axis=0)
    return float(tp / (tp + fn)) if tp + fn else math.nan


MEASURES = {"f1": measure_f1, "precision": measure_precision, "recall": measure_recall}
