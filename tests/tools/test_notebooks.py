"""The notebooks run from top to bottom on any results folder, and show the committed results."""

import re
from pathlib import Path

import nbformat
import pytest
import yaml
from fake_tables import tidy_fakes
from nbclient import NotebookClient

from mlm_vs_clm.evidence.tables import hash_tables, read_tables
from mlm_vs_clm.files import ROOT, write_csv
from mlm_vs_clm.report import show_tables

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    tables = tidy_fakes()
    (about,) = tables.pop("study").to_dict("records")
    (folder / "study.yaml").write_text(yaml.safe_dump({"study": about}), encoding="utf-8")
    for name, table in tables.items():
        write_csv(table, folder / f"{name}.csv")
    return folder


LIGHT = "05_light_install"  # needs no plotting


def test_there_are_six_notebooks():
    assert len(NOTEBOOKS) == 6


def test_the_light_notebook_imports_what_the_light_install_has():
    (path,) = [path for path in NOTEBOOKS if path.stem == LIGHT]
    code = "\n".join(
        cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"
    )
    imported = set(re.findall(r"^(?:from|import) (\w+)", code, flags=re.MULTILINE))
    assert "blankfill" in imported
    assert imported <= {"blankfill", "numpy", "random", "tokenizers", "torch", "transformers"}


def list_texts(cells) -> list[str]:
    """Return what the code cells print and display, as plain text or Markdown."""
    outputs = [output for cell in cells for output in cell.outputs]
    shown = [output.get("data", {}) for output in outputs]
    return [one.get("text", "") for one in outputs] + [
        one.get("text/markdown", one.get("text/plain", "")) for one in shown
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_as_executed_on_the_committed_results(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert all(output.output_type in ("stream", "display_data") for cell in cells for output in cell.outputs)
    texts = list_texts(cells)
    assert not re.search(r"/(home|root|tmp|work|Users)/", "".join(texts))
    if "find_results" in cells[0].source:
        results = ROOT / "results" / "laptop"
        assert f"Tables {hash_tables(results)}." in texts[0], "run `make notebooks`"
        tables = read_tables(results)
        names = re.findall(
            r"^show\(\"(\w+)\"\)", "\n".join(cell.source for cell in cells), flags=re.MULTILINE
        )
        assert names and all("\n".join(show_tables(name, tables)) in texts for name in names)


@pytest.mark.slow
def test_the_notebooks_run(results, monkeypatch):
    """In one kernel, which loads the libraries once and forgets the names of the notebook before."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("MLM_VS_CLM_RESULTS", str(results))
    whole, ends = nbformat.v4.new_notebook(), []
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        for cell in cells:
            cell.source = cell.source.replace("steps=400", "steps=20")
        whole.cells += [nbformat.v4.new_code_cell("%reset -f"), *cells]
        ends.append(len(whole.cells))
    NotebookClient(whole, timeout=300, resources={"metadata": {"path": str(NOTEBOOKS[0].parent)}}).execute()
    for path, start, end in zip(NOTEBOOKS, [0, *ends], ends, strict=False):
        outputs = [output for cell in whole.cells[start:end] for output in cell.get("outputs", [])]
        assert path.stem == LIGHT or any("image/png" in output.get("data", {}) for output in outputs), path
        assert not any("missing: no rows" in str(output.get("data", "")) for output in outputs), path
