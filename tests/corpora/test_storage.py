"""A stored corpus: the same bytes for the same documents, and back again."""

import json

from refusals import assert_refused

from mlm_vs_clm.corpora import Corpus, load_split, save
from mlm_vs_clm.documents import Document, Entity


def test_the_same_corpus_is_the_same_bytes_and_comes_back_equal(tmp_path):
    full = Document("a-0", "Ann é.", ("x",), (Entity(0, 3, "P"),), "w", "2013-01-01", "a")
    splits = {"pretrain": [full, Document("b-0", "b")], "dev": []}
    corpus = Corpus(splits, [{"id": "c", "reason": "r"}], {"k": 1})
    save(corpus, tmp_path / "one")
    save(corpus, tmp_path / "two")
    for path in (tmp_path / "one").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()
    assert {split: load_split(tmp_path / "one", split) for split in corpus.splits} == corpus.splits
    assert (tmp_path / "one" / "dropped.csv").read_text() == "id,reason\nc,r\n"


def test_missing_or_damaged_split(tmp_path):
    assert_refused("not a stored split", load_split, tmp_path, "dev")
    save(Corpus({"dev": [Document("a", "a")]}, [], {}), tmp_path)
    for file, content in (("*.arrow", ""), ("state.json", json.dumps({"_data_files": []}))):
        next((tmp_path / "dev").glob(file)).write_text(content)
        assert_refused("not a stored split", load_split, tmp_path, "dev")
