"""The report's way out of the store: into `results/<study>/` and, between markers, into the pages of PAGES."""

import os
import shutil
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile

from ..errors import StudyError
from ..evidence.tables import read_tables
from ..files import MANIFEST, ROOT, explain_os_error, locate_results, write_atomically
from ..report.blocks import Blocks, make_blocks, write_overviews
from ..report.frames import find_rules
from ..report.overview import find_start
from ..report.panels import check_panel
from ..report.rendering import write_between_markers
from ..report.sentences import Tables
from .artifacts import RECORD
from .config import PanelConfig
from .effects import RUNTIME

PAGES = (ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in ("paper", "data-cards")))


def check_writable(results: str, name: str, overrides: Sequence[str] = ()) -> None:
    """Raise StudyError, before any work, where the results cannot be written, or would replace those of another study.

    A committed folder takes its own study alone: that of its scale and track, with no override that changes a result.
    """
    target = Path(results) / name
    keys = [override.lstrip("+~").partition("=")[0] for override in overrides]
    others = [key for key in keys if key not in {*RUNTIME, "scale", "track"}]
    committed = ROOT / "results" / MANIFEST
    is_kept = target.resolve().parent == committed.parent and committed.is_file()
    if others and is_kept and f"  {name}/" in committed.read_text():
        raise StudyError(
            f"results/{name} is a committed study, and this one differs in {', '.join(others)}: give it another folder, "
            "such as results=outputs/results"
        )
    try:
        target.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=target):
            pass
    except OSError as error:
        raise StudyError(explain_os_error(error, target)) from error


def check_panels(panels: list[PanelConfig]) -> None:
    """Raise StudyError, before any work, for a panel whose kind or table is unknown."""
    for one in panels:
        check_panel(asdict(one))


def publish(report: Path, results: str, name: str) -> None:
    """Copy a report to `results/<name>`, touching only files that changed, and print where it is."""
    target = Path(results) / name
    try:
        wanted = {
            path.relative_to(report) for path in report.rglob("*") if path.is_file() and path.name != RECORD
        }
        for file in sorted(wanted):
            _copy(report / file, target / file)
        for path in sorted(target.rglob("*")):
            if path.is_file() and path.relative_to(target) not in wanted:
                path.unlink()
        write_blocks(target)
    except OSError as error:
        raise StudyError(explain_os_error(error, target)) from error
    print_answers(read_tables(target))
    print(f"report:  {target / 'report.html'} (open it in a browser)\ntables:  {target}/*.csv")


def write_blocks(study: Path) -> None:
    """Write the blocks of README and docs that tell a study of `results`, and README's figure; another folder has none."""
    study = study.absolute()
    if locate_results(study) == ROOT / "results":
        tables = read_tables(study)
        rules = find_rules(tables)
        write_pages(make_blocks(study, rules), {f"{study.name}-first"})
        if find_start(tables):
            write_overviews(locate_results(study), rules)


def print_answers(tables: Tables) -> None:
    """Print the finding of each panel of a study that has them, else the answer to each claim; one line each."""
    findings, sentences = tables["findings"], tables["sentences"]
    named = findings[["title", "sentence"]] if len(findings) else sentences[["claim", "sentence"]]
    for name, sentence in named.itertuples(index=False):
        print(f"{name}: {sentence}")


def _copy(source: Path, target: Path) -> None:
    if target.is_file() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.partial")
    shutil.copyfile(source, beside)
    os.replace(beside, target)


def write_pages(blocks: Blocks, optional: Collection[str] = ()) -> None:
    """Write each block between its markers, in each of PAGES that has them; only blocks of `optional` may have none."""
    before = {page: page.read_text(encoding="utf-8") for page in PAGES if page.is_file()}
    after = dict(before)
    for name, text in blocks.items():
        marked = [page for page, content in before.items() if f"<!-- begin: {name} -->" in content]
        for page in marked or list(before)[: name not in optional]:
            after[page] = write_between_markers(after[page], name, text)
    for page, text in after.items():
        if text != before[page]:
            write_atomically(page, text)
