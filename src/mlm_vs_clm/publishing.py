"""The report's way out of the store: into `results/<scale>/` and, between markers, into the README."""

import os
import shutil
from pathlib import Path

import pandas as pd

from .artifacts import RECORD, explain_os_error, write_whole
from .errors import StudyError
from .report import headline_table, read_tables, write_between_markers

README = Path(__file__).parents[2] / "README.md"


def publish(report: Path, results: str, scale: str) -> None:
    """Copy a report to `results/<scale>`, touching only files that changed, and say where to look."""
    target = Path(results) / scale
    try:
        wanted = {path.relative_to(report) for path in report.rglob("*") if path.is_file() and path.name != RECORD}
        for name in sorted(wanted):
            _copy(report / name, target / name)
        for path in sorted(target.rglob("*")):
            if path.is_file() and path.relative_to(target) not in wanted:
                path.unlink()
        if scale == "laptop" and Path(results).resolve() == README.parent / "results":
            _write_readme(target)
    except OSError as error:
        raise StudyError(explain_os_error(error, target)) from error
    print(f"report:  {target / 'report.html'} (open it in a browser)\ntables:  {target / 'tables'}\nrows:    {target}/*.csv")


def _copy(source: Path, target: Path) -> None:
    if target.is_file() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.partial")
    shutil.copyfile(source, beside)
    os.replace(beside, target)


def _write_readme(results: Path) -> None:
    tables: dict[str, pd.DataFrame] = read_tables(results)
    before = README.read_text(encoding="utf-8")
    after = write_between_markers(before, "headline", headline_table(tables))
    if after != before:
        write_whole(README, after)
