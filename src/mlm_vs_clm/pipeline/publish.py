"""The report's way out of the store: into `results/<study>/` and, between markers, into the pages of PAGES.

`python -m mlm_vs_clm page` makes the pages, figures and blocks of studies again, from their committed frames alone.
"""

import argparse
import hashlib
import os
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from ..errors import StudyError
from ..evidence.claims import load_rules
from ..evidence.derivation import Tables
from ..evidence.tables import main_cell, read_tables
from ..files import MANIFEST, ROOT, explain_os_error, list_studies, write_atomically
from ..hardware import one_blas_thread
from ..report import make_page
from ..report.blocks import (
    MAIN,
    Blocks,
    keep_claims,
    make_blocks,
    make_shared_blocks,
    read_studies,
    write_overviews,
)
from ..report.dictionary import write_dictionary
from ..report.headline import answer_question, ask, name_next, name_study, tabulate_steps
from ..report.ladder import list_own_steps
from ..report.panels import check_panel
from ..report.rendering import write_between_markers
from ..report.study_folder import CLAIMS, PAGE, REPORT_FILES, load_background, refresh_tables
from .artifacts import RECORD
from .config import PanelConfig
from .effects import RUNTIME
from .workers import hold, machine_lock

# The lock of who writes results, and who has it: README and overviews of a checkout are read, changed and written again.
WRITING = f"results-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]}"
WRITER = "that is writing results"
PAGES = (
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("paper", "statements", "data-cards")),
    ROOT / "results" / "README.md",
)


def check_writable(
    results: str, name: str, overrides: Sequence[str] = (), corpus_path: str | None = None
) -> None:
    """Raise StudyError, before any work, where the results cannot be written, or would replace those of another study.

    A committed folder takes its own study alone: that of its scale and track, with no override that changes a result.
    No report goes into the folder of a user's corpus.
    """
    target = Path(results) / name
    keys = [override.lstrip("+~").partition("=")[0] for override in overrides]
    changed = [key for key in keys if key not in {*RUNTIME, "scale", "track"}]
    committed = ROOT / "results" / MANIFEST
    is_kept = Path(results).resolve() == committed.parent.resolve() and committed.is_file()
    if changed and is_kept and f"  {name}/" in committed.read_text():
        raise StudyError(
            f"results/{name} is a committed study, and this one differs in {', '.join(changed)}: give it another folder, "
            "such as results=outputs/results"
        )
    corpus = Path(corpus_path).resolve() if corpus_path else None
    if corpus and corpus.is_dir() and target.resolve().is_relative_to(corpus):
        raise StudyError(
            f"{target} lies in corpus.path={corpus_path}: give the results another folder (results=<folder>)"
        )
    try:
        target.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=target):
            pass
    except OSError as error:
        raise StudyError(explain_os_error(error, target)) from error


def check_panels(panels: list[PanelConfig]) -> None:
    """Raise StudyError, before any work, for a panel whose kind or table is unknown."""
    for panel in panels:
        check_panel(asdict(panel))


def publish(report: Path, results: str, name: str) -> None:
    """Copy a report to `results/<name>`, touching only files that changed, and print where it is.

    Files of an earlier report that this one lacks are removed; whatever else lies there stays.
    """
    target = Path(results) / name
    try:
        with hold(machine_lock(WRITING), WRITER):
            files = {
                path.relative_to(report)
                for path in report.rglob("*")
                if path.is_file() and path.name != RECORD
            }
            for file in sorted(files):
                _copy(report / file, target / file)
            for name_of_file in sorted(REPORT_FILES - {str(file) for file in files}):
                (target / name_of_file).unlink(missing_ok=True)
            write_blocks([target])
    except OSError as error:
        raise StudyError(explain_os_error(error, target)) from error
    print_answers(read_tables(target), load_background(target).about)
    print(f"tables:  {target}/*.csv\nreport:  {target / PAGE} (open it in a browser)")


def write_blocks(studies: Iterable[Path]) -> None:
    """Write the blocks of README and docs that tell studies of `results`, and what rests on all; other folders have none."""
    told = [study for study in map(Path.absolute, studies) if study.parent == ROOT / "results"]
    for study in told:
        blocks = make_blocks(study) | {"dictionary": write_dictionary()}
        write_pages(blocks, {f"{study.name}-first", "dictionary"})
    tables = read_studies(ROOT / "results") if told else {}
    if keep_claims(tables):
        rules = load_rules(CLAIMS, main_cell(tables.get(MAIN) or next(iter(tables.values()))))
        write_pages(make_shared_blocks(ROOT / "results", tables, rules))
        write_overviews(ROOT / "results", tables, rules)


def print_answers(tables: Tables, about: Mapping[str, Any]) -> None:
    """Print in at most eight lines what a study found: its title, question and answer, who is ahead on each corpus, what comes next."""
    print(f"{name_study(about, tables)}\n{ask(about)}\n{answer_question(tables)}")
    steps = None if about.get("panels") else tabulate_steps(list_own_steps(tables))
    if steps:
        for words, cells in steps.rows:
            scores = ", ".join(f"{corpus} {cell}" for corpus, cell in zip(steps.corpora, cells, strict=True))
            print(f"  against {words}: {scores}")
    if command := name_next(about, tables):
        print(f"next:    {command}")


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm page`."""
    parser.add_argument(
        "studies", nargs="*", help="folders of results, such as results/laptop; all without one"
    )


def run(chosen: argparse.Namespace) -> None:
    """Make the pages; raises StudyError for a folder that holds no study, and where there is none."""
    studies = [Path(name) for name in chosen.studies] or [*list_studies(ROOT / "results").values()]
    if not studies:
        raise StudyError(f"{ROOT / 'results'} holds no study: name a folder of results")
    with hold(machine_lock(WRITING), WRITER), one_blas_thread():
        for study in studies:
            if not study.is_dir():
                raise StudyError(f"{study} is not a folder: name one of results, such as results/desk")
            refresh_tables(study)
            make_page(study)
            print(study / PAGE)
        write_blocks(studies)
