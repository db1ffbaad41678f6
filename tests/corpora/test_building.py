"""A corpus of the user's own: the settings that name it, its mistakes, and what a check prints."""

import json
import os
import shutil

import datasets
import pytest
from corpus_files import put
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora import CorpusSource, Cutting, Sizes, build
from mlm_vs_clm.corpora.building import name_own
from mlm_vs_clm.corpora.readers import READERS
from mlm_vs_clm.corpora.readers.official import ONE_SPLIT
from mlm_vs_clm.corpora.sources import ANYWHERE
from mlm_vs_clm.pipeline import recipes
from mlm_vs_clm.pipeline.artifacts import Runtime
from mlm_vs_clm.pipeline.stages import make_corpus

CSV = CorpusSource("own", "csv")
WINDOWS = Cutting(max_words=9, min_words=1, seed=0)


@pytest.fixture
def texts(tmp_path):
    """Fifty texts with labels and an official split, in a folder."""
    folder = tmp_path / "texts"
    folder.mkdir()
    rows = ["id,labels,split"]
    for n in range(50):
        (folder / f"t{n}.txt").write_text(f"{SECRET} number {n} " + f"goes on from {n} " * 6)
        rows.append(f"t{n},{'ab'[n % 2]},{'test' if n < 22 else 'train'}")
    (folder / "labels.csv").write_text("\n".join(rows))
    return folder


def test_a_folder_is_named_after_its_files_and_their_contents(texts, tmp_path):
    named = lambda path: name_own("own", str(path), None, {}, "genres")["sha256"]  # noqa: E731
    first = named(texts)
    (texts / ".DS_Store").write_text("noise")
    shutil.copytree(texts, tmp_path / "copy")
    assert first == named(texts) == named(tmp_path / "copy")
    (texts / "t0.txt").write_text("other")
    assert named(texts) != first
    shutil.move(tmp_path / "copy" / "t0.txt", tmp_path / "copy" / "t0b.txt")
    assert named(tmp_path / "copy") != first


def test_a_link_out_of_the_folder_is_refused_before_any_work(texts, tmp_path):
    (tmp_path / "far.txt").write_text(SECRET)
    os.symlink(tmp_path / "far.txt", texts / "near.txt")
    assert_refused(
        "near.txt is a link that leaves the folder", name_own, "own", str(texts), None, {}, "genres"
    )


BUILT_IN = {"abstracts": "9b96420b908a51ff", "plots": "4c640e9fff82fffb", "speeches": "1fba526c96c46e65"}


@pytest.mark.parametrize("name", BUILT_IN)
def test_settings_for_own_corpora_leave_the_others_ids_alone(choose, name):
    recipe = recipes.corpus(choose(f"corpus={name}", "scale=evening"))
    assert recipe.version > 1 or recipe.id == BUILT_IN[name]


def test_own_corpus_is_made_by_its_official_split(choose, texts, tmp_path):
    recipe = recipes.corpus(choose("corpus=own", f"corpus.path={texts}"))
    assert recipe.settings["reader"] == "folder" and "columns" not in recipe.settings
    out = tmp_path / "out"
    out.mkdir()
    make_corpus(recipe.settings, {}, out, Runtime())
    card = json.loads((out / "card.json").read_text())
    assert card["splits"]["test"]["documents"] == 22 and card["splits"]["generate"]["documents"] == 28 // 5
    assert card["dropped"] == {}
    assert SECRET not in (out / "card.json").read_text() + (out / "dropped.csv").read_text()


def test_check_prints_card_and_all_mistakes_without_text(choose, texts, capsys):
    (texts / "labels.csv").write_text((texts / "labels.csv").read_text() + "\nt90,a,test\nt91,a,later")
    (texts / "t0.txt").write_bytes(b"\xff" + SECRET.encode())
    assert_refused(
        "mistakes in .*texts: 3, listed above",
        recipes.check_corpus,
        choose("corpus=own", f"corpus.path={texts}"),
    )
    told = capsys.readouterr().out
    assert "| test | 21 | 21 |" in told and SECRET not in told
    for place in ("labels.csv, line 52:", "labels.csv, line 53:", "t0.txt: not UTF-8"):
        assert place in told


def test_check_of_a_sound_corpus_prints_the_card_alone(choose, texts, capsys):
    recipes.check_corpus(choose("corpus=own", f"corpus.path={texts}"))
    assert capsys.readouterr().out.startswith("## own")


def test_check_tells_what_a_task_lacks_and_sizes_that_cannot_be_drawn(choose, texts, capsys):
    overrides = ["corpus=own", f"corpus.path={texts}", "scale.sizes.own.generate=100"]
    assert_refused("mistakes", recipes.check_corpus, choose(*overrides, "corpus.task=ner"))
    told = capsys.readouterr().out
    assert "corpus.task=ner: no document has entities" in told
    assert "asked for 100 documents in generate, found 28" in told and "| train | 28 |" in told


@pytest.mark.parametrize(
    "overrides, says",
    [
        (["corpus=abstracts", "corpus.path=."], "add corpus=own"),
        (["corpus=own"], "give corpus.path="),
        (["corpus=own", "corpus.path=/no/such"], "corpus.path=/no/such is missing"),
        (["corpus=n2c2", "corpus.path=/no/such"], "missing: ask the DBMI data portal"),
        (["corpus=mpst", "corpus.path=/no/such"], "missing: ask RiTUAL"),
        (["corpus=pan", "corpus.path=/no/such"], "missing: ask PAN at CLEF"),
        (["corpus=own", "corpus.path={texts}", "corpus.reader=excel"], "corpus.reader=excel is unknown"),
        (["corpus=own", "corpus.path={texts}", "corpus.reader=brat", "corpus.columns.text=x"], "not brat"),
        (["corpus=own", "corpus.path={texts}", "corpus.task=verification"], "sizes.own.per_group=2"),
    ],
)
def test_settings_that_cannot_be_are_one_line(choose, texts, overrides, says):
    config = choose(*(override.format(texts=texts) for override in overrides))
    assert_refused(says, recipes.corpus, config)


@pytest.mark.parametrize("name", ["own", "n2c2", "mpst", "pan"])
def test_texts_of_a_users_corpus_are_shown_only_on_demand(choose, name):
    config = choose(f"corpus={name}")
    assert not config.corpus.show_examples
    assert config.model.corpora == config.scale.grid.corpora == [name]


def test_entities_are_gold_where_the_format_marks_them(choose, texts, tmp_path):
    marked = tmp_path / "own.jsonl"
    marked.write_text("")
    datasets.Dataset.from_dict(
        {"text": ["Ann sang."], "spans": [[{"start": 0, "end": 3, "type": "P"}]]}
    ).save_to_disk(tmp_path / "saved")
    named = "corpus.columns.entities=spans"
    assert recipes.has_gold_entities(choose("corpus=own", f"corpus.path={tmp_path / 'saved'}", named))
    for path, gold in ((texts, False), (marked, True), (tmp_path / "saved", False)):
        assert recipes.has_gold_entities(choose("corpus=own", f"corpus.path={path}")) == gold
    for more in ("corpus.gold_entities=true", "corpus.task=ner"):
        assert recipes.has_gold_entities(choose("corpus=own", f"corpus.path={texts}", more))


def test_the_column_of_entities_can_be_named_where_a_format_has_one(choose, texts, tmp_path):
    marked = put(tmp_path, "own.conll", "a\tB-Drug\tO\nb\tO\tB-Dose\n")
    asked = ["corpus=own", "corpus.task=ner", "corpus.columns.entities=2"]
    recipe = recipes.corpus(choose(*asked, f"corpus.path={marked}"))
    assert recipe.settings["columns"] == {"entities": "2"}
    says = "corpus.columns.entities is for datasets, bio, jsonl, not folder"
    assert_refused(says, recipes.corpus, choose(*asked, f"corpus.path={texts}"))


def test_a_corpus_that_changed_after_it_was_hashed_is_refused(choose, texts, tmp_path):
    settings = recipes.corpus(choose("corpus=own", f"corpus.path={texts}")).settings
    (texts / "t0.txt").write_text(f"{SECRET} is another text with more than five words in it")
    says = "changed while it was read: run the same command again"
    assert_refused(says, make_corpus, settings, {}, tmp_path / "made", Runtime(str(tmp_path)))


def test_official_splits_need_train_and_test(tmp_path):
    path = put(tmp_path, "own.csv", "id,text,split\n1,One two three.,val\n2,Four five six.,train\n")
    assert_refused("train and test are both needed", build, CSV, {"": path}, Sizes(1, 1, 1), WINDOWS)


def test_mistakes_are_left_out_and_counted_on_demand(tmp_path):
    rows = "".join(f"{n},Text {n} has five words.,\n" for n in range(9))
    path = put(tmp_path, "own.csv", f"id,text,split\n{rows}".replace(",\n", "\n").replace(",split", ""))
    path.write_text(path.read_text() + f"0,{SECRET}\n")
    assert_refused("line 11", build, CSV, {"": path}, Sizes(2, 2, 2), WINDOWS)
    corpus = build(CSV, {"": path}, Sizes(2, 2, 2), WINDOWS, skip_mistakes=True)
    assert corpus.dropped[0] == {"id": f"{path}, line 11", "reason": "mistake in the input"}


def write_rows(path, rows):
    return put(path, "own.jsonl", "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))


def rows_of(n, **more):
    return [
        {"id": str(k), "text": f"{SECRET} number {k} goes on from {k} to the end."} | more for k in range(n)
    ]


def save_rows(path, **parts):
    made = {name: datasets.Dataset.from_dict(rows) for name, rows in parts.items()}
    datasets.DatasetDict(made).save_to_disk(path / "own")
    return path / "own"


def columns_of(part, n):
    texts = [f"{SECRET} of {part} number {k} goes on from {part}{k}." for k in range(n)]
    return {"id": [str(k) for k in range(n)], "text": texts, "labels": ["x"] * n}


SOUND = {
    "json": lambda p: write_rows(p, rows_of(40, labels=["x"])),
    "datasets whose ids repeat": lambda p: save_rows(
        p, train=columns_of("train", 30), test=columns_of("test", 9)
    ),
}
UNSOUND = {
    "half of a character": (
        lambda p: write_rows(p, [*rows_of(40), '{"id": "z", "text": "\\ud83d"}']),
        "line 41",
    ),
    "half in a label": (
        lambda p: write_rows(p, [*rows_of(40), '{"id": "z", "text": "a", "labels": ["\\ud83d"]}']),
        "line 41",
    ),
    "digits": (lambda p: write_rows(p, [*rows_of(40), '{"n": ' + "9" * 5000 + "}"]), "line 41"),
    "nesting": (lambda p: write_rows(p, [*rows_of(40), "[" * 100_000]), "line 41"),
    "id twice": (lambda p: write_rows(p, [*rows_of(40), rows_of(1)[0]]), "line 41"),
    "counts": (lambda p: write_rows(p, [{"id": f"a{k}", "text": str(k)} for k in range(40)]), "are numbers"),
    "no rows": (lambda p: write_rows(p, []), "no document with text"),
    "empty texts": (
        lambda p: write_rows(p, [row | {"text": " "} for row in rows_of(9)]),
        "no document with text",
    ),
    "mistakes alone": (lambda p: write_rows(p, ["{", "{"]), "line 2"),
    "data set without rows": (lambda p: save_rows(p, train={"id": [], "text": []}), "has no rows"),
    "split without rows": (
        lambda p: save_rows(p, train=columns_of("train", 30), test={"id": [], "text": []}),
        "has no rows",
    ),
    "data set without splits": (lambda p: save_rows(p), "no document with text"),
    "id twice in a split": (
        lambda p: save_rows(
            p, train=columns_of("train", 30) | {"id": ["7"] * 30}, test=columns_of("test", 9)
        ),
        "split train, row 29: the id 7 is used twice",
    ),
}


def run_own(choose, path, out):
    """Make the corpus at a path as a stage does."""
    overrides = ["corpus=own", f"corpus.path={path}", "corpus.min_words=2"]
    recipe = recipes.corpus(choose(*overrides))
    out.mkdir()
    make_corpus(recipe.settings, {}, out, Runtime())


@pytest.mark.parametrize("name", SOUND)
def test_a_check_and_a_run_both_take_a_sound_corpus(choose, tmp_path, name):
    path = SOUND[name](tmp_path)
    recipes.check_corpus(choose("corpus=own", f"corpus.path={path}", "corpus.min_words=2"))
    run_own(choose, path, tmp_path / "out")


@pytest.mark.parametrize("name", UNSOUND)
def test_a_check_and_a_run_both_refuse_an_unsound_corpus(choose, tmp_path, capsys, name):
    write, says = UNSOUND[name]
    path = write(tmp_path)
    config = choose("corpus=own", f"corpus.path={path}", "corpus.min_words=2")
    assert_refused("mistakes in", recipes.check_corpus, config)
    told = capsys.readouterr().out
    assert says in told and SECRET not in told
    assert_refused("own", run_own, choose, path, tmp_path / "out")


@pytest.mark.parametrize("reader", READERS)
def test_an_empty_folder_and_an_empty_file_are_one_line(tmp_path, reader):
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", put(tmp_path, "empty.csv"), put(tmp_path, "other/empty.txt").parent):
        source = CorpusSource("own", reader)
        assert_refused("empty", build, source, {"": path}, Sizes(1, 1, 1), WINDOWS)


def test_two_files_of_one_corpus_are_told_apart_by_their_split(tmp_path):
    feeds = {"train": ("generate", "dev", "pretrain"), "test": ("test",)}
    files = {part: write_rows(tmp_path / part, rows_of(9)) for part in feeds}
    files["test"].write_text(files["test"].read_text().replace(SECRET, "other"))
    corpus = build(CorpusSource("own", "jsonl", feeds=feeds), files, Sizes(1, 1, 9), WINDOWS)
    assert {window.origin_id for window in corpus.splits["test"]} == {f"test-{n}" for n in range(9)}


def test_documents_beside_a_single_named_split_are_counted(tmp_path):
    for part in ("train", "tset"):
        for n in range(8):
            put(tmp_path, f"own/{part}/{n}.txt", f"Text {n} of {part} has seven words.")
    source = CorpusSource("own", "folder", feeds=ANYWHERE)
    corpus = build(source, {"": tmp_path / "own"}, Sizes(2, 2, 2), WINDOWS)
    assert corpus.card["counted"][ONE_SPLIT] == 8
