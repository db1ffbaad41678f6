"""Files that a study writes are UTF-8 wherever it runs, and its folder is found by its settings."""

import io

import pandas as pd
import pytest

from mlm_vs_clm.files import STUDY, list_studies, write_atomically
from mlm_vs_clm.pipeline.tabulate import publish


@pytest.fixture
def ascii_locale(monkeypatch):
    """A machine on which a file opened without an encoding holds ASCII alone."""
    monkeypatch.setattr(io, "text_encoding", lambda encoding, stacklevel=2: encoding or "ascii")


def test_a_file_that_is_replaced_is_utf8(tmp_path, ascii_locale):
    write_atomically(tmp_path / "page.md", "one – two\n")
    assert (tmp_path / "page.md").read_bytes() == "one – two\n".encode()
    assert len(list(tmp_path.iterdir())) == 1


def test_studies_are_the_folders_of_results_themselves_and_an_archive_is_none(tmp_path):
    for name in ("laptop-runs", "laptop", "records/evening"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / STUDY).write_text("")
    assert list_studies(tmp_path) == {name: tmp_path / name for name in ("laptop", "laptop-runs")}


def test_the_table_for_reading_is_utf8(tmp_path, ascii_locale):
    table = pd.DataFrame({"corpus": ["études", "plots"], "artifact": ["score/1", None], "reason": ["", "x"]})
    publish(table, "downstream", tmp_path, "Stored results", "python -m mlm_vs_clm table")
    assert "| études | score/1 |" in (tmp_path / "table.md").read_bytes().decode("utf-8")
