"""BIO columns: tokens joined, entities at their offsets, bad lines located."""

from corpus_files import collect, put
from refusals import SECRET

from mlm_vs_clm.corpora.readers import bio
from mlm_vs_clm.documents import Entity

BIO = "-DOCSTART- -X- O O\n\nNaloxone NN O B-Chemical\nreverses VBZ O O\n\nhigh JJ O B-Disease\nblood NN O I-Disease\n"


def test_bio_joins_tokens_and_keeps_entities_at_their_offsets(tmp_path):
    put(tmp_path, "train.conll", BIO + "\n-DOCSTART- O\n\nwe O\nuse O\nzinc I-Chemical\n")
    put(tmp_path, "test.conll", BIO.replace(" ", "\t").replace("\n", "\r\n"))
    result = bio.read(tmp_path)
    same = "Naloxone reverses\nhigh blood"
    assert [document.text for document in result.documents] == [same, same, "we use zinc"]
    assert result.documents[0].entities == (Entity(0, 8, "Chemical"), Entity(18, 28, "Disease"))
    assert result.documents[2].entities == (Entity(7, 11, "Chemical"),)
    assert result.parts == {"test-0": "test", "train-0": "train", "train-1": "train"}


def test_bio_without_document_marks_and_with_bad_lines(tmp_path):
    path = put(tmp_path, "x.bio", f"one O\ntwo B-A\n\nthree S-B\n{SECRET}\nfour XX\nfive E-B\n")
    result, mistakes = collect(bio.read, path)
    assert [mistake.split(":")[0] for mistake in mistakes] == ["line 5", "line 6"]
    assert [document.text for document in result.documents] == ["one two", "three five"]
