"""Dialogue, reviews and presidential messages: what is kept of them, and what is said of a file that is damaged."""

import csv
import json

import pytest
from corpus_files import put
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora import CorpusSource, Cutting, Sizes, build
from mlm_vs_clm.corpora.readers import dialogue, messages, reviews


def say(*turns):
    return [[{"text": text, "sender": sender, "timestamp": ""} for text in texts] for sender, *texts in turns]


def test_a_conversation_has_its_turns_and_its_question_and_not_who_wrote(tmp_path):
    talk = {"prompt": "Why?", "messages": say(("a1", "Hi", "I  ran."), ("b2", "Oh\nno"))}
    alone = {"messages": say(("a1", "Hi"), ("a1", "Anyone?"))}
    result = dialogue.read(put(tmp_path, "d.json", json.dumps({"x": talk, "y": alone})))
    (document,) = result.documents
    assert (document.id, document.text, document.labels) == ("x", "Hi I ran.\n\nOh no", ("Why?",))
    assert result.dropped == [{"id": "y", "reason": "conversation of one side"}] and not document.author


@pytest.mark.parametrize(
    "content, says",
    [
        ("[]", "does not map ids"),
        ({"x": []}, "conversation 0"),
        ({"x": {"messages": [SECRET]}}, "conversation 0"),
        ({"x": {"messages": [[{"text": SECRET}]]}}, "conversation 0"),
    ],
)
def test_a_dialogue_of_another_shape_is_refused(tmp_path, content, says):
    text = content if isinstance(content, str) else json.dumps(content)
    assert_refused(says, dialogue.read, put(tmp_path, "d.json", text))


def test_a_review_loses_html_and_has_its_sentiment(tmp_path):
    rows = '"Bad.<br /><br />A <i>film</i> &amp; a\x96bore.",0,imdb\nGood line.,1,rotten_tomatoes\nGood.,1,imdb\n'
    result = reviews.read(put(tmp_path, "r.csv", f"text,label,source\n{rows}"))
    assert [(d.id, d.text, d.labels) for d in result.documents] == [
        ("line-2", "Bad. A film & a–bore.", ("negative",)),
        ("line-4", "Good.", ("positive",)),
    ]
    assert result.dropped == [{"id": "line-3", "reason": "not a whole review"}]
    assert_refused(
        "line 2: its label", reviews.read, put(tmp_path, "s.csv", f"text,label,source\n{SECRET},2,imdb\n")
    )
    assert_refused("no column source", reviews.read, put(tmp_path, "t.csv", f"text,label\n{SECRET},1\n"))


LONG = " ".join(["word"] * 99)
HEAD = "fileid,date,president_id,is_sotu\n"


def write_messages(folder, rows, texts):
    put(folder, "metadata.csv", HEAD + rows)
    for name, text in texts.items():
        put(folder, f"speeches/{name}.txt", text)
    return folder


def test_messages_are_cut_into_passages_and_later_ones_are_filled(tmp_path):
    texts = {
        "2022-B-1": f"The President. Thank [Laughter] you.\n\n{LONG}\n\nToo short.",
        "2020-T-1": f"{LONG} again.\n\nNext {LONG}.",
        "1973-N-2": "Other.",
    }
    rows = "2022-B-1,2022-03-01,b,True\n2020-T-1,2020-02-04,t,True\n1973-N-2,1973-02-15,n,False\n"
    result = messages.read(write_messages(tmp_path, rows, texts))
    assert {d.id: d.text for d in result.documents} == {
        "2022-B-1-0": f"Thank you.\n\n{LONG}",
        "2020-T-1-0": f"{LONG} again.",
        "2020-T-1-1": f"Next {LONG}.",
    }
    assert result.parts == {"2022-B-1-0": "test", "2020-T-1-0": "train", "2020-T-1-1": "train"}


def test_a_source_says_which_splits_the_parts_of_its_reader_feed(tmp_path):
    texts = {f"{year}-P-1": f"Year {year} {LONG}.\n\nThen {year} {LONG}." for year in range(2014, 2026)}
    rows = "".join(f"{name},{name[:4]}-02-01,p,True\n" for name in texts)
    source = CorpusSource(
        "own", "messages", feeds={"test": ("generate",), "train": ("dev", "test", "pretrain")}
    )
    path = write_messages(tmp_path, rows, texts)
    corpus = build(source, {"": path}, Sizes(8, 2, 2), Cutting(200, 5, seed=0))
    years = {name: {int(d.origin_id[:4]) for d in split} for name, split in corpus.splits.items()}
    assert min(years["generate"]) > 2021 and max(years["pretrain"] | years["dev"] | years["test"]) < 2022
    assert "official splits" not in corpus.card["rules"]


@pytest.mark.parametrize(
    "rows, texts, says",
    [
        ("a,2020-01-01,p,True\n", {"b": SECRET}, "line 2: no file speeches/a.txt"),
        ("a,,p,True\n", {"a": SECRET}, "line 2: one of fileid, date"),
        ("a,yesterday,p,True\n", {"a": SECRET}, "line 2: the date"),
        ("../a,2020-01-01,p,True\n", {"a": SECRET}, "line 2: no file"),
    ],
)
def test_a_damaged_table_of_messages_is_refused(tmp_path, rows, texts, says):
    assert_refused(says, messages.read, write_messages(tmp_path, rows, texts))


def test_a_quote_without_an_end_in_the_table_of_messages_is_one_line(tmp_path):
    csv.field_size_limit(131_072)  # as in a new process
    rows = f'a,"{SECRET * 20_000}\n'
    assert_refused(
        "line 2: one of fileid, date", messages.read, write_messages(tmp_path, rows, {"a": SECRET})
    )


def test_messages_without_their_table_are_refused(tmp_path):
    assert_refused("missing metadata.csv", messages.read, put(tmp_path, "m/speeches/a.txt", SECRET).parent)
