"""The tables, figures and sections of the page as data, and the folder that they are written into."""

from pathlib import Path

import pandas as pd

from ..analysis import tables as tidy
from ..files import write_csv
from . import (
    bench_tables,
    compute_figures,
    compute_reading,
    correlation,
    correlation_figures,
    correlation_reading,
    cost,
    differences,
    drawing,
    evidence_tables,
    order_tables,
    outcomes,
    page,
    quality,
    rendering,
    run_tables,
    sentences,
    tables,
    utility,
)

SECTIONS = {  # the page's order: id -> title
    "quality": "Quality of the written text",
    "utility": "Utility as training data",
    "cost": "Cost",
    "correlation": "Quality against utility",
    "training": "Training of the language models",
}


READINGS = {  # section -> what its numbers say in words, computed from these tables
    "cost": (("ledger", "equal_compute"), compute_reading.read_cost),
    "correlation": (("correlation",), correlation_reading.tell_decisions),
}


FIGURES = {  # section, the tables it reads, the function
    "quality_by_ratio": ("quality", ("scores",), quality.draw_quality_by_ratio),
    "gap": ("quality", ("gap",), differences.draw_gap),
    "runs": ("quality", ("runs",), run_tables.draw_runs),
    "orders": ("quality", ("scores",), order_tables.draw_orders),
    "heat_maps": ("quality", ("scores",), quality.draw_heat_maps),
    "cost": ("cost", ("scores", "ledger"), utility.draw_cost_against_quality),
    "equal_compute": ("cost", ("equal_compute",), compute_figures.draw_equal),
    "correlation": ("correlation", ("correlation",), correlation_figures.draw_coefficients),
    "shapes": ("correlation", ("scores", "downstream", "correlation"), correlation_figures.draw_shapes),
    "utility": ("correlation", ("scores", "downstream"), utility.draw_quality_against_utility),
    "training": ("training", ("training",), utility.draw_training),
}


NONE = pd.DataFrame({"claim": []})


OPTIONAL = {"runs"}  # tables that a study of one seed has no rows for


TABLES = {  # section, the table it reads, the function
    "quality": ("quality", "scores", tables.quality_tables),
    "gap": ("quality", "gap", differences.gap_table),
    "runs": ("quality", "runs", run_tables.run_table),
    "orders": ("quality", "scores", order_tables.order_table),
    "side": ("quality", "scores", tables.side_tables),
    "strategy": ("quality", "scores", tables.strategy_tables),
    "utility_gap": ("utility", "utility_gap", differences.utility_gap_table),
    "ceilings": ("utility", "downstream", outcomes.ceiling_table),
    "downstream": ("utility", "downstream", outcomes.downstream_tables),
    "cost": ("cost", "ledger", cost.cost_table),
    "equal_compute": ("cost", "equal_compute", cost.equal_table),
    "correlation": ("correlation", "correlation", correlation.correlation_tables),
    "training": ("training", "training", outcomes.training_table),
}


def build(
    tables: dict[str, pd.DataFrame], examples: list[dict], cards: list[dict], about: dict, folder: Path
) -> None:
    """Write the CSV files, `tables/`, `figures/` and `report.html` into `folder`; same input, same bytes.

    `tables` holds the tables of `tidy.COLUMNS`, each possibly empty or absent, and `claims` once those are
    decided, with the `comparisons` behind them;
    `bench`, where a benchmark was run. Raises StudyError for a table that lacks a column or repeats a cell.
    """
    rows = {name: tidy.tidy(name, tables.get(name, pd.DataFrame())) for name in tidy.COLUMNS}
    claims = tables.get("claims", pd.DataFrame())
    behind = evidence_tables.evidence_tables(tables.get("comparisons", NONE), about["scale"])
    folder = Path(folder)
    for part in (folder / "tables", folder / "figures"):
        part.mkdir(parents=True, exist_ok=True)
        remove_old(part)
    for name, table in {**rows, **({} if claims.empty else {"claims": claims})}.items():
        write_csv(table, folder / f"{name}.csv")
    verdicts = outcomes.claim_table(claims, about["scale"], {table.name for table in behind})
    sections = [make_section(rows, id, title, about, folder) for id, title in SECTIONS.items()]
    sections += bench_tables.speed_section(tables.get("bench", pd.DataFrame()))
    if behind:
        sections.append(page.Section("evidence", "The rows behind the verdicts", (), tuple(behind), ""))
    for table in [*verdicts, *(table for section in sections for table in section.tables)]:
        write_table(table, folder / "tables")
    page.write_page(
        folder / "report.html",
        sections,
        verdicts,
        sentences.read_main_comparison(rows["scores"], rows["downstream"], rows["correlation"]),
        sentences.tell_main_cell(rows["scores"]),
        rows["scores"],
        examples,
        cards,
        about,
    )


def show_bench(bench: pd.DataFrame, results: Path) -> list[Path]:
    """Bring a benchmark into the reports in `results` that show one; return their pages. Same bytes as `build`."""
    sections, shown = bench_tables.speed_section(bench), []
    for told in sorted(results.glob("*/tables/bench.md")) if sections else []:
        shown.append(told.parents[1] / "report.html")
        page.replace_section(shown[-1], sections[0])
        for table in sections[0].tables:
            write_table(table, told.parent)
    return shown


def remove_old(folder: Path) -> None:
    """Remove the tables and figures of an earlier report, of which the new one may hold fewer."""
    for path in sorted(folder.iterdir()):
        if path.suffix in {".md", ".svg"}:
            path.unlink()


def make_section(rows: dict, id: str, title: str, about: dict, folder: Path) -> page.Section:
    """Draw and save the figures of one section and build its tables; say what is missing and how to make it."""
    drawings = [
        found
        for name, (section, *_) in FIGURES.items()
        if section == id
        for found in draw(name, rows, folder / "figures")
    ]
    built = [
        table
        for section, source, make in TABLES.values()
        if section == id
        for table in make(rows[source], about["scale"])
    ]
    sources = {source for section, source, _ in TABLES.values() if section == id}
    empty = sorted(source for source in sources - OPTIONAL if rows[source].empty)
    missing = "; ".join(f"missing: no rows in {name}.csv" for name in empty)
    names, read = READINGS.get(id, ((), lambda: ()))
    told = read(*(rows[name] for name in names))
    return page.Section(id, title, tuple(drawings), tuple(built), missing, told)


def draw(name: str, rows: dict[str, pd.DataFrame], folder: Path | None = None) -> list[drawing.Drawing]:
    """Return the figures of one entry of FIGURES, saved in `folder` where one is given."""
    _, sources, make = FIGURES[name]
    with drawing.style_context():
        drawings = make(*(rows[source] for source in sources))
        for made in drawings if folder else ():
            drawing.save(made, folder)
    return drawings


def show_tables(name: str, rows: dict[str, pd.DataFrame], scale: str) -> list[str]:
    """Return the tables of one entry of TABLES in Markdown."""
    _, source, make = TABLES[name]
    return [rendering.to_markdown(table) for table in make(rows[source], scale)]


def write_table(table: tables.Table, folder: Path) -> None:
    """Write one table in Markdown."""
    (folder / f"{table.name}.md").write_text(rendering.to_markdown(table), encoding="utf-8", newline="\n")
