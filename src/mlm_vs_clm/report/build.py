"""The tables, figures and sections of the page as data, and the folder that they are written into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ..analysis import documents
from ..analysis import tables as tidy
from ..files import hash_file, write_csv
from . import (
    correlation,
    cost,
    curve,
    differences,
    drawing,
    outcomes,
    page,
    panels,
    quality,
    rendering,
    sentences,
    training,
    utility,
)
from .style import Study
from .tables import Table

Rows = dict[str, pd.DataFrame]
SECTIONS = {  # the page's order: id -> title
    "curve": "What more training changes",
    "quality": "Quality of generated text",
    "utility": "Utility as training data",
    "cost": "Cost",
    "correlation": "Quality against utility",
    "training": "Training of the language models",
}
SENTENCES: dict[str, tuple[tuple[str, ...], Callable]] = {  # section -> the tables it reads, the function
    "utility": (("headroom",), utility.describe_random_words),
    "cost": (("ledger", "equal_compute"), sentences.describe_costs),
    "correlation": (("correlation",), sentences.describe_decisions),
}
FIGURES: dict[str, tuple[str, tuple[str, ...], Callable]] = {  # section, the tables it reads, the function
    "learning": ("curve", ("learning", "curve"), curve.draw_learning),
    "curve": ("curve", ("curve",), curve.draw_curve),
    "quality_by_ratio": ("quality", ("scores",), quality.draw_quality_by_ratio),
    "gap": ("quality", ("gap",), differences.draw_gap),
    "runs": ("quality", ("runs",), differences.draw_runs),
    "cost": ("cost", ("scores", "ledger"), cost.draw_cost_against_quality),
    "equal_compute": ("cost", ("equal_compute",), differences.draw_equal),
    "correlation": ("correlation", ("correlation",), correlation.draw_coefficients),
    "shapes": ("correlation", ("scores", "downstream", "correlation"), utility.draw_shapes),
    "utility": ("correlation", ("scores", "downstream"), utility.draw_quality_against_utility),
    "training": ("training", ("training",), training.draw_training),
}
TABLES: dict[str, tuple[str, tuple[str, ...], Callable]] = {  # section, the tables it reads, the function
    "curve": ("curve", ("curve",), curve.curve_table),
    "learning": ("curve", ("learning",), curve.learning_table),
    "quality": ("quality", ("scores",), quality.quality_tables),
    "gap": ("quality", ("gap",), differences.gap_table),
    "runs": ("quality", ("runs",), differences.run_table),
    "proxies": ("quality", ("scores",), quality.proxy_tables),
    "sanity": ("quality", ("sanity",), quality.sanity_table),
    "utility_gap": ("utility", ("utility_gap",), differences.utility_gap_table),
    "references": ("utility", ("downstream",), utility.reference_table),
    "headroom": ("utility", ("headroom",), utility.headroom_tables),
    "downstream": ("utility", ("downstream",), utility.downstream_tables),
    "cost": ("cost", ("ledger",), cost.cost_table),
    "equal_compute": ("cost", ("equal_compute",), differences.equal_table),
    "correlation": ("correlation", ("correlation",), correlation.correlation_tables),
    "training": ("training", ("training",), training.training_table),
}
LEADS = ("learning", "curve", "gap")  # figures that can open the page
OPTIONAL = {"runs"}  # tables for which a study of one seed has no rows


def build(tables: Rows, examples: list[dict], cards: list[dict], about: dict, folder: Path) -> None:
    """Write the CSV files, `tables/`, `figures/` and `report.html` into `folder`; same input, same bytes.

    `tables` holds the tables of `analysis.tables.COLUMNS`, each possibly empty or absent; `documents`; and `bench`, where
    a benchmark was run. Raises StudyError for a table that lacks a column or repeats a cell.
    """
    rows = {name: tidy.tidy(name, tables.get(name, pd.DataFrame())) for name in tidy.COLUMNS}
    study, folder = read_study(rows), Path(folder)
    for part in (folder / "tables", folder / "figures"):
        part.mkdir(parents=True, exist_ok=True)
        remove_old(part)
    specs = about.get("panels") or []
    shown = panel_section(specs, rows, study, folder / "figures")
    rows["findings"] = tidy.tidy("findings", list_findings(shown))
    written = {f"{name}.csv": table for name, table in rows.items() if name not in tidy.RARE or len(table)}
    if "documents" in tables:
        written[documents.FILE] = tables["documents"]
    for name, table in written.items():
        write_csv(table, folder / name)
    answers, told = outcomes.answer_tables(rows, study), outcomes.sentence_table(rows["sentences"], study)
    sections = [make_section(rows, study, id, title, folder, not specs) for id, title in SECTIONS.items()]
    if specs:  # a study of its own question shows what it has
        sections = [replace(one, missing="") for one in sections if one.drawings or one.tables]
    asked = outcomes.keep_asked(rows["sentences"], rows["answers"])
    others = rows["sentences"].drop(asked.index)
    sections += speed_section(tables.get("bench", pd.DataFrame()))
    for table in [*told, *answers, *(table for section in [*shown, *sections] for table in section.tables)]:
        write_table(table, folder / "tables")
    page.write_page(
        folder / "report.html",
        panels=shown,
        sections=sections,
        answers=answers,
        claims=outcomes.list_claims(asked, rows["answers"]),
        not_asked=[] if specs else list(others["claim"]),
        lead=find_lead(sections),
        summaries=[] if specs else sentences.summarise_corpora(rows, study),
        setting=sentences.describe_main_cell(rows, study),
        signatures=page.list_signatures(rows["scores"]),
        examples=page.order_examples(examples),
        cards=cards,
        about=about,
        files=[describe_file(folder / name, len(table)) for name, table in written.items()],
    )


def panel_section(specs: Sequence[panels.Spec], rows: Rows, study: Study, folder: Path) -> list[page.Section]:
    """Return the section that opens the page of a study with panels, its figures saved; none for one without."""
    if not specs:
        return []
    with drawing.style_context():
        drawings, made = panels.show_panels(specs, rows, study)
        for one in drawings:
            drawing.save(one, folder)
    return [page.Section("panels", "Findings", drawings, made)]


def list_findings(shown: Sequence[page.Section]) -> pd.DataFrame:
    """Return the table `findings`: the sentence of each panel, in the order of the page."""
    drawings = [one for section in shown for one in section.drawings]
    return pd.DataFrame(
        {"place": n, "panel": one.name, "title": one.title, "sentence": one.finding}
        for n, one in enumerate(drawings, 1)
    )


def find_lead(sections: Sequence[page.Section]) -> drawing.Drawing | None:
    """Return the figure that stands beside the answers: the learning curve, else the differences at the main cell."""
    drawings = {one.name: one for section in sections for one in section.drawings}
    return next((drawings[name] for name in LEADS if name in drawings), None)


def describe_file(path: Path, n_rows: int) -> dict:
    """Return a table's file, its rows and its hash."""
    return {"file": path.name, "rows": n_rows, "sha256": hash_file(path)}


def read_study(rows: Rows) -> Study:
    """Return what captions and commands name of a study; raises StudyError where the table `study` has no row."""
    main, study = tidy.main_cell(rows), rows["study"].iloc[0]
    track = "" if study["track"] == "matched" else f" track={study['track']}"
    return Study(f"{study['scale']}{track}", main)


def show_bench(bench: pd.DataFrame, results: Path) -> list[Path]:
    """Bring a benchmark into the reports in `results` that show one; return their pages. Same bytes as `build`."""
    sections, pages = speed_section(bench), []
    for shown in sorted(results.glob("*/tables/bench.md")) if sections else []:
        pages.append(shown.parents[1] / "report.html")
        page.replace_section(pages[-1], sections[0])
        write_table(sections[0].tables[0], shown.parent)
    return pages


def speed_section(bench: pd.DataFrame) -> list[page.Section]:
    """Return the section on speed, none where no benchmark was run."""
    if bench.empty:
        return []
    table = outcomes.bench_table(bench)
    return [page.Section("speed", table.title, tables=[table], sentences=[outcomes.describe_device(bench)])]


def remove_old(folder: Path) -> None:
    """Remove the tables and figures of an earlier report, of which the new one may hold fewer."""
    for path in sorted(folder.iterdir()):
        if path.suffix in {".md", ".svg"}:
            path.unlink()


def make_section(
    rows: Rows, study: Study, id: str, title: str, folder: Path, is_drawn: bool = True
) -> page.Section:
    """Draw and save the figures of one section unless it has tables alone, build these and its sentences; say what is missing."""
    drawings = [
        found
        for name, (section, *_) in FIGURES.items()
        if section == id and is_drawn
        for found in draw(name, rows, folder / "figures")
    ]
    built = [
        table for name, (section, *_) in TABLES.items() if section == id for table in make_tables(name, rows)
    ]
    sources = {name for section, names, _ in TABLES.values() if section == id for name in names}
    empty = sorted(name for name in sources - OPTIONAL if rows[name].empty)
    missing = "; ".join(f"missing: no rows in {name}.csv" for name in empty)
    names, describe = SENTENCES.get(id, ((), lambda study: ()))
    words = describe(*(rows[name] for name in names), study)
    return page.Section(id, title, drawings, built, missing, words)


def draw(name: str, rows: Rows, folder: Path | None = None) -> list[drawing.Drawing]:
    """Return the figures of one entry of FIGURES, saved in `folder` where one is given."""
    _, sources, make = FIGURES[name]
    with drawing.style_context():
        drawings = make(*(rows[source] for source in sources), read_study(rows))
        for made in drawings:
            if folder:
                drawing.save(made, folder)
    return drawings


def make_tables(name: str, rows: Rows) -> list[Table]:
    """Return the tables of one entry of TABLES."""
    _, sources, make = TABLES[name]
    return make(*(rows[source] for source in sources), read_study(rows))


def show_tables(name: str, rows: Rows) -> list[str]:
    """Return the tables of one entry of TABLES in Markdown."""
    return [rendering.to_markdown(table) for table in make_tables(name, rows)]


def write_table(table: Table, folder: Path) -> None:
    """Write one table in Markdown."""
    (folder / f"{table.name}.md").write_text(rendering.to_markdown(table), encoding="utf-8", newline="\n")
