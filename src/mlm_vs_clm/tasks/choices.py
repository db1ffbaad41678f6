"""Tasks with one right answer per example, scored by accuracy: the next sentence of a document, and its author.

Neither has a linear model: they ask what a network understands (`finetuned`). Pairs of sentences are of one document, so
that its topic gives nothing away. Authors are the most frequent of the pretrain split, as other splits share none;
a speech is in one set alone.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from blankfill.draws import keyed_rng

from ..documents import Document, find_sentence_starts
from ..errors import StudyError
from .outcome import NO_ROOM, Measure, Outcome, divide, find_origin

N_AUTHORS = 10
DEV_WINDOWS, TEST_WINDOWS = 6, 25  # of each author
SPLITS = ("train", "dev", "test")
FEWEST_SENTENCES = 3  # one, the next, and another


@dataclass(frozen=True)
class Pair:
    """Two sentences of a document, and whether the second follows the first."""

    document: Document
    first: str
    second: str
    follows: bool


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    starts = [0, *find_sentence_starts(text), len(text)]
    return [
        text[start:end].strip()
        for start, end in zip(starts, starts[1:], strict=False)
        if text[start:end].strip()
    ]


def pair_sentences(documents: Sequence[Document], seed: int | str) -> list[Pair]:
    """Return two pairs per document with three sentences or more: a sentence with the next one, and with another one.

    The two differ. The draws depend on the seed and the document alone.
    """
    pairs = []
    for document in documents:
        sentences, rng = split_sentences(document.text), keyed_rng("next sentence", seed, document.id)
        if len(sentences) < FEWEST_SENTENCES:
            continue
        first = int(rng.integers(len(sentences) - 1))
        others = [i for i in range(len(sentences)) if i not in (first, first + 1)]
        unrelated = int(rng.choice(others))
        if sentences[unrelated] == sentences[first + 1]:  # of a text that repeats itself
            others = [i for i in others if sentences[i] != sentences[first + 1]]
            if not others:
                continue
            unrelated = int(rng.choice(others))
        for second, follows in ((first + 1, True), (unrelated, False)):
            pairs.append(Pair(document, sentences[first], sentences[second], follows))
    return pairs


def deal_authors(pretrain: Sequence[Document]) -> dict[str, list[Document]]:
    """Return documents of the N_AUTHORS most frequent authors as `train`, `dev` and `test`; whole speeches are dealt.

    Raises StudyError where fewer than two authors have enough.
    """
    counts = Counter(document.author for document in pretrain if document.author)
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    frequent = [name for name in ranked if counts[name] > DEV_WINDOWS + TEST_WINDOWS]
    by_author = (_deal_author(name, pretrain) for name in frequent)
    chosen = [*islice((sets for sets in by_author if sets["train"]), N_AUTHORS)]
    if len(chosen) < 2:
        raise StudyError(
            f"task authors needs two authors with more than {DEV_WINDOWS + TEST_WINDOWS} documents each in the pretrain split, "
            f"of several texts, this corpus has {len(chosen)}: choose another task, or a larger corpus"
        )
    return {split: [document for sets in chosen for document in sets[split]] for split in SPLITS}


def _deal_author(name: str, pretrain: Sequence[Document]) -> dict[str, list[Document]]:
    """Return the documents of an author by split; nothing to train on where test and dev take all of their few speeches."""
    author_documents = [document for document in pretrain if document.author == name]
    origins = sorted({find_origin(document) for document in author_documents})
    sizes = {"test": TEST_WINDOWS, "dev": DEV_WINDOWS, "train": len(author_documents)}
    dealt: dict[str, list[Document]] = {split: [] for split in SPLITS}
    for i in keyed_rng("authors", name).permutation(len(origins)):
        split = next(split for split in sizes if len(dealt[split]) < sizes[split])
        windows = [document for document in author_documents if find_origin(document) == origins[i]]
        dealt[split] += windows[: sizes[split] - len(dealt[split])]
    return dealt


def refuse_linear(*sets: Sequence[Document], **problems: list[dict]) -> Outcome:
    """Raise StudyError: these tasks have no linear model."""
    raise StudyError("corpus.task=next_sentence and authors have no linear model: set task_model=finetuned")


def majority_pairs(train: Sequence[Document], test: Sequence[Document]) -> Outcome:
    """Answer that no pair is of consecutive sentences: both answers are equally frequent, by design."""
    return outcome_of_pairs(pairs := pair_sentences(test, "test"), np.zeros(len(pairs), dtype=int))


def majority_authors(train: Sequence[Document], test: Sequence[Document]) -> Outcome:
    """Answer with the most frequent author of `train`."""
    counts = Counter(document.author for document in train)
    names = list_authors(test)
    best = max(names, key=lambda name: counts[name])
    return outcome_of_authors(test, np.full(len(test), names.index(best)))


def shuffle_sentences(train: Sequence[Document], rng: np.random.Generator) -> list[Document]:
    """Return the documents with their sentences permuted: which one follows then means nothing."""
    shuffled = []
    for document in train:
        sentences = split_sentences(document.text)
        text = " ".join(sentences[i] for i in rng.permutation(len(sentences)))
        shuffled.append(replace(document, text=text, entities=()))
    return shuffled


def list_authors(documents: Sequence[Document]) -> list[str]:
    """Return the authors of documents, in alphabetical order."""
    return sorted({document.author for document in documents})


def outcome_of_pairs(pairs: Sequence[Pair], answers: np.ndarray) -> Outcome:
    """Return the Outcome of an answer (0 or 1) for each pair; both pairs of a document are drawn together."""
    units = [
        {
            "id": f"{i:04d}-{pair.document.id}",
            "cluster": find_origin(pair.document),
            "right": int(answer == pair.follows),
        }
        for i, (pair, answer) in enumerate(zip(pairs, answers, strict=True))
    ]
    skipped = "" if pairs else f"{NO_ROOM}: no document has {FEWEST_SENTENCES} sentences"
    return Outcome(units, COLUMNS, MEASURES, no_room=skipped)


def outcome_of_authors(test: Sequence[Document], answers: np.ndarray) -> Outcome:
    """Return the Outcome of an answer (the place in `list_authors`) for each document; a speech is drawn as a whole."""
    names = list_authors(test)
    units = [
        {"id": document.id, "cluster": find_origin(document), "right": int(names[answer] == document.author)}
        for document, answer in zip(test, answers, strict=True)
    ]
    return Outcome(units, COLUMNS, MEASURES)


def measure_accuracy(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the share of right answers (n resamples,) from (n units, right) and weights."""
    return divide(weights @ table[:, 0], weights.sum(axis=1))


COLUMNS = ("right",)
MEASURES: dict[str, Measure] = {"accuracy": measure_accuracy}
