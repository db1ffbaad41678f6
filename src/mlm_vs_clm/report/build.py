"""The tables, figures and sections of the page as data, and the folder that it is written into."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import yaml

from ..evidence.claims import list_asked
from ..evidence.derivation import Tables
from ..evidence.tables import tidy
from ..files import ROOT
from . import (
    cast,
    correlation,
    cost,
    curve,
    differences,
    drawing,
    headline,
    ladder,
    ladder_figure,
    outcomes,
    page,
    panels,
    quality,
    rendering,
    sentences,
    story,
    training,
    usefulness,
    utility,
    verdict_cards,
)
from .study_folder import PAGE, Background, find_rules, load_study, save_study, save_table
from .style import read_study
from .tables import Table

LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")  # of Markdown, whose words alone stand on a page
DEVIATIONS, CITATION = ROOT / "docs" / "deviations.md", ROOT / "CITATION.cff"
SECTIONS = {  # the order of the evidence: id -> title
    "quality": "The text",
    "curve": "More training",
    "utility": "The text as training data",
    "cost": "Cost",
    "correlation": "Quality against utility",
    "training": "The trainings",
}
SENTENCES: dict[str, tuple[tuple[str, ...], Callable]] = {  # section -> the tables it reads, the function
    "utility": (("headroom",), utility.describe_random_words),
    "cost": (("ledger", "comparisons"), sentences.describe_costs),
    "correlation": (("correlation",), sentences.describe_decisions),
}
FIGURES: dict[str, tuple[str, tuple[str, ...], Callable]] = {  # section, the tables it reads, the function
    "learning": ("curve", ("learning",), curve.draw_learning),
    "quality_by_ratio": ("quality", ("scores",), quality.draw_quality_by_ratio),
    "cost": ("cost", ("scores", "ledger"), cost.draw_cost_against_quality),
    "utility": ("correlation", ("scores", "downstream"), utility.draw_quality_against_utility),
}
TABLES: dict[str, tuple[str, tuple[str, ...], Callable]] = {  # section, the tables it reads, the function
    "curve": ("curve", ("comparisons",), curve.curve_table),
    "quality": ("quality", ("scores",), quality.quality_tables),
    "text": ("quality", ("comparisons",), differences.difference_tables),
    "seed": ("quality", ("comparisons",), differences.seed_table),
    "proxies": ("quality", ("scores",), quality.proxy_tables),
    "sanity": ("quality", ("sanity",), quality.sanity_table),
    "training data": ("utility", ("comparisons",), differences.utility_difference_table),
    "references": ("utility", ("downstream",), utility.reference_table),
    "headroom": ("utility", ("headroom",), utility.headroom_tables),
    "downstream": ("utility", ("downstream",), utility.downstream_tables),
    "cost": ("cost", ("ledger",), cost.cost_table),
    "compute": ("cost", ("comparisons",), differences.compute_table),
    "writers": ("correlation", ("writers",), usefulness.writer_tables),
    "correlation": ("correlation", ("correlation",), correlation.correlation_tables),
    "training": ("training", ("training",), training.training_table),
}


def build(tables: Tables, background: Background, folder: Path) -> None:
    """Write a study into `folder`: its tables, its background and the page that follows from both."""
    save_study(tables, background, folder)
    make_page(folder)


def make_page(folder: Path) -> None:
    """Make `report.html` and `findings.csv` of a folder from its tables and background alone; the same study, the same bytes."""
    rows, background = load_study(folder)
    about = background.about
    study = read_study(rows)
    specs = about.get("panels") or []
    with drawing.style_context():
        panels_drawn, panel_tables = panels.show_panels(specs, rows, study)
    question, answer = headline.ask(about), headline.answer_question(rows)
    rows["findings"] = tidy("findings", list_findings(panels_drawn, question, answer))
    save_table("findings", rows["findings"], folder)
    rules = find_rules(rows)
    was_run = [rule["id"] for rule in outcomes.keep_run(rules, rows["answers"])]
    page.write_page(
        folder / PAGE,
        title=headline.name_study(about, rows),
        question=question,
        answer=answer,
        next=headline.name_next(about, rows),
        steps=None if specs else headline.tabulate_steps(ladder.list_own_steps(rows)),
        lead=next(iter(panels_drawn), None) if specs else draw_lead(rows),
        cards=cast.list_cards(rows["scores"], study),
        setting=sentences.describe_main_cell(rows, study),
        examples=story.list_examples(background.examples),
        dial=story.make_dial(rows["scores"], rows["leads"], study),
        findings=page.Section("panels", "Findings", panels_drawn, panel_tables) if specs else None,
        verdicts=verdict_cards.list_verdicts(rows, study),
        not_asked=[] if specs else [rule["id"] for rule in list_asked(rules) if rule["id"] not in was_run],
        sections=[
            page.Section("claims", "The claims", (), outcomes.answer_tables(rows, study)),
            *(make_section(rows, id, title, is_drawn=not specs) for id, title in SECTIONS.items()),
        ],
        data_cards=background.cards,
        signatures=page.list_signatures(rows["signatures"]),
        about=about | describe_project(),
        is_smoke=str(about["scale"]).startswith("smoke"),
    )


def draw_lead(rows: Tables) -> drawing.Drawing | None:
    """Return the figure that opens the page of a study of claim C1, its own ladder; None for another study."""
    steps = ladder.list_own_steps(rows)
    if steps.empty:
        return None
    with drawing.style_context():
        return replace(ladder_figure.draw_ladder(steps, ladder.list_own_likelihoods(rows)), name="ladder")


def describe_project() -> dict:
    """Return what every page says of the project: how it departs from the paper, and how it is cited."""
    lines = DEVIATIONS.read_text(encoding="utf-8").splitlines()
    return {
        "deviations": [LINK.sub(r"\1", line[2:]) for line in lines if line.startswith("- ")],
        "citation": describe_citation(),
    }


def describe_citation() -> list[str]:
    """Return how this software and the paper that it reproduces are cited, from CITATION.cff."""
    software = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    cited = []
    for work in (software, *software["references"]):
        names = [
            person.get("name") or f"{person['family-names']}, {person['given-names']}"
            for person in work["authors"]
        ]
        when = f"version {work['version']}" if "version" in work else str(work["year"])
        cited.append(f"{'; '.join(names)}. {work['title']} ({when}). {work.get('url', '')}".strip())
    return cited


def list_findings(figures: Sequence[drawing.Drawing], question: str, answer: str) -> pd.DataFrame:
    """Return the table `findings`: the sentence of each panel in the order of the page, and last the answer to the question."""
    entries = [(figure.name, figure.title, figure.finding) for figure in figures if figure.finding]
    entries += [("answer", question, answer)] if entries else []
    return pd.DataFrame(
        {"place": n, "panel": name, "title": title, "sentence": sentence}
        for n, (name, title, sentence) in enumerate(entries, 1)
    )


def make_section(rows: Tables, id: str, title: str, is_drawn: bool) -> page.Section:
    """Draw the figures of one section unless it has tables alone, build these and its sentences."""
    drawings = [
        figure
        for name, (section, *_) in FIGURES.items()
        if section == id and is_drawn
        for figure in draw(name, rows)
    ]
    built = [
        table for name, (section, *_) in TABLES.items() if section == id for table in make_tables(name, rows)
    ]
    names, describe = SENTENCES.get(id, ((), lambda study: ()))
    words = describe(*(rows[name] for name in names), read_study(rows))
    return page.Section(id, title, drawings, built, words)


def draw(name: str, rows: Tables) -> list[drawing.Drawing]:
    """Return the figures of one entry of FIGURES."""
    _, sources, make = FIGURES[name]
    with drawing.style_context():
        return make(*(rows[source] for source in sources), read_study(rows))


def make_tables(name: str, rows: Tables) -> list[Table]:
    """Return the tables of one entry of TABLES."""
    _, sources, make = TABLES[name]
    return make(*(rows[source] for source in sources), read_study(rows))


def show_tables(name: str, rows: Tables) -> list[str]:
    """Return the tables of one entry of TABLES in Markdown."""
    return [rendering.to_markdown(table) for table in make_tables(name, rows)]
