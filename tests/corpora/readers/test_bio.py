"""BIO columns: tokens joined, entities at their offsets, bad lines located."""

import pytest
from corpus_files import collect, put
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora.readers import bio
from mlm_vs_clm.documents import Entity

BIO = "-DOCSTART- -X- O O\n\nNaloxone NN O B-Chemical\nreverses VBZ O O\n\nhigh JJ O B-Disease\nblood NN O I-Disease\n"


def list_texts(result):
    return [document.text for document in result.documents]


def test_bio_joins_tokens_and_keeps_entities_at_their_offsets(tmp_path):
    put(tmp_path, "train.conll", BIO + "\n-DOCSTART- O\n\nwe O\nuse O\nzinc I-Chemical\n")
    put(tmp_path, "test.conll", BIO.replace(" ", "\t").replace("\n", "\r\n"))
    result = bio.read(tmp_path)
    same = "Naloxone reverses\nhigh blood"
    assert list_texts(result) == [same, same, "we use zinc"]
    assert result.documents[0].entities == (Entity(0, 8, "Chemical"), Entity(18, 28, "Disease"))
    assert result.documents[2].entities == (Entity(7, 11, "Chemical"),)
    assert result.parts == {"test-0": "test", "train-0": "train", "train-1": "train"}


def test_bio_without_document_marks_and_with_bad_lines(tmp_path):
    path = put(tmp_path, "x.bio", f"one O\ntwo B-A\n\nthree S-B\n{SECRET}\nfour XX\nfive E-B\n")
    result, mistakes = collect(bio.read, path)
    assert [mistake.split(":")[0] for mistake in mistakes] == ["line 5", "line 6"]
    assert list_texts(result) == ["one two", "three five"]


TOKENS = ["EU", "rejects", "German"]
TAGS = ["I-ORG", "O", "I-MISC"]
KINDS = ["NNP", "VBZ", "JJ"]
BEFORE = {  # what stands before the token, by its place in the sentence
    "nothing": lambda n: "",
    "count from 1": lambda n: f"{n + 1} ",
    "count from 0": lambda n: f"{n} ",
    "count down": lambda n: f"{3 - n} ",
    "offsets": lambda n: f"{(0, 3, 11)[n]} {(2, 10, 17)[n]} ",
    "number of the sentence": lambda n: "1 ",
    "name of the sentence": lambda n: "s1 ",
    "sentence and count": lambda n: f"s1 {n} ",
    "counted name": lambda n: f"s1-t{n + 1} ",
    "counted within": lambda n: f"1.{n + 1} ",
    "part of speech": lambda n: f"{KINDS[n]} ",
    "count and part of speech": lambda n: f"{n} {KINDS[n]} ",
    "part of speech of German": lambda n: f"{('NE', 'VVFIN', 'NE')[n]} ",
    "any name": lambda n: f"x{n}f7 ",
    "underscore": lambda n: "_ ",
}


@pytest.mark.parametrize("after", ["", "NNP ", "7 I-NP "])
@pytest.mark.parametrize("before", BEFORE)
def test_the_column_of_tokens_is_found(tmp_path, before, after):
    lines = [f"{BEFORE[before](n)}{token} {after}{TAGS[n]}" for n, token in enumerate(TOKENS)]
    (document,) = bio.read(put(tmp_path, "x.conll", "\n".join(lines))).documents
    assert document.text == "EU rejects German"
    assert document.entities == (Entity(0, 2, "ORG"), Entity(11, 17, "MISC"))


READ = {
    "s1 Paris B-LOC\n\ns2 Berlin B-LOC\n\ns4 sleeps O\n": ["Paris", "Berlin", "sleeps"],  # of one token each
    "PATIENT patient O\nDENIES deny O\nPAIN pain B-SYMPTOM\n": ["PATIENT DENIES PAIN"],  # lemmas follow
    "ART Die O\n": ["Die"],  # a part of speech is no token
    "5 CD O\nmen NNS O\n\n1914 CD O\n\n2 CD O\n3 CD O\n": ["5 men", "1914", "2 3"],
    "ha UH O\nha UH O\n": ["ha ha"],
    # A hash with a tag is a token, and a comment stands before a sentence.
    "Sales NN O\n# # O\n5 CD O\nin IN O\nNew NNP B-LOC\nYork NNP I-LOC\n": ["Sales # 5 in New York"],
    "# # O\n1 CD O\nhit NN O\n": ["# 1 hit"],
    "# O\n\n# O\n": ["#", "#"],
    "#\tO\n1\tO\nhit\tO\n": ["# 1 hit"],
    "# a comment\none O\n\n# text = Vitamin O\ntwo O\n": ["one", "two"],
    "#\thttp://a.b [2014]\none\tO\ntwo\tO\n": ["one two"],
    "#newdocument O\nby O\n#docid O\n": ["#newdocument by #docid"],
    "#\none O\n": ["one"],
    "one O\n\n# -DOCSTART-\ntwo O\n": ["one", "two"],
}


@pytest.mark.parametrize("content", READ)
def test_texts_are_made_of_the_tokens_alone(tmp_path, content):
    result, mistakes = collect(bio.read, put(tmp_path, "x.conll", content))
    assert list_texts(result) == READ[content] and not mistakes


@pytest.mark.parametrize("lines", ["1 O\n2 B-A\n", "4 1 O\n5 2 O\n", "w1 O\nw2 O\nw3 O\n"])
def test_columns_that_all_count_are_a_mistake_that_names_the_setting(tmp_path, lines):
    path = put(tmp_path, "x.conll", lines)
    says = "x.conll: each column but the last counts.*corpus.columns.text=<its number"
    assert_refused(says, bio.read, path)
    texts = list_texts(bio.read(path, columns={"text": "1"}))
    assert texts == [" ".join(line.split()[0] for line in lines.splitlines())]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            "New York NNP B-LOC\nis VBZ O\nbig JJ O\n",
            "x.conll, line 1: 4 cells where most of its sentence have 3",
        ),
        ("1 CD O\n2 CD O\n", "names kinds"),
    ],
)
def test_a_space_within_a_token_and_columns_without_tokens_are_mistakes(tmp_path, lines, says):
    assert_refused(says, bio.read, put(tmp_path, "x.conll", lines))


@pytest.mark.parametrize("columns", [{"text": "0"}, {"text": "word"}, {"text": "9" * 5000}, {"labels": "2"}])
def test_a_column_of_tokens_is_named_by_its_number(tmp_path, columns):
    path = put(tmp_path, "x.bio", "one two O\n")
    assert list_texts(bio.read(path, columns={"text": "2"})) == ["two"]
    assert_refused("corpus.columns", bio.read, path, columns=columns)
    assert_refused("x.bio, line 1: no token", bio.read, path, columns={"text": "3"})


CONLLU = """# newdoc id = d1
# sent_id = 1
# text = Du vin O
1-2\tDu\t_\t_
1\tDe\tADP\tO
2\tle\tDET\tO
3\tvin\tNOUN\tB-Drink
3.1\tbu\tVERB\tO

# sent_id = 2
1\tOui\tINTJ\tO
# newdoc id = d2
1\tNon\tINTJ\tO
"""


def test_conll_u_ranges_comments_and_documents(tmp_path):
    result = bio.read(put(tmp_path, "x.conll", CONLLU))
    assert list_texts(result) == ["De le vin\nOui", "Non"]
    assert result.documents[0].entities == (Entity(6, 9, "Drink"),)
    assert result.counted["words of several tokens and empty nodes (not used)"] == 2


def test_a_hash_within_a_sentence_and_without_a_tag_is_a_mistake(tmp_path):
    result, mistakes = collect(bio.read, put(tmp_path, "x.conll", "one O\n# two\nthree O\n"))
    assert [mistake.split(":")[0] for mistake in mistakes] == ["line 2"]
    assert list_texts(result) == ["one three"]


def test_a_column_that_only_a_sentence_begins_with_is_not_the_tokens(tmp_path):
    rows = "Sentence: {}\tThousands\tNNS\tO\nNaN\tof\tIN\tO\nNaN\tLondon\tNNP\tB-geo\n\n"
    path = put(tmp_path, "x.conll", rows.format(1) + rows.format(2))
    assert "Thousands of London" in bio.read(path).documents[0].text


GERMEVAL = "1\tBerlin\tB-LOC\tO\n2\tDeutschen\tB-LOCderiv\tB-ORG\n3\tVerein\tO\tI-ORG\n"


def test_the_column_of_tags_can_be_chosen_and_others_are_counted(tmp_path):
    path = put(tmp_path, "ge.conll", GERMEVAL)
    inner, outer = bio.read(path), bio.read(path, columns={"entities": "3"})
    assert [entity.type for entity in inner.documents[0].entities] == ["ORG"]
    assert [entity.type for entity in outer.documents[0].entities] == ["LOC", "LOCderiv"]
    assert list_texts(inner) == list_texts(outer) == ["Berlin Deutschen Verein"]
    assert inner.counted[bio.OTHER_TAGS] == 2 and not outer.counted[bio.OTHER_TAGS]


@pytest.mark.parametrize(
    "names", [("eng.train", "eng.testa", "eng.testb"), ("x-train.conllu", "x-dev.conllu", "x-test.conllu")]
)
def test_files_with_endings_of_their_own_are_all_read(tmp_path, names):
    for name in names:
        put(tmp_path, name, f"{name} O\nsang O\n")
    assert sorted(bio.read(tmp_path).parts.values()) == ["dev", "test", "train"]
