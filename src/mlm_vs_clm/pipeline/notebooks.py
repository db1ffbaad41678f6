"""Run every notebook from top to bottom on one folder of results; the executed copies go beside the artifacts."""

import argparse
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from ..files import ROOT

NOTEBOOKS = ROOT / "notebooks"


def execute(notebook: Path, target: Path) -> None:
    """Run a notebook in its own folder and write it with its outputs."""
    content = nbformat.read(notebook, as_version=4)
    NotebookClient(content, timeout=300, resources={"metadata": {"path": str(notebook.parent)}}).execute()
    target.mkdir(parents=True, exist_ok=True)
    nbformat.write(content, target / notebook.name)
    print(f"executed {target / notebook.name}")


def main() -> int:
    """Execute all notebooks; 1 and the failing cell's last line if one breaks."""
    parser = argparse.ArgumentParser(description=execute.__doc__)
    parser.add_argument("--target", type=Path, default=Path("outputs/notebooks"))
    arguments = parser.parse_args()
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        try:
            execute(notebook, arguments.target)
        except CellExecutionError as error:
            print(f"error: {notebook.name}: {str(error).strip().splitlines()[-1]}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
