"""The report's way out of the store: into `results/<study>/` and, between markers, into README and docs/results.md."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from ..analysis.tables import read_table, read_tables
from ..errors import StudyError
from ..files import ROOT, explain_os_error, write_atomically
from ..report.build import read_study, show_tables
from ..report.outcomes import competence_table, grid_table
from ..report.rendering import to_markdown, write_between_markers
from ..report.sentences import (
    Tables,
    describe_main_cell,
    describe_utility_gap,
    summarise_corpora,
    tell_claims,
)
from ..report.utility import headline_table
from .artifacts import RECORD

PAGES = (ROOT / "README.md", ROOT / "docs" / "results.md")


def name_folder(scale: str, track: str) -> str:
    """Return the folder of a study in `results`: the matched track's is named after the scale alone."""
    return scale if track == "matched" else f"{scale}-{track}"


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
        if name in BLOCKS and Path(results).resolve() == ROOT / "results":
            _write_pages(target, BLOCKS[name])
    except OSError as error:
        raise StudyError(explain_os_error(error, target)) from error
    print_answers(read_table("sentences", target))
    print(
        f"report:  {target / 'report.html'} (open it in a browser)\ntables:  {target / 'tables'}\nrows:    {target}/*.csv"
    )


def print_answers(sentences: pd.DataFrame) -> None:
    """Print the answer to each claim, one line per claim."""
    for row in sentences.itertuples(index=False):
        print(f"{row.claim}: {row.sentence}")


def _copy(source: Path, target: Path) -> None:
    if target.is_file() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.partial")
    shutil.copyfile(source, beside)
    os.replace(beside, target)


Blocks = dict[str, str]


def _write_pages(results: Path, make_blocks: Callable[[Tables], Blocks]) -> None:
    """Write each block between its markers, in whichever of PAGES has them."""
    before = {page: page.read_text(encoding="utf-8") for page in PAGES}
    after = dict(before)
    for name, text in make_blocks(read_tables(results)).items():
        page = next((page for page in PAGES if f"<!-- begin: {name} -->" in before[page]), PAGES[0])
        after[page] = write_between_markers(after[page], name, text)
    for page, text in after.items():
        if text != before[page]:
            write_atomically(page, text)


def describe_matched(tables: Tables) -> Blocks:
    """Return the blocks on the matched study, by marker."""
    study = read_study(tables)
    return {
        "answer": show_grid(tables),
        "utility": describe_utility_gap(tables["utility_gap"]),
        "answers": tell_claims(tables["sentences"]),
        "competence": "\n".join(map(to_markdown, competence_table(tables["competence"], study))),
        "gap": "\n".join(show_tables("gap", tables)),
        "found": describe_findings(tables),
        "headline": to_markdown(headline_table(tables, study)),
        "references": "\n".join(show_tables("references", tables)),
    }


def describe_pretrained(tables: Tables) -> Blocks:
    """Return the block on pretrained checkpoints: its answer, the claim on training, all arms."""
    text = f"{show_grid(tables)}\n{tell_claims(tables['sentences'], ['C4'])}"
    return {"pretrained": f"{text}\n\n{to_markdown(headline_table(tables, read_study(tables)))}"}


def describe_seeds(tables: Tables) -> Blocks:
    """Return the blocks on several training seeds: how sure the answer is, and every seed."""
    utility = describe_utility_gap(tables["utility_gap"])
    return {
        "sure": f"{tell_claims(tables['sentences'], ['C1'])}\n\n{utility}",
        "runs": "\n".join([show_grid(tables), *show_tables("runs", tables)]),
    }


def show_grid(tables: Tables) -> str:
    """Return the answers to claim C1 in Markdown, condition by corpus."""
    return to_markdown(grid_table(tables["answers"], read_study(tables), "C1")[0])


BLOCKS = {  # by folder of results
    "laptop": describe_matched,
    "laptop-runs": describe_seeds,
    "laptop-pretrained": describe_pretrained,
}


def describe_findings(tables: Tables) -> str:
    """Return the main comparison in words, a paragraph per corpus."""
    study = read_study(tables)
    text = [
        "\n".join([f"**{summary.corpus}**", *(f"- {sentence}" for sentence in summary.sentences)])
        for summary in summarise_corpora(tables, study)
    ]
    return "\n\n".join([*text, describe_main_cell(tables["scores"], study)])
