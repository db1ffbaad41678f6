"""The notebooks run from top to bottom on any results folder and are committed without outputs."""

from pathlib import Path

import nbformat
import pytest
from fake_tables import tidy_fakes
from nbclient import NotebookClient

from mlm_vs_clm.files import ROOT, write_csv

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    for name, table in tidy_fakes().items():
        write_csv(table, folder / f"{name}.csv")
    return folder


def test_there_are_four_notebooks():
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_outputs(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, results, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("MLM_VS_CLM_RESULTS", str(results))
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(path.parent)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any("missing: no rows" in str(output.get("data", "")) for output in outputs)
