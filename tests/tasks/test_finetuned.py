"""Documents as examples of a head and back: a learner that knows every answer scores 1, and the rest is as it should be."""

import numpy as np
import pytest
from refusals import assert_refused
from task_scores import score

from blankfill.text import find_words
from mlm_vs_clm.documents import Document, Entity
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.examples import WORDS, cut, draw_examples, spread
from mlm_vs_clm.tasks import TASKS, choices
from mlm_vs_clm.tasks.finetuned import FINETUNED, list_labelled
from mlm_vs_clm.tasks.outcome import UNTRAINED

SPEECHES = 20


def write(i):
    name = f"Drug{i % 3}"
    text = f"We gave {name} alpha on day {i}. It was the {i}. test. Then {name} was stopped! Nobody knew why {i} fell."
    start = text.index(name)
    entities = (Entity(start, start + len(name) + len(" alpha"), "Chemical"),)
    labels, origin = ("sea",) if i % 2 else ("town", "war"), f"s{i % 4}-{i // 8}"
    return Document(f"d{i}", text, labels, entities, f"a{i % 4}", origin_id=origin)


DOCUMENTS = [write(i) for i in range(SPEECHES * 8)]
SETS = {"train": DOCUMENTS[:40], "dev": DOCUMENTS[40:60], "test": DOCUMENTS[60:80]}


class Knowing:
    """Answers by what it saw: the text of an example, or of a pair, tells its target by a rule of the task."""

    def __init__(self, tell):
        self.tell, self.head, self.train = tell, None, None

    def __call__(self, head, train, asked, seed):
        self.head, self.train = head, train
        of_words = np.atleast_2d if head.kind == WORDS else np.asarray
        return [[of_words(self.tell(one, head)) for one in some] for some in asked]


def tag(example, head):
    """Return B-Chemical, I-Chemical and O as numbers 1, 2 and 0, which is how IOB2 tags are sorted."""
    words = [example.text[a:b] for a, b in find_words(example.text)]
    tags = [
        1 if i and w.startswith("Drug") and words[i - 1] == "gave" else 2 if w == "alpha" else 0
        for i, w in enumerate(words)
    ]
    return np.eye(head.n_outputs)[tags]


def label(example, head):
    number = int(find_number(example.text))
    return np.array([1.0, 0, 0]) if number % 2 else np.array([0, 1.0, 1.0])


def find_number(text):
    return next(word for word in text.replace(".", " ").split() if word.isdigit())


def test_entities_are_tags_of_words_and_back():
    learner = Knowing(tag)
    outcome = FINETUNED["ner"](SETS, 0, learner, 0)
    assert score(outcome)["f1"] == 1 and learner.head.n_outputs == 3 and len(learner.train) == 40
    cut_off = FINETUNED["ner"](SETS, 0, Knowing(tag), 3)  # before the end of every entity
    assert cut_off.notes[0].startswith(UNTRAINED)


def test_a_word_that_continues_nothing_begins_a_span():
    learner = Knowing(lambda example, head: np.roll(tag(example, head), 0, axis=0)[:, [0, 2, 1]])
    outcome = FINETUNED["ner"](SETS, 0, learner, 0)
    assert outcome.statistics.sum() > 0 and score(outcome)["f1"] == 0


def test_genres_have_thresholds_from_dev_documents():
    assert score(FINETUNED["genres"](SETS, 0, Knowing(label), 0))["micro_f1"] == 1
    with pytest.raises(StudyError, match="dev split"):
        FINETUNED["genres"](SETS | {"dev": []}, 0, Knowing(label), 0)


def test_a_pair_is_two_sentences_of_one_document_and_half_of_them_follow():
    pairs = choices.pair_sentences(DOCUMENTS[:10], 0)
    assert [pair.follows for pair in pairs] == [True, False] * 10
    for pair in pairs:
        sentences = choices.split_sentences(pair.document.text)
        places = sentences.index(pair.first), sentences.index(pair.second)
        assert (places[1] - places[0] == 1) == pair.follows and places[0] != places[1]
    assert choices.pair_sentences([Document("x", "One. Two is last.")], 0) == []
    assert choices.pair_sentences(DOCUMENTS[:10], 1) != pairs == choices.pair_sentences(DOCUMENTS[:10], 0)


def test_next_sentences_are_balanced_in_training_and_right_where_known():
    texts = [choices.split_sentences(one.text) for one in DOCUMENTS]
    following = {pair for some in texts for pair in zip(some, some[1:], strict=False)}

    def follow(example, head):
        return np.eye(2)[int((example.text, example.second) in following)]

    learner = Knowing(follow)
    outcome = FINETUNED["next_sentence"](SETS, 0, learner, 0)
    assert score(outcome)["accuracy"] == 1 and len(outcome.units) == 40
    targets = [int(one.target[0]) for one in learner.train]
    assert len(targets) == 40 and sum(targets) == 20
    assert score(TASKS["next_sentence"].majority([], SETS["test"]))["accuracy"] == 0.5
    (words,) = {len(find_words(one.text)) for one in learn_cut(6)}
    assert words == 3


def learn_cut(n_words):
    learner = Knowing(lambda example, head: np.array([1.0, 0]))
    FINETUNED["next_sentence"](SETS, 0, learner, n_words)
    return learner.train


def test_authors_share_no_speech_between_sets_and_are_named_by_their_place():
    dealt = list_labelled("authors", {"pretrain": DOCUMENTS, "generate": [], "dev": [], "test": []})
    origins = {name: {one.origin_id for one in some} for name, some in dealt.items()}
    assert not origins["train"] & origins["test"] and not origins["dev"] & origins["test"]
    counts = [sum(one.author == "a0" for one in dealt[name]) for name in ("test", "dev", "train")]
    # The rest of a speech that filled a set is left out.
    assert counts == [choices.TEST_WINDOWS, choices.DEV_WINDOWS, 8]
    numbers = {one.text: int(one.author[1:]) for one in DOCUMENTS}
    learner = Knowing(lambda example, head: np.eye(head.n_outputs)[numbers[example.text]])
    assert score(FINETUNED["authors"](dealt, 0, learner, 0))["accuracy"] == 1 and learner.head.n_outputs == 4
    assert score(TASKS["authors"].majority(dealt["train"], dealt["test"]))["accuracy"] == 0.25
    assert_refused("two authors", list_labelled, "authors", {"pretrain": DOCUMENTS[:20]})


def test_an_author_whose_few_speeches_fill_test_and_dev_is_left_out():
    few = [Document(f"{i}", "A text.", author=f"b{i % 3}", origin_id=f"{i % 6}") for i in range(240)]
    with pytest.raises(StudyError, match="two authors .* of several texts, this corpus has 0"):
        list_labelled("authors", {"pretrain": few})
    dealt = list_labelled("authors", {"pretrain": [*few, *DOCUMENTS], "generate": [], "dev": [], "test": []})
    assert {document.author for document in dealt["train"]} == {document.author for document in dealt["test"]}


def test_verification_is_asked_of_the_problems_of_the_linear_model():
    authors = {one.text: one.author for one in DOCUMENTS}
    learner = Knowing(lambda example, head: np.eye(2)[int(authors[example.text] == authors[example.second])])
    outcome = FINETUNED["verification"](SETS, 0, learner, 0)
    assert score(outcome)["auc"] == 1
    linear = TASKS["verification"].majority(SETS["train"], SETS["test"])
    assert [unit["id"] for unit in outcome.units] == [unit["id"] for unit in linear.units]


@pytest.mark.parametrize("name", ["next_sentence", "authors"])
def test_a_task_without_a_linear_model_says_so(name):
    assert_refused("task_model=finetuned", TASKS[name].evaluate, [], [], [], [], 0)


@pytest.mark.parametrize("name", ["next_sentence", "authors"])
def test_shuffled_labels_keep_the_texts_words(name):
    documents = DOCUMENTS[:12]
    shuffled = TASKS[name].shuffle_labels(documents, np.random.default_rng(0))
    words, before = ([sorted(one.text.split()) for one in some] for some in (shuffled, documents))
    assert words == before and shuffled != documents


def test_every_task_can_be_fine_tuned():
    assert FINETUNED.keys() == TASKS.keys()


def test_a_document_is_cut_between_words_with_the_entities_inside():
    document = write(4)
    assert cut(document, 0) == document == cut(document, 500)
    assert cut(document, 4).text == "We gave Drug1 alpha" and cut(document, 4).entities == document.entities
    assert cut(document, 3).text == "We gave Drug1" and cut(document, 3).entities == ()


def test_more_examples_add_to_fewer_and_asked_documents_are_spread():
    few, many = (draw_examples(DOCUMENTS, n, 1) for n in (5, 9))
    assert many[:5] == few and draw_examples(DOCUMENTS, 5, 2) != few
    assert len(draw_examples(DOCUMENTS, 0, 1)) == len(draw_examples(DOCUMENTS, 10**6, 1)) == len(DOCUMENTS)
    assert spread(DOCUMENTS, 0) == DOCUMENTS and spread(DOCUMENTS, 4)[1] == DOCUMENTS[40]
    for length in (17, 150, 300, 400):
        for n in range(1, length + 3):
            chosen = spread(range(length), n)
            assert len(chosen) == min(n, length) and chosen[0] == 0 and sorted(set(chosen)) == chosen
