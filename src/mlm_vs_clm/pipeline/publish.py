"""The report's way out of the store: into `results/<study>/` and, between markers, into README and docs/results.md."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from ..errors import StudyError
from ..files import ROOT, explain_os_error, write_atomically
from ..report import headline_table, read_tables, write_between_markers
from ..report.answer import tell_answer, tell_claim, tell_step, tell_utility
from ..report.build import show_tables
from ..report.outcomes import claim_table
from ..report.rendering import to_markdown
from ..report.sentences import read_main_comparison, tell_main_cell
from .artifacts import RECORD

PAGES = (ROOT / "README.md", ROOT / "docs" / "results.md")


def name_folder(scale: str, track: str) -> str:
    """Return the folder of a study in `results`: the matched track's is named after the scale alone."""
    return scale if track == "matched" else f"{scale}-{track}"


def publish(report: Path, results: str, name: str) -> None:
    """Copy a report to `results/<name>`, touching only files that changed, and say where to look."""
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
    print(
        f"report:  {target / 'report.html'} (open it in a browser)\ntables:  {target / 'tables'}\nrows:    {target}/*.csv"
    )


def _copy(source: Path, target: Path) -> None:
    if target.is_file() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.partial")
    shutil.copyfile(source, beside)
    os.replace(beside, target)


Tables = dict[str, pd.DataFrame]


def _write_pages(results: Path, make_blocks: Callable[[Tables, pd.DataFrame], dict[str, str]]) -> None:
    """Write each block between its markers, in whichever of PAGES has them."""
    before = {page: page.read_text(encoding="utf-8") for page in PAGES}
    after = dict(before)
    claims = pd.read_csv(results / "claims.csv", keep_default_na=False)
    for name, text in make_blocks(read_tables(results), claims).items():
        page = next((page for page in PAGES if f"<!-- begin: {name} -->" in before[page]), PAGES[0])
        after[page] = write_between_markers(after[page], name, text)
    for page, text in after.items():
        if text != before[page]:
            write_atomically(page, text)


def tell_matched(tables: Tables, claims: pd.DataFrame) -> dict[str, str]:
    """Return what README and docs/results.md say of the matched run, by marker."""
    return {
        "answer": tell_answer(tables["gap"], tables["utility_gap"], claims),
        "verdicts": to_markdown(claim_table(claims, "laptop")[0]),
        "gap": "\n".join(show_tables("gap", tables, "laptop")),
        "found": tell_findings(tables),
        "headline": headline_table(tables),
        "ceilings": "\n".join(show_tables("ceilings", tables, "laptop")),
    }


def tell_pretrained(tables: Tables, claims: pd.DataFrame) -> dict[str, str]:
    """Return what README and docs/results.md say of the run with real weights, by marker: its answer, what training brought, its rows."""
    answer = tell_answer(tables["gap"], tables["utility_gap"], claims)
    return {"pretrained": f"{answer}\n- {tell_claim(claims, 'C4')}\n\n{headline_table(tables)}"}


def tell_three_runs(tables: Tables, claims: pd.DataFrame) -> dict[str, str]:
    """Return what README and docs/results.md say of the matched comparison over several runs, by marker: its answer, and every run."""
    answer = tell_answer(tables["gap"], tables["utility_gap"], claims.iloc[:0])
    every_run = "\n".join(show_tables("runs", tables, "laptop track=runs"))
    known = tell_step(tables["gap"], "known length", "With the same blanks and lengths")
    sure = f"Over {tables['runs']['seed'].nunique()} runs, intervals over documents and runs. {known}"
    return {
        "sure": f"{sure} {tell_utility(tables['utility_gap'])}",
        "runs": f"{answer}\n- {tell_claim(claims, 'C1')}\n\n{every_run}",
    }


BLOCKS = {  # by folder of results
    "laptop": tell_matched,
    "laptop-runs": tell_three_runs,
    "laptop-pretrained": tell_pretrained,
}


def tell_findings(tables: dict[str, pd.DataFrame]) -> str:
    """Return what the main comparison shows, a paragraph a corpus, from the rows and their intervals."""
    readings = read_main_comparison(tables["scores"], tables["downstream"], tables["correlation"])
    told = [
        f"**{reading.corpus}**\n" + "\n".join(f"- {s}" for s in reading.sentences) for reading in readings
    ]
    return "\n\n".join([*told, tell_main_cell(tables["scores"])])
