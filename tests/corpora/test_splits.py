"""A corpus from file to folder: disjoint, free of repeats, counted, and the same bytes every time."""

import json
from dataclasses import replace

import pytest
from corpus_files import put_rows
from refusals import assert_refused

from mlm_vs_clm.corpora import SOURCES, CorpusSource, Cutting, Sizes, build, card_markdown
from mlm_vs_clm.documents import hash_text

OWN = CorpusSource(name="own", reader="jsonl")
PARTED = replace(OWN, feeds={"train": ("generate", "dev", "pretrain"), "test": ("test",)})
SMALL = Sizes(generate=4, dev=2, test=4)
WINDOWS = Cutting(max_words=8, min_words=2, seed=0)


@pytest.fixture
def rows():
    """Forty texts of two windows, by ten authors; each has a rare label, and every other one a common label."""
    text = "Text {n} begins with five words. Part {n} ends with as many."
    rows = [{"id": f"d{n}", "text": text.format(n=n), "author": f"a{n % 10}"} for n in range(40)]
    return [row | {"labels": [f"rare{n}", *["common"] * (n % 2)]} for n, row in enumerate(rows)]


def make(tmp_path, rows, source=OWN, sizes=SMALL, **settings):
    return build(source, {"": put_rows(tmp_path, "own.jsonl", rows)}, sizes, replace(WINDOWS, **settings))


def test_splits_are_disjoint_by_origin_and_of_the_sizes_asked_for(tmp_path, rows):
    corpus = make(tmp_path, rows)
    origins = {split: {window.origin_id for window in windows} for split, windows in corpus.splits.items()}
    sizes = {split: len(ids) for split, ids in origins.items()}
    assert sizes == {"pretrain": 30, "generate": 4, "dev": 2, "test": 4}
    assert len(set.union(*origins.values())) == 40 and len(corpus.splits["pretrain"]) == 60
    drawn = [window.id for split in ("generate", "dev", "test") for window in corpus.splits[split]]
    assert len(drawn) == 10 and all(id.endswith("-0") for id in drawn)


def test_no_normalised_text_stands_twice(tmp_path, rows):
    again = [r | {"id": r["id"] + "again", "text": r["text"].upper().replace(".", " !")} for r in rows]
    shared = [r | {"id": r["id"] + "shared", "text": r["text"].split(".")[0] + ". Else."} for r in rows]
    corpus = make(tmp_path, rows + again + shared, min_words=3)
    hashes = [hash_text(window.text) for windows in corpus.splits.values() for window in windows]
    assert len(hashes) == len(set(hashes))
    assert corpus.card["dropped"]["repeated document"] == corpus.card["dropped"]["repeated window"] == 40


def test_authors_stay_together_and_give_equally_many(tmp_path, rows):
    source = replace(OWN, group_by="author")
    corpus = make(tmp_path, rows, source, replace(SMALL, per_group=2))
    authors = {split: [window.author for window in windows] for split, windows in corpus.splits.items()}
    assert sum(len(set(names)) for names in authors.values()) == len(set().union(*authors.values()))
    del authors["pretrain"]
    assert all(names.count(name) == 2 for names in authors.values() for name in names)


def test_documents_without_an_author_share_none(tmp_path, rows):
    rows = [row | {"author": "", "split": "test" if n < 20 else "train"} for n, row in enumerate(rows)]
    by_author, whole = replace(OWN, group_by="author"), [row | {"split": ""} for row in rows]
    apart, alone = make(tmp_path, rows, by_author), make(tmp_path, whole, by_author)
    for corpus in (apart, alone):
        assert not [reason for reason in corpus.card["dropped"] if reason.startswith("author of")]
        origins = [{window.origin_id for window in windows} for windows in corpus.splits.values()]
        assert len(set.union(*origins)) == sum(map(len, origins))
    assert apart.card["splits"]["test"]["documents"] == 4
    assert {window.origin_id for window in apart.splits["pretrain"]} <= {row["id"] for row in rows[20:]}
    assert len({window.origin_id for window in alone.splits["pretrain"]}) == 30


def test_an_author_of_two_official_parts_stays_in_the_first(tmp_path, rows):
    rows = [row | {"split": "test" if n < 20 else "train"} for n, row in enumerate(rows)]
    rows += [
        row | {"id": f"x{n}", "text": f"Words of their own {n}.", "author": "", "split": "train"}
        for n, row in enumerate(rows[:12])
    ]
    corpus = make(tmp_path, rows, replace(OWN, group_by="author"), Sizes(2, 2, 4))
    assert corpus.card["dropped"]["author of test"] == 20


def test_labels_are_counted_on_pretrain_and_drawn_documents_bear_one(tmp_path, rows):
    corpus = make(tmp_path, rows, replace(OWN, n_labels=1))
    labels = {split: {window.labels for window in windows} for split, windows in corpus.splits.items()}
    assert labels.pop("pretrain") == {("common",), ()}
    assert all(found == {("common",)} for found in labels.values())


def test_official_parts_feed_their_own_splits(tmp_path, rows):
    files = {"train": put_rows(tmp_path, "a", rows[:20]), "test": put_rows(tmp_path, "b", rows[20:])}
    corpus = build(PARTED, files, SMALL, WINDOWS)
    of_test_file = {row["id"] for row in rows[20:]}
    for split, windows in corpus.splits.items():
        assert {window.origin_id in of_test_file for window in windows} == {split == "test"}
    assert corpus.card["dropped"]["not drawn"] == 2 * 16


def test_sizes_that_are_not_given_follow_from_the_corpus(tmp_path, rows):
    def sizes_of(corpus):
        return {name: len({window.origin_id for window in some}) for name, some in corpus.splits.items()}

    fitted = Sizes(at_most=150)
    assert sizes_of(make(tmp_path, rows, sizes=fitted)) == dict(pretrain=22, generate=8, dev=2, test=8)
    few = sizes_of(make(tmp_path, rows, sizes=replace(fitted, at_most=3, dev=5)))
    assert few == dict(pretrain=26, generate=3, dev=5, test=6)
    by_author = make(tmp_path, rows, replace(OWN, group_by="author"), replace(fitted, per_group=2))
    # Two of ten authors, two texts of each.
    assert sizes_of(by_author)["generate"] == sizes_of(by_author)["test"] == 4
    seven = [row for row in rows if row["author"] < "a7"]
    few_authors = make(tmp_path, seven, replace(OWN, group_by="author"), replace(fitted, per_group=2))
    # One author would have no text of another to be compared with.
    assert sizes_of(few_authors)["generate"] == sizes_of(few_authors)["test"] == 4
    files = {"train": put_rows(tmp_path, "a", rows[:30]), "test": put_rows(tmp_path, "b", rows[30:])}
    by_part = sizes_of(build(PARTED, files, fitted, WINDOWS))
    assert by_part == dict(pretrain=23, generate=6, dev=1, test=10)


def test_every_window_is_in_a_split_or_recorded(tmp_path, rows):
    corpus = make(tmp_path, rows, sizes=replace(SMALL, pretrain_words=100))
    ids = [window.id for windows in corpus.splits.values() for window in windows]
    ids += [row["id"] for row in corpus.dropped]
    assert sorted(ids) == sorted(f"d{n}-{k}" for n in range(40) for k in (0, 1))
    assert 90 < corpus.card["splits"]["pretrain"]["words"] <= 100


def test_seed_decides_and_order_of_settings_does_not(tmp_path, rows):
    one, same, other = make(tmp_path, rows), make(tmp_path, rows), make(tmp_path, rows, seed=1)
    assert one.splits == same.splits != other.splits


@pytest.mark.parametrize(
    "sizes, settings, says",
    [
        (replace(SMALL, generate=50), {}, "asked for 50 documents in generate, found 40"),
        (replace(SMALL, min_drawn_words=9), {}, "found 0 of 9 words"),
        (replace(SMALL, generate=34), {}, "no document is left for pretrain"),
        (replace(SMALL, per_group=3), {}, "must be a positive multiple of 3"),
        (replace(SMALL, dev=0), {}, "must be a positive multiple"),
        (SMALL, {"max_words": 0}, "cannot be cut"),
    ],
)
def test_sizes_that_cannot_be_met(tmp_path, rows, sizes, settings, says):
    assert_refused(says, make, tmp_path, rows, sizes=sizes, **settings)


def test_card_counts_and_renders(tmp_path, rows):
    rows[0] |= {"text": " "}
    card = make(tmp_path, rows).card
    counts = {"documents": 4, "sources": 4, "words": 28, "words_median": 7, "entities": 0}
    assert card["splits"]["generate"].items() >= counts.items()
    assert set(card["splits"]["generate"]) == {*counts, "authors", "labels"}
    assert card["dropped"]["empty document"] == 1
    markdown = card_markdown(card)
    assert "| empty document | 1 |" in markdown and "own.jsonl" in markdown
    assert markdown == card_markdown(json.loads(json.dumps(card)))


def test_a_bar_or_a_line_end_in_a_label_keeps_the_table_of_a_card(tmp_path, rows):
    for row in rows:
        row["labels"] = ["sad|slow\nfilm"]
    markdown = card_markdown(make(tmp_path, rows).card)
    assert "\n| sad\\|slow film | 60 | 4 | 2 | 4 |\n" in markdown


def test_the_sources_can_be_built():
    for source in SOURCES.values():
        assert set(source.files) in (set(source.feeds), {""})
        fed = [split for splits in source.feeds.values() for split in splits]
        assert sorted(fed) == ["dev", "generate", "pretrain", "test"]
