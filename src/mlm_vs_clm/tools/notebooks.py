"""Run every notebook from top to bottom on one folder of results, and write it with its outputs: same results, same bytes."""

import argparse
from copy import deepcopy
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError

from ..errors import StudyError
from ..files import ROOT

NOTEBOOKS = ROOT / "notebooks"


def execute(notebook: Path, target: Path) -> None:
    """Run a notebook in its own folder and write it with its outputs, without times, warnings and the kernel's version."""
    content = nbformat.read(notebook, as_version=4)
    metadata, place = deepcopy(content.metadata), {"metadata": {"path": str(notebook.parent)}}
    NotebookClient(content, timeout=300, record_timing=False, resources=place).execute()
    content.metadata = metadata
    for cell in content.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    target.mkdir(parents=True, exist_ok=True)
    nbformat.write(content, target / notebook.name)
    print(f"executed {target / notebook.name}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm notebooks`."""
    parser.add_argument("--target", type=Path, default=NOTEBOOKS, help="folder of the executed copies")


def run(chosen: argparse.Namespace) -> None:
    """Execute all notebooks; StudyError with the failing cell's last line if one breaks, and where there are none."""
    if not (notebooks := sorted(NOTEBOOKS.glob("*.ipynb"))):
        raise StudyError(f"{NOTEBOOKS} has no notebooks: run this in a checkout of the repository")
    for notebook in notebooks:
        try:
            execute(notebook, chosen.target)
        except (CellExecutionError, CellTimeoutError) as error:
            raise StudyError(f"{notebook.name}: {str(error).strip().splitlines()[-1]}") from error
