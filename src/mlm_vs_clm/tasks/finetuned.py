"""Every task with a network as its model: documents become examples, and the probabilities of a head become answers.

Whoever calls gives a `Learner`, so that nothing here loads torch. Test sets and scores are those of the linear models.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from blankfill.text import find_words

from ..documents import Document
from ..examples import CLASSES, LABELS, WORDS, Example, Head, Learner, cut, cut_words
from . import TASKS, choices, genres, ner, verification
from .outcome import UNTRAINED, Outcome
from .problems import draw_problems
from .word_spans import list_spans, unmark_edges

NO_TARGET = np.zeros(0, dtype=int)
Sets = Mapping[str, Sequence[Document]]  # train, dev, test


def list_labelled(task: str, splits: Sets) -> dict[str, list[Document]]:
    """Return the real documents with labels as `train`, `dev` and `test`; what is generated from is trained on too."""
    if task == "authors":
        return choices.deal_authors(splits["pretrain"])
    train = [*splits["generate"], *splits["pretrain"]]
    return {"train": train, "dev": list(splits["dev"]), "test": list(splits["test"])}


def answer_majority(task: str, train: Sequence[Document], test: Sequence[Document], n_words: int) -> Outcome:
    """Return the best answer that ignores the content of the test texts, from the documents that a network would learn from."""
    if task == "next_sentence":
        n_words = 0  # sentences are cut, and documents are not
    return TASKS[task].majority(_cut_all(train, n_words), _cut_all(test, n_words))


def find_entities(sets: Sets, seed: int, learner: Learner, n_words: int) -> Outcome:
    """Return the span scores of a head that gives each word one IOB2 tag."""
    train, test = (_cut_all(sets[name], n_words) for name in ("train", "test"))
    train = [document for document in train if find_words(document.text)]
    rows, skipped = ner.tag_documents(train)
    tags = sorted({tag for row in rows for tag in row} | {"O"}, key=lambda tag: (tag != "O", tag))
    if len(tags) == 1:
        note = f"{UNTRAINED}: no entity to train on, majority answers"
        return ner.make_outcome(ner.majority_spans(train, test), test, skipped, (note,))
    examples = [
        Example(document.text, np.array([tags.index(tag) for tag in row]))
        for document, row in zip(train, rows, strict=True)
    ]
    (answers,) = learner(Head(WORDS, len(tags)), examples, [_ask(test)], seed)
    spans = [list_spans(unmark_edges([tags[i] for i in scores.argmax(1)])) for scores in answers]
    return ner.make_outcome(spans, test, skipped, ())


def find_genres(sets: Sets, seed: int, learner: Learner, n_words: int) -> Outcome:
    """Return both F1 of a head with an output per genre; thresholds are set on `dev`, as for the linear model."""
    train, dev, test = (_cut_all(sets[name], n_words) for name in ("train", "dev", "test"))

    def estimate(labels: np.ndarray) -> list[np.ndarray]:
        examples = [Example(document.text, row) for document, row in zip(train, labels, strict=True)]
        answers = learner(Head(LABELS, labels.shape[1]), examples, [_ask(dev), _ask(test)], seed)
        return [np.stack(rows) for rows in answers]

    return genres.judge(train, dev, test, estimate, {})


def find_next_sentence(sets: Sets, seed: int, learner: Learner, n_words: int) -> Outcome:
    """Return the accuracy of a head that is given two sentences; of each training document one pair of the two is learned."""
    learned = choices.pair_sentences(sets["train"], seed)
    test_pairs = choices.pair_sentences(sets["test"], "test")
    examples = [
        _to_example(pair, n_words) for pair in (learned[i + i // 2 % 2] for i in range(0, len(learned), 2))
    ]
    if not examples:
        note = f"{UNTRAINED}: no training document has {choices.FEWEST_SENTENCES} sentences, majority answers"
        return replace(choices.majority_pairs([], sets["test"]), notes=(note,))
    (answers,) = learner(
        Head(CLASSES, 2), examples, [[_to_example(pair, n_words) for pair in test_pairs]], seed
    )
    return choices.outcome_of_pairs(test_pairs, np.array([scores.argmax() for scores in answers], dtype=int))


def find_authors(sets: Sets, seed: int, learner: Learner, n_words: int) -> Outcome:
    """Return the accuracy of a head with an output per author."""
    train, test = (_cut_all(sets[name], n_words) for name in ("train", "test"))
    names = choices.list_authors(test)
    documents = [document for document in train if document.author in names]
    examples = [Example(document.text, np.array([names.index(document.author)])) for document in documents]
    (answers,) = learner(Head(CLASSES, len(names)), examples, [_ask(test)], seed)
    return choices.outcome_of_authors(test, np.array([scores.argmax() for scores in answers], dtype=int))


def verify_authors(sets: Sets, seed: int, learner: Learner, n_words: int) -> Outcome:
    """Return PAN's measures of a head that is given the first known document of a problem and the unknown one."""
    train, test = (_cut_all(sets[name], n_words) for name in ("train", "test"))
    test_problems, skipped = verification.choose_test_problems(test, None)
    problems, left_out = draw_problems(train, np.random.default_rng(seed))
    skipped |= {f"training {reason}": count for reason, count in left_out.items()}
    if not test_problems or not problems:
        note = f"{UNTRAINED}: no training problem, no answer" if test_problems else "no test problem"
        return verification.make_outcome(test_problems, test, verification.NO_ANSWER, skipped, (note,))
    sides = [
        [
            Example(texts[p.known[0]].text, np.array([int(p.same)]), texts[p.unknown].text)
            for p in set_problems
        ]
        for texts, set_problems in ((train, problems), (test, test_problems))
    ]
    (answers,) = learner(Head(CLASSES, 2), sides[0], sides[1:], seed)
    return verification.make_outcome(
        test_problems, test, np.array([scores[1] for scores in answers]), skipped, ()
    )


def _cut_all(documents: Sequence[Document], n_words: int) -> list[Document]:
    return [cut(document, n_words) for document in documents]


def _ask(documents: Sequence[Document]) -> list[Example]:
    return [Example(document.text, NO_TARGET) for document in documents]


def _to_example(pair: choices.Pair, n_words: int) -> Example:
    """Return a pair as an example; each sentence has at most half of the words."""
    first, second = (cut_words(text, n_words // 2) for text in (pair.first, pair.second))
    return Example(first, np.array([int(pair.follows)]), second)


Finetune = Callable[[Sets, int, Learner, int], Outcome]
FINETUNED: dict[str, Finetune] = {
    "ner": find_entities,
    "genres": find_genres,
    "verification": verify_authors,
    "next_sentence": find_next_sentence,
    "authors": find_authors,
}
