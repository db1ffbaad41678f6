"""Tables, folders, BIO columns and saved data sets: the formats of MPST and of anyone's own documents."""

import datasets
import pytest

from mlm_vs_clm.corpora import READERS, Sizes, Source, build
from mlm_vs_clm.documents import Entity
from mlm_vs_clm.errors import StudyError

SECRET = "secretword"
HEAD = "imdb_id,title,plot_synopsis,tags,split,synopsis_source\r\n"
MPST = (
    "\ufeff" + HEAD + 'tt01,One,"Ann said ""go"".\r\nThen, she left.","murder, cult, murder",train,imdb\r\n'
    'tt02,"Two, too","Bob\nslept.",violence,val,wikipedia\r\n'
    "tt03,Three,Cy ran.,cult,test,imdb\r\n"
)


def put(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def collect(name, path, **settings):
    mistakes = []
    reading = READERS[name](path, mistakes.append, **settings)
    assert not any(SECRET in str(mistake) or "\n" in str(mistake) for mistake in mistakes)
    return reading, [str(mistake).removeprefix(str(path)).lstrip("/,: ") for mistake in mistakes]


def test_mpst_keeps_tags_newlines_and_official_split(tmp_path):
    path = put(tmp_path, "mpst_full_data.csv", MPST)
    for given in (path, tmp_path):
        reading = READERS["mpst"](given)
        assert [(d.id, d.text, d.labels) for d in reading.documents] == [
            ("tt01", 'Ann said "go".\nThen, she left.', ("murder", "cult")),
            ("tt02", "Bob\nslept.", ("violence",)),
            ("tt03", "Cy ran.", ("cult",)),
        ]
        assert reading.parts == {"tt01": "train", "tt02": "dev", "tt03": "test"}


def test_mpst_mistakes_name_the_line_on_which_the_row_begins(tmp_path):
    rows = (
        f'tt04,T,"{SECRET}\r\n{SECRET}",cult,dev2,imdb\r\ntt05,T,{SECRET}\r\ntt01,T,{SECRET},,train,imdb\r\n'
    )
    rows += f'tt06,T,"{SECRET}" bad,cult,train,imdb\r\ntt07,T,x,cult,train,imdb\r\n'
    reading, mistakes = collect("mpst", put(tmp_path, "mpst_full_data.csv", MPST + rows))
    assert [mistake.split(":")[0] for mistake in mistakes] == ["line 7", "line 9", "line 10", "line 11"]
    assert "split is none of" in mistakes[0] and "3 cells where the head has 6" in mistakes[1]
    assert "used twice" in mistakes[2] and "bad or open quote" in mistakes[3]
    assert len(reading.documents) == 3


def test_an_open_quote_is_told_by_the_row_that_opens_it(tmp_path):
    path = put(
        tmp_path, "m.csv", HEAD + f'tt1,T,x,,train,\ntt2,T,"{SECRET},,train,\n' + "tt3,T,x,,train,\n" * 3
    )
    _, mistakes = collect("mpst", path)
    assert mistakes == ["line 3: a bad or open quote in the row: correct it"]


def test_csv_takes_the_columns_that_are_named(tmp_path):
    path = put(tmp_path, "own.tsv", "who\tbody\tkind\nann\tShe sang, loud.\ta;b\nbob\tHe ran.\t\n")
    reading = READERS["csv"](path, columns={"text": "body", "labels": "kind", "author": "who"})
    assert [(d.id, d.text, d.labels, d.author) for d in reading.documents] == [
        ("line-2", "She sang, loud.", ("a", "b"), "ann"),
        ("line-3", "He ran.", (), "bob"),
    ]
    with pytest.raises(StudyError, match=r"own.tsv, line 1: no column text: .*corpus.columns.text="):
        READERS["csv"](path)
    with pytest.raises(StudyError, match="no column author2"):
        READERS["csv"](path, columns={"text": "body", "author": "author2"})


def test_a_cell_may_be_as_long_as_a_book(tmp_path):
    path = put(tmp_path, "own.csv", f"id,text\n1,{'word ' * 50_000}\n")
    assert len(READERS["csv"](path).documents[0].text) == 250_000


def test_folder_of_texts_with_a_table_of_labels(tmp_path):
    put(tmp_path, "a.txt", "\ufeffAnn sang.\r\nLoud.")
    put(tmp_path, "b.txt", "Bob ran.")
    put(tmp_path, "labels.csv", "id,labels,author\na.txt,music,ann\nb,sport|run,bob\n")
    reading = READERS["folder"](tmp_path)
    assert [(d.id, d.text, d.labels, d.author) for d in reading.documents] == [
        ("a", "Ann sang.\nLoud.", ("music",), "ann"),
        ("b", "Bob ran.", ("sport", "run"), "bob"),
    ]


def test_folder_mistakes(tmp_path):
    for name in "ab":
        put(tmp_path, f"{name}.txt", SECRET)
    put(tmp_path, "labels.csv", "id,labels\na,x\na,y\nc,z\n")
    _, mistakes = collect("folder", tmp_path)
    assert [mistake.split(":")[0] for mistake in mistakes] == [
        "labels.csv, line 3",
        "labels.csv, line 4",
        "b.txt",
    ]
    put(tmp_path, "more.csv", "id\n")
    with pytest.raises(StudyError, match="holds 2 tables"):
        READERS["folder"](tmp_path)


def test_files_of_one_name_in_two_folders_get_ids_of_their_own(tmp_path):
    for part in ("train", "test"):
        put(tmp_path, f"{part}/1.txt", f"Text of {part}.")
    reading = READERS["folder"](tmp_path)
    assert reading.parts == {"test_1": "test", "train_1": "train"}


BIO = "-DOCSTART- -X- O O\n\nNaloxone NN O B-Chemical\nreverses VBZ O O\n\nhigh JJ O B-Disease\nblood NN O I-Disease\n"


def test_bio_joins_tokens_and_keeps_entities_at_their_offsets(tmp_path):
    put(tmp_path, "train.conll", BIO + "\n-DOCSTART- O\n\nwe O\nuse O\nzinc I-Chemical\n")
    put(tmp_path, "test.conll", BIO.replace(" ", "\t").replace("\n", "\r\n"))
    reading = READERS["bio"](tmp_path)
    assert [document.text for document in reading.documents] == [
        "Naloxone reverses\nhigh blood",
        "Naloxone reverses\nhigh blood",
        "we use zinc",
    ]
    assert reading.documents[0].entities == (Entity(0, 8, "Chemical"), Entity(18, 28, "Disease"))
    assert reading.documents[2].entities == (Entity(7, 11, "Chemical"),)
    assert reading.parts == {"test-0": "test", "train-0": "train", "train-1": "train"}


def test_bio_without_document_marks_and_with_bad_lines(tmp_path):
    path = put(tmp_path, "x.bio", f"one O\ntwo B-A\n\nthree S-B\n{SECRET}\nfour XX\nfive E-B\n")
    reading, mistakes = collect("bio", path)
    assert [mistake.split(":")[0] for mistake in mistakes] == ["line 5", "line 6"]
    assert [document.text for document in reading.documents] == ["one two", "three five"]


def test_saved_data_set_with_class_names_and_official_keys(tmp_path):
    features = datasets.Features(
        {"body": datasets.Value("string"), "topic": datasets.ClassLabel(names=["a", "b"])}
    )
    parts = {
        key: datasets.Dataset.from_dict({"body": [f"{key} one.", f"{key} two."], "topic": [0, 1]}, features)
        for key in ("train", "validation", "test")
    }
    datasets.DatasetDict(parts).save_to_disk(tmp_path / "saved")
    reading = READERS["datasets"](tmp_path / "saved", columns={"text": "body", "labels": "topic"})
    assert [(d.id, d.labels) for d in reading.documents[:2]] == [("train-0", ("a",)), ("train-1", ("b",))]
    assert reading.parts["validation-1"] == "dev"
    with pytest.raises(StudyError, match="split train: no column text"):
        READERS["datasets"](tmp_path / "saved")


def test_official_splits_need_train_and_test(tmp_path):
    path = put(tmp_path, "own.csv", "id,text,split\n1,One two three.,val\n2,Four five six.,train\n")
    with pytest.raises(StudyError, match="train and test are both needed"):
        build(Source("own", "csv"), {"": path}, Sizes(1, 1, 1), max_words=9, min_words=1, seed=0)


def test_mistakes_are_left_out_and_counted_on_demand(tmp_path):
    rows = "".join(f"{n},Text {n} has five words.,\n" for n in range(9))
    path = put(tmp_path, "own.csv", f"id,text,split\n{rows}".replace(",\n", "\n").replace(",split", ""))
    path.write_text(path.read_text() + f"0,{SECRET}\n")
    settings = {"max_words": 9, "min_words": 1, "seed": 0}
    with pytest.raises(StudyError, match="line 11"):
        build(Source("own", "csv"), {"": path}, Sizes(2, 2, 2), **settings)
    corpus = build(Source("own", "csv"), {"": path}, Sizes(2, 2, 2), **settings, skip_mistakes=True)
    assert corpus.dropped[0] == {"id": f"{path}, line 11", "reason": "mistake in the input"}
