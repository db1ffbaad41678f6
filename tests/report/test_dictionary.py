"""The data dictionary has one line for every column of every table, and `make page` writes it."""

from refusals import assert_refused

from mlm_vs_clm.evidence import documents
from mlm_vs_clm.evidence.columns import COLUMNS, DOCUMENTS, KEYS, SHARED, read_declarations
from mlm_vs_clm.evidence.observations import OPTIONAL, PLAIN
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report.dictionary import describe_sum, write_dictionary
from mlm_vs_clm.report.rendering import write_between_markers

RESULTS = ROOT / "results"


def test_a_column_of_a_table_is_one_line():
    lines = "\n    ".join(["arm*", "seconds | s | time", "level | text of the setting | its value"])
    text = f"\nshared: of several tables\n    arm | text | what filled the blanks\ncost (rare): what it cost\n    {lines}"
    cost = read_declarations(text)["cost"]
    assert cost.about == "what it cost" and cost.is_rare
    columns = [(column.name, column.kind, column.unit, column.is_key) for column in cost.columns]
    assert columns == [
        ("arm", "text", "", True),
        ("seconds", "number", "s", False),
        ("level", "text", "of the setting", False),
    ]


def test_every_table_has_keys_and_no_meaning_is_without_a_column():
    assert all(KEYS.values())
    named = {*documents.COLUMNS}.union(*COLUMNS.values())
    assert {column.name for column in (*SHARED, *DOCUMENTS.columns)} <= named
    assert_refused("does not say what wit means", describe_sum, "wit")


def test_the_dictionary_has_every_column_of_every_committed_table():
    files = [path for path in RESULTS.glob("*/*.csv") if path.parent.name not in ("first-edition", "bench")]
    # The tables follow from frames, which are no tables.
    files = [path for path in files if path.stem not in (*PLAIN, *OPTIONAL)]
    assert files
    for path in files:
        header, known = path.open().readline().strip().split(","), COLUMNS[path.stem]
        is_varied = (path.parent / "variants.csv").is_file()
        assert header[: len(known)] == known and (is_varied or header == known), path


def test_the_page_is_made_from_the_dictionary_and_names_everything_in_the_folder():
    page = (RESULTS / "README.md").read_text()
    assert page == write_between_markers(page, "dictionary", write_dictionary()), "run `make page`"
    for path in RESULTS.iterdir():
        assert f"`{path.name}" in page or (path / "study.yaml").is_file(), path
