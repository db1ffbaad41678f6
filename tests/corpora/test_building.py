"""A corpus of the user's own: the settings that name it, its mistakes, and what a check prints."""

import json
import os
import shutil
from dataclasses import replace

import pytest
from corpus_files import put, put_rows, save, save_splits
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora import CorpusSource, Cutting, Sizes, build
from mlm_vs_clm.corpora.building import name_own
from mlm_vs_clm.corpora.readers import READERS
from mlm_vs_clm.corpora.readers.official import ONE_SPLIT
from mlm_vs_clm.corpora.sources import ANYWHERE
from mlm_vs_clm.pipeline import recipes
from mlm_vs_clm.pipeline.artifacts import Runtime
from mlm_vs_clm.pipeline.config.corpora import ColumnsConfig
from mlm_vs_clm.pipeline.stages import make_corpus

CSV = CorpusSource("own", "csv")
WINDOWS = Cutting(max_words=9, min_words=1, seed=0)


@pytest.fixture
def configure(choose):
    """Return the settings of a corpus with some of them changed, of which Hydra composes those of its name alone."""

    def change(name, **settings):
        config = choose(f"corpus={name}")
        return replace(config, corpus=replace(config.corpus, **settings))

    return change


@pytest.fixture
def texts(tmp_path):
    """Return the path of a folder of fifty texts with labels and an official split."""
    rows = ["id,labels,split"]
    for n in range(50):
        put(tmp_path, f"texts/t{n}.txt", f"{SECRET} number {n} " + f"goes on from {n} " * 6)
        rows.append(f"t{n},{'ab'[n % 2]},{'test' if n < 22 else 'train'}")
    return str(put(tmp_path, "texts/labels.csv", "\n".join(rows)).parent)


def test_a_folder_is_named_after_its_files_and_their_contents(texts, tmp_path):
    named = lambda path: name_own("own", str(path), None, {}, "genres")["sha256"]  # noqa: E731
    first = named(texts)
    put(tmp_path, "texts/.DS_Store", "noise")
    shutil.copytree(texts, tmp_path / "copy")
    assert first == named(texts) == named(tmp_path / "copy")
    put(tmp_path, "texts/t0.txt", "other")
    assert named(texts) != first
    shutil.move(tmp_path / "copy" / "t0.txt", tmp_path / "copy" / "t0b.txt")
    assert named(tmp_path / "copy") != first


def test_a_link_out_of_the_folder_is_refused_before_any_work(texts, tmp_path):
    os.symlink(put(tmp_path, "far.txt", SECRET), tmp_path / "texts" / "near.txt")
    assert_refused("near.txt is a link that leaves the folder", name_own, "own", texts, None, {}, "genres")


def test_a_pipe_is_refused_before_it_is_read(tmp_path):
    """As <(zcat texts.jsonl.gz) is one: two with other texts had one id, and a named one was waited for without end."""
    os.mkfifo(tmp_path / "pipe")
    assert_refused(
        "pipe is no file or folder", name_own, "own", str(tmp_path / "pipe"), "jsonl", {}, "genres"
    )


def test_own_corpus_is_checked_and_made_by_its_official_split(configure, texts, tmp_path, capsys):
    config = configure("own", path=texts)
    recipes.check_corpus(config)
    assert capsys.readouterr().out.startswith("## own")
    recipe, out = recipes.corpus(config), tmp_path / "out"
    assert recipe.settings["reader"] == "folder" and "columns" not in recipe.settings
    out.mkdir()
    make_corpus(recipe.settings, {}, out, Runtime())
    card = json.loads((out / "card.json").read_text())
    assert card["splits"]["test"]["documents"] == 22 and card["splits"]["generate"]["documents"] == 28 // 5
    assert card["dropped"] == {}
    assert SECRET not in (out / "card.json").read_text() + (out / "dropped.csv").read_text()


def test_check_prints_card_and_all_mistakes_without_text(configure, texts, tmp_path, capsys):
    with open(f"{texts}/labels.csv", "a") as table:
        table.write("\nt90,a,test\nt91,a,later")
    put(tmp_path, "texts/t0.txt", b"\xff" + SECRET.encode())
    says = "mistakes in .*texts: 3, listed above; correct them, or set corpus.skip_mistakes=true"
    assert_refused(says, recipes.check_corpus, configure("own", path=texts))
    told = capsys.readouterr().out
    assert "| test | 21 | 21 |" in told and SECRET not in told
    for place in ("labels.csv, line 52:", "labels.csv, line 53:", "t0.txt: not UTF-8"):
        assert place in told


def test_check_tells_what_a_task_lacks_and_sizes_that_cannot_be_drawn(choose, texts, capsys):
    overrides = ["corpus=own", f"corpus.path={texts}", "scale.sizes.own.generate=100"]
    # Without the documents that have a mistake, it would lack as much.
    assert_refused("correct them$", recipes.check_corpus, choose(*overrides, "corpus.task=ner"))
    told = capsys.readouterr().out
    assert "corpus.task=ner: no document has entities" in told
    assert "asked for 100 documents in generate, found 28" in told and "| train | 28 |" in told


@pytest.mark.parametrize(
    "name, settings, says",
    [
        ("abstracts", {"path": "."}, "add corpus=own"),
        ("own", {}, "give corpus.path="),
        ("own", {"path": "/no/such"}, "corpus.path=/no/such is missing"),
        ("n2c2", {"path": "/no/such"}, "missing: ask the DBMI data portal"),
        ("mpst", {"path": "/no/such"}, "missing: ask RiTUAL"),
        ("pan", {"path": "/no/such"}, "missing: ask PAN at CLEF"),
        ("own", {"path": "texts", "reader": "excel"}, "corpus.reader=excel is unknown"),
        ("own", {"path": "texts", "reader": "brat", "columns": ColumnsConfig(text="x")}, "not brat"),
        ("own", {"path": "texts", "task": "verification"}, "sizes.own.per_group=2"),
    ],
)
def test_settings_that_cannot_be_are_one_line(configure, texts, name, settings, says):
    path = {"path": texts} if settings.get("path") == "texts" else {}
    assert_refused(says, recipes.corpus, configure(name, **settings | path))


@pytest.mark.parametrize("name", ["own", "n2c2", "mpst", "pan"])
def test_texts_of_a_users_corpus_are_shown_only_on_demand(choose, name):
    config = choose(f"corpus={name}")
    assert not config.corpus.show_examples
    assert config.model.corpora == config.scale.grid.corpora == [name]


def test_entities_are_gold_where_the_format_marks_them(configure, texts, tmp_path):
    rows = {"text": ["Ann sang."], "spans": [[{"start": 0, "end": 3, "type": "P"}]]}
    saved, marked = str(save(tmp_path / "saved", rows)), str(put(tmp_path, "own.jsonl"))
    for path, more, gold in (
        (saved, {"columns": ColumnsConfig(entities="spans")}, True),
        (texts, {}, False),
        (marked, {}, True),
        (saved, {}, False),
        (texts, {"gold_entities": True}, True),
        (texts, {"task": "ner"}, True),
    ):
        assert recipes.has_gold_entities(configure("own", path=path, **more)) == gold


def test_the_column_of_entities_can_be_named_where_a_format_has_one(choose, configure, texts, tmp_path):
    marked = put(tmp_path, "own.conll", "a\tB-Drug\tO\nb\tO\tB-Dose\n")
    named = ["corpus=own", f"corpus.path={marked}", "corpus.columns.entities=2"]
    assert recipes.corpus(choose(*named)).settings["columns"] == {"entities": "2"}
    says = "corpus.columns.entities is for datasets, bio, jsonl, not folder"
    columns = ColumnsConfig(entities="2")
    assert_refused(says, recipes.corpus, configure("own", path=texts, columns=columns))


def test_a_corpus_that_changed_after_it_was_hashed_is_refused(configure, texts, tmp_path):
    settings = recipes.corpus(configure("own", path=texts)).settings
    put(tmp_path, "texts/t0.txt", f"{SECRET} is another text with more than five words in it")
    says = "changed while it was read: run the same command again"
    assert_refused(says, make_corpus, settings, {}, tmp_path / "made", Runtime(str(tmp_path)))


def test_official_splits_need_train_and_test(tmp_path):
    path = put(tmp_path, "own.csv", "id,text,split\n1,One two three.,val\n2,Four five six.,train\n")
    assert_refused("train and test are both needed", build, CSV, {"": path}, Sizes(1, 1, 1), WINDOWS)


def test_mistakes_are_left_out_and_counted_on_demand(tmp_path):
    rows = "".join(f"{n},Text {n} has five words.\n" for n in range(9))
    path = put(tmp_path, "own.csv", f"id,text\n{rows}0,{SECRET}\n")
    assert_refused("line 11", build, CSV, {"": path}, Sizes(2, 2, 2), WINDOWS)
    corpus = build(CSV, {"": path}, Sizes(2, 2, 2), WINDOWS, skip_mistakes=True)
    assert corpus.dropped[0] == {"id": f"{path}, line 11", "reason": "mistake in the input"}


def rows_of(n, **more):
    text = SECRET + " number {} goes on from {} to the end."
    return [{"id": str(k), "text": text.format(k, k)} | more for k in range(n)]


def columns_of(part, n):
    texts = [f"{SECRET} of {part} number {k} goes on from {part}{k}." for k in range(n)]
    return {"id": [str(k) for k in range(n)], "text": texts, "labels": ["x"] * n}


TRAIN, TEST, EMPTY = columns_of("train", 30), columns_of("test", 9), {"id": [], "text": []}
SOUND = {
    "json": lambda p: put_rows(p, "own.jsonl", rows_of(40, labels=["x"])),
    "datasets whose ids repeat": lambda p: save_splits(p / "own", train=TRAIN, test=TEST),
}
HALF = '{"id": "z", "text": "\\ud83d"}'
UNSOUND = {
    "half of a character": (lambda p: put_rows(p, "own.jsonl", [*rows_of(40), HALF]), "line 41"),
    "id twice": (lambda p: put_rows(p, "own.jsonl", [*rows_of(40), rows_of(1)[0]]), "line 41"),
    "counts": (
        lambda p: put_rows(p, "own.jsonl", [{"id": f"a{k}", "text": str(k)} for k in range(40)]),
        "are numbers",
    ),
    "no rows": (lambda p: put_rows(p, "own.jsonl", []), "no document with text"),
    "empty texts": (lambda p: put_rows(p, "own.jsonl", rows_of(9, text=" ")), "no document with text"),
    "mistakes alone": (lambda p: put_rows(p, "own.jsonl", ["{", "{"]), "line 2"),
    "split without rows": (lambda p: save_splits(p / "own", train=TRAIN, test=EMPTY), "has no rows"),
    "data set without splits": (lambda p: save_splits(p / "own"), "no document with text"),
    "id twice in a split": (
        lambda p: save_splits(p / "own", train=TRAIN | {"id": ["7"] * 30}, test=TEST),
        "split train, row 29: the id 7 is used twice",
    ),
}


def make_own(config, out):
    """Make a corpus as a stage does."""
    recipe = recipes.corpus(config)
    out.mkdir()
    make_corpus(recipe.settings, {}, out, Runtime())


@pytest.mark.parametrize("name", SOUND)
def test_a_check_and_a_run_both_take_a_sound_corpus(configure, tmp_path, name):
    config = configure("own", path=str(SOUND[name](tmp_path)), min_words=2)
    recipes.check_corpus(config)
    make_own(config, tmp_path / "out")


@pytest.mark.parametrize("name", UNSOUND)
def test_a_check_and_a_run_both_refuse_an_unsound_corpus(configure, tmp_path, capsys, name):
    write, says = UNSOUND[name]
    config = configure("own", path=str(write(tmp_path)), min_words=2)
    assert_refused("mistakes in", recipes.check_corpus, config)
    told = capsys.readouterr().out
    assert says in told and SECRET not in told
    assert_refused("own", make_own, config, tmp_path / "out")


@pytest.mark.parametrize("reader", READERS)
def test_an_empty_folder_and_an_empty_file_are_one_line(tmp_path, reader):
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", put(tmp_path, "empty.csv"), put(tmp_path, "other/empty.txt").parent):
        source = CorpusSource("own", reader)
        assert_refused("empty", build, source, {"": path}, Sizes(1, 1, 1), WINDOWS)


def test_two_files_of_one_corpus_are_told_apart_by_their_split(tmp_path):
    feeds = {"train": ("generate", "dev", "pretrain"), "test": ("test",)}
    files = {part: put_rows(tmp_path / part, "own.jsonl", rows_of(9)) for part in feeds}
    files["test"].write_text(files["test"].read_text().replace(SECRET, "other"))
    corpus = build(CorpusSource("own", "jsonl", feeds=feeds), files, Sizes(1, 1, 9), WINDOWS)
    assert {window.origin_id for window in corpus.splits["test"]} == {f"test-{n}" for n in range(9)}


def test_documents_beside_a_single_named_split_are_counted(tmp_path):
    for part in ("train", "tset"):
        for n in range(8):
            put(tmp_path, f"own/{part}/{n}.txt", f"Text {n} of {part} has seven words.")
    source = CorpusSource("own", "folder", feeds=ANYWHERE)
    corpus = build(source, {"": tmp_path / "own"}, Sizes(2, 2, 2), WINDOWS)
    assert len({window.origin_id for windows in corpus.splits.values() for window in windows}) == 16
    assert corpus.card["counted"][ONE_SPLIT] == 8
