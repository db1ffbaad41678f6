"""The data dictionary has one line for every column of every table, and the page is made from it."""

import pytest
from table_dictionary import COLUMNS, MEANINGS, TABLES, describe_column, write_dictionary

from mlm_vs_clm.evidence.observations import OPTIONAL, PLAIN
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report.rendering import write_between_markers

RESULTS = ROOT / "results"


@pytest.mark.parametrize("table", COLUMNS)
def test_every_column_has_a_meaning(table):
    assert TABLES[table]
    assert all(describe_column(table, column)[1] for column in COLUMNS[table])


def test_no_meaning_is_without_a_column():
    named = {column for columns in COLUMNS.values() for column in columns}
    named |= {f"{table}.{column}" for table, columns in COLUMNS.items() for column in columns}
    assert MEANINGS.keys() - named == set() and TABLES.keys() == COLUMNS.keys()


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
    assert page == write_between_markers(page, "dictionary", write_dictionary())
    for path in RESULTS.iterdir():
        assert f"`{path.name}" in page or (path / "study.yaml").is_file(), path
