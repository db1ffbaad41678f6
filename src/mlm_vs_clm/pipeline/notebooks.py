"""Run every notebook from top to bottom on one folder of results, and write the executed copies beside the artifacts."""

import argparse
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from ..errors import StudyError
from ..files import ROOT

NOTEBOOKS = ROOT / "notebooks"


def execute(notebook: Path, target: Path) -> None:
    """Run a notebook in its own folder and write it with its outputs."""
    content = nbformat.read(notebook, as_version=4)
    NotebookClient(content, timeout=300, resources={"metadata": {"path": str(notebook.parent)}}).execute()
    target.mkdir(parents=True, exist_ok=True)
    nbformat.write(content, target / notebook.name)
    print(f"executed {target / notebook.name}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm notebooks`."""
    parser.add_argument("--target", type=Path, default=Path("outputs/notebooks"))


def run(chosen: argparse.Namespace) -> None:
    """Execute all notebooks; StudyError with the failing cell's last line if one breaks."""
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        try:
            execute(notebook, chosen.target)
        except CellExecutionError as error:
            raise StudyError(f"{notebook.name}: {str(error).strip().splitlines()[-1]}") from error
