"""A document is known by its split and its id, whatever the reader: ids that repeat, and ids that are missing."""

import json
import math
from collections import Counter

import pytest
from corpus_files import collect, put, put_rows, save, save_splits
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora import CorpusSource, Cutting, Sizes, build
from mlm_vs_clm.corpora.readers import READERS, bioc, hub, jsonl, movies, speeches, tables
from mlm_vs_clm.corpora.readers.base import ReaderResult
from mlm_vs_clm.corpora.readers.official import part_of_path
from mlm_vs_clm.documents import Document, Entity
from mlm_vs_clm.errors import StudyError

ROWS = {"train": 12, "test": 6}
WINDOWS = Cutting(max_words=20, min_words=2, seed=0)


def text_of(part, n):
    return f"{part.upper()} text of number {n} with words{n} that are its{part}{n} own."


EACH = [(part, n, text_of(part, n)) for part, size in ROWS.items() for n in range(size)]


def write_datasets(path):
    ids = {part: [str(n) for n in range(size)] for part, size in ROWS.items()}
    return save_splits(
        path, **{part: {"id": ids[part], "text": [text_of(part, int(n)) for n in ids[part]]} for part in ROWS}
    )


def write_jsonl(path):
    return put_rows(
        path, "own.jsonl", [{"id": str(n), "text": text, "split": part} for part, n, text in EACH]
    )


def write_csv(path):
    rows = "".join(f"{n},{text},{part}\n" for part, n, text in EACH)
    return put(path, "own.csv", f"id,text,split\n{rows}")


def write_mpst(path):
    rows = "".join(f"{n},{text},x,{part}\n" for part, n, text in EACH)
    return put(path, "mpst_full_data.csv", "imdb_id,plot_synopsis,tags,split\n" + rows)


def write_folder(path):
    for part, n, text in EACH:
        put(path, f"{part}/{n}.txt", text)
    return path


def write_brat(path):
    for part, n, _ in EACH:
        put(path, f"{part}/{n}.ann")
    return write_folder(path)


def write_bio(path):
    for part in ROWS:
        sentences = ["".join(f"{word} O\n" for word in text.split()) for p, _, text in EACH if p == part]
        put(path, f"{part}.conll", "\n".join(sentences))
    return path


def write_pan(path):
    for part, size in ROWS.items():
        for n in range(size // 2):
            put(path, f"pan-{part}/E{n}/known01.txt", text_of(part, 2 * n))
            put(path, f"pan-{part}/E{n}/unknown.txt", text_of(part, 2 * n + 1))
        put(path, f"pan-{part}/truth.txt", "".join(f"E{n} Y\n" for n in range(size // 2)))
    return path


def write_pan_pairs(path):
    for part, size in ROWS.items():
        texts = {f"p{n}": [text_of(part, 2 * n), text_of(part, 2 * n + 1)] for n in range(size // 2)}
        put_rows(path, f"pan-{part}/pairs.jsonl", [{"id": id, "pair": pair} for id, pair in texts.items()])
        put_rows(path, f"pan-{part}/truth.jsonl", [{"id": id, "same": True} for id in texts])
    return path


SPLIT = {
    "datasets": write_datasets,
    "jsonl": write_jsonl,
    "csv": write_csv,
    "mpst": write_mpst,
    "folder": write_folder,
    "brat": write_brat,
    "bio": write_bio,
    "pan": write_pan,
    "pan_pairs": write_pan_pairs,
}
WITHOUT_SPLITS = {"bioc", "movies", "speeches", "dialogue", "reviews", "messages"}  # of the user's own


def test_every_reader_is_tried():
    assert SPLIT.keys() | WITHOUT_SPLITS == READERS.keys()


@pytest.mark.parametrize("name", SPLIT)
def test_no_text_of_one_official_split_is_in_another_though_ids_repeat(tmp_path, name):
    path = SPLIT[name](tmp_path / "own")
    result = READERS[name].read(path)
    assert len({document.id for document in result.documents}) == sum(ROWS.values()) == len(result.documents)
    assert {d.text.split()[0] for d in result.documents if result.parts[d.id] == "test"} == {"TEST"}
    assert Counter(result.parts.values()) == ROWS
    by_author = name.startswith("pan")
    source = CorpusSource("own", name, group_by="author" if by_author else "source")
    corpus = build(source, {"": path}, Sizes(2, 2, 6, per_group=2 if by_author else 1), WINDOWS)
    words = {split: {d.text.split()[0] for d in documents} for split, documents in corpus.splits.items()}
    assert words == {"pretrain": {"TRAIN"}, "generate": {"TRAIN"}, "dev": {"TRAIN"}, "test": {"TEST"}}
    texts = Counter(document.text for documents in corpus.splits.values() for document in documents)
    assert texts == Counter(text for _, _, text in EACH)
    assert "official splits" in corpus.card["rules"]
    assert all({"test"} == {row["split"]} for row in corpus.problems if row["id"].startswith("pan-test"))
    if by_author:
        texts = {document.id: document.text.split()[0] for document in result.documents}
        assert all(texts[problem.unknown] == texts[problem.known[0]] for problem in result.problems)
        assert Counter(texts[problem.unknown] for problem in result.problems) == {"TRAIN": 6, "TEST": 3}


def bioc_of(*ids):
    passage = "<passage><offset>0</offset><text>Ann sang.</text></passage>"
    documents = "".join(f"<document><id>{id}</id>{passage}</document>" for id in ids)
    return f"<collection>{documents}</collection>"


def speeches_of(*pairs):
    return json.dumps([{"id": id, "speech": text, "bioguide_id": "x", "date": "1"} for id, text in pairs])


def put_ids(folder, *ids):
    return put_rows(folder, "x.jsonl", [{"id": id, "text": f"{SECRET} {n}"} for n, id in enumerate(ids)])


def save_ids(folder, *ids):
    return save(folder / "x", {"id": [*ids], "text": ["one", SECRET, "two"][: len(ids)]})


TWICE = [
    (hub, lambda p: save_ids(p, "a", "b", "a"), "row 2: the id a"),
    (hub, lambda p: save(p / "x", {"id": [7, 8, 7], "text": ["one"] * 3}), "row 2: the id 7"),
    (bioc, lambda p: put(p, "x.xml", bioc_of("7", "8", "7")), "document number 3: the id 7"),
    (jsonl, lambda p: put_ids(p, "a", "b", "a"), "line 3: the id a"),
    (tables, lambda p: put(p, "x.csv", f"id,text\na,one\nb,{SECRET}\n a ,two\n"), "line 4: the id a"),
    (movies, lambda p: put(p, "x", "ID,Category,Plot\n1,,One.\n1,,Two.\n"), "line 3: the id 1"),
    (speeches, lambda p: put(p, "x", speeches_of(("1", "One."), ("1", "Two."))), "row 1: the id 1"),
]


@pytest.mark.parametrize("reader, write, says", TWICE)
def test_an_id_used_twice_in_a_split_is_a_mistake_with_its_place(tmp_path, reader, write, says):
    assert_refused(f"{says} is used twice", reader.read, write(tmp_path))


WITHOUT_ID = bioc_of("7").replace("<id>7</id>", "")
MISSING = [
    (hub, lambda p: save_ids(p, "a", None), "row 1: the id is empty"),
    (hub, lambda p: save_ids(p, "a", " "), "row 1: the id is empty"),
    (hub, lambda p: save_ids(p, 1.0, math.nan), "row 1: its id is neither"),
    (hub, lambda p: save_ids(p, ["a"], ["b"]), "row 0: its id is neither"),
    (bioc, lambda p: put(p, "x.xml", bioc_of("7", "")), "document number 2: the id is empty"),
    (bioc, lambda p: put(p, "x.xml", WITHOUT_ID), "document number 1: the id is empty"),
    (jsonl, lambda p: put_ids(p, "a", " "), "line 2: the id is empty"),
    (jsonl, lambda p: put_ids(p, "a", "b\nc"), "line 2: the id .* line break"),
    (jsonl, lambda p: put_ids(p, "a", None), "line 2: not of the shape"),
    (tables, lambda p: put(p, "x.csv", f"id,text\na,one\n,{SECRET}\n"), "line 3: the id is empty"),
    (movies, lambda p: put(p, "x", "ID,Category,Plot\n,,One.\n"), "line 2: the id is empty"),
    (speeches, lambda p: put(p, "x", speeches_of(("", "One."))), "row 0: the id is empty"),
]


@pytest.mark.parametrize("reader, write, says", MISSING)
def test_a_missing_id_is_a_mistake_with_its_place(tmp_path, reader, write, says):
    assert_refused(says, reader.read, write(tmp_path))


def test_an_id_gets_its_split_only_where_another_split_has_it():
    result = ReaderResult()
    given = [("a", "train"), ("b", "train"), ("a", "test"), ("test-a", "test"), ("b", "")]
    names = [result.add(Document(id, "Text."), part) for id, part in given]
    assert names == ["a", "b", "test-a", "test-test-a", "unsplit-b"]
    with pytest.raises(StudyError, match="here: the id test-a is used twice"):
        result.add(Document("test-a", "Text."), "test", "here")


def test_what_is_left_out_of_a_document_has_its_id():
    result = ReaderResult()
    for part in ("train", "test"):
        result.add(Document("a", " Text.", entities=(Entity(0, 1, "L"),)), part)
    assert [row["id"] for row in result.dropped] == ["a", "test-a"]


def test_files_of_the_same_name_but_for_the_ending_are_two(tmp_path):
    for name in ("a.bio", "a.conll", "b.conll"):
        put(tmp_path, name, f"{name.replace('.', '')} O\n")
    documents = READERS["bio"].read(tmp_path).documents
    assert [document.id for document in documents] == ["a.bio-0", "a.conll-0", "b-0"]


def test_paths_that_would_give_one_id_are_named(tmp_path):
    for name in ("a_b/c.txt", "a/b_c.txt", "c.txt", "x/c.txt"):
        put(tmp_path, name, SECRET)
    assert_refused("a/b_c and a_b/c: files .* rename", READERS["folder"].read, tmp_path)


def test_a_speech_that_the_file_lists_again_is_a_repeated_text(tmp_path):
    path = put(tmp_path, "x", speeches_of(("1", "One."), ("1", "One.")))
    assert [document.id for document in speeches.read(path).documents] == ["1", "1"]


def test_a_row_whose_column_split_contradicts_its_data_set_is_a_mistake(tmp_path):
    parts = {"train": "train", "test": "train", "validation": None}
    path = save_splits(tmp_path / "x", **{k: {"text": [f"{k} one"], "split": [v]} for k, v in parts.items()})
    result, mistakes = collect(hub.read, path)
    assert [mistake.split(":")[0] for mistake in mistakes] == ["split test, row 0"]
    assert result.parts == {"train-0": "train", "validation-0": "dev"}


def test_two_answers_to_a_pair_and_authors_that_are_missing(tmp_path):
    path = write_pan_pairs(tmp_path / "own")
    truth = [{"id": f"p{n}", "same": False, "authors": [None, None]} for n in range(3)]
    put_rows(path, "pan-test/truth.jsonl", truth)
    result = READERS["pan_pairs"].read(path)
    assert len({d.author for d in result.documents if result.parts[d.id] == "test"}) == 6
    put_rows(path, "pan-test/truth.jsonl", [*truth, truth[0] | {"same": True}])
    assert_refused("truth.jsonl, line 4: a second answer to the pair p0", READERS["pan_pairs"].read, path)


@pytest.mark.parametrize(
    ("path", "split"),
    [
        ("eng.testa.conll", "dev"), ("eng.testb", "test"), ("CDR_TrainSet/a.conll", "train"), ("CDR_TestSet.BioC.xml", "test"),
        ("devset/x.txt", "dev"), ("contestant.txt", ""), ("latest/x.txt", ""), ("upset.txt", ""), ("TrainTicket.txt", "train"),
    ],
)  # fmt: skip
def test_names_say_which_split_they_are(path, split):
    assert part_of_path(path) == split


def test_an_entity_stands_from_its_first_word_to_its_last():
    """Tools that mark by hand take in the space or line break beside a word."""
    spans = ((0, 6, "L"), (1, 7, "L"), (6, 7, "L"), (10, 15, "X"))
    result = ReaderResult()
    result.add(Document("a", " Paris is big.\n", entities=tuple(Entity(*span) for span in spans)))
    assert result.documents[0].entities == (Entity(1, 6, "L"), Entity(10, 14, "X"))
    assert [row["reason"] for row in result.dropped] == ["repeated entity", "entity without a word"]
