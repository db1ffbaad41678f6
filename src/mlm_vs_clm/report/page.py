"""The page: everything in one file that opens offline, on a phone, in print and with a screen reader."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from ..files import write_atomically
from . import rendering, style
from .drawing import Drawing
from .sentences import Reading
from .tables import Table


@dataclass(frozen=True)
class Section:
    """A part of the page: its figures and tables, or what is missing and how to make it; `told` says it in words."""

    id: str
    title: str
    drawings: tuple[Drawing, ...]
    tables: tuple[Table, ...]
    missing: str
    told: tuple[str, ...] = ()


def write_page(
    path: Path,
    sections: list[Section],
    claims: list[Table],
    readings: list[Reading],
    setting: str,
    scores: pd.DataFrame,
    examples: list[dict],
    cards: list[dict],
    about: dict,
) -> None:
    """Write the page; figures are read from the SVG files beside it and embedded."""
    html = (
        make_environment(path.parent / "figures")
        .get_template("report.html")
        .render(
            sections=sections,
            claims=claims,
            readings=readings,
            setting=setting,
            signatures=list_signatures(scores),
            examples=order_examples(examples),
            cards=cards,
            about=about,
        )
    )
    path.write_text(html, encoding="utf-8", newline="\n")


def replace_section(path: Path, section: Section) -> None:
    """Write one section of a page anew, which has tables and sentences alone; a page without it stays as it is."""
    begin, end = f'<section id="{section.id}">\n', "</section>\n"
    before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    if found:
        template = make_environment(path.parent / "figures").get_template("section.html")
        made = template.module.show_section(section, "")
        write_atomically(path, before + str(made) + rest.partition(end)[2])  # Markup would escape the rest


def make_environment(figures: Path) -> Environment:
    """Return what the templates are filled in with; figures are read from a folder."""
    environment = Environment(
        loader=PackageLoader("mlm_vs_clm.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["embed"] = lambda drawing: embed(figures / f"{drawing.name}.svg")
    environment.filters["letters"] = rendering.letter_reasons
    environment.filters["hold"] = lambda text: text.replace(", ", ",\u00a0")
    environment.filters["headed"] = lambda title: title[:1].upper() + title[1:]
    environment.filters["words"] = lambda name: str(name).replace("_", " ")
    environment.filters["counted"] = lambda value: f"{value:,}" if isinstance(value, int) else value
    environment.filters["rows"] = list_rows
    environment.tests["records"] = is_records
    environment.tests["grid"] = is_grid
    environment.globals["is_numeric"] = rendering.is_numeric
    return environment


def embed(svg: Path) -> str:
    """Return an SVG file as a data address; as an image its ids cannot clash with another's."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.read_bytes()).decode()


def is_records(value: object) -> bool:
    """Return whether a value is a list of mappings, which is shown as a table."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def is_grid(value: object) -> bool:
    """Return whether a value is a mapping of mappings, which is shown as a grid."""
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(isinstance(part, Mapping) for part in value.values())
    )


def list_rows(grid: Mapping) -> list[str]:
    """Return the names of the rows of a grid: every key of its inner mappings, in order of appearance."""
    return list(dict.fromkeys(name for part in grid.values() for name in part))


def list_signatures(scores: pd.DataFrame) -> list[tuple[str, str]]:
    """Return every (metric, signature) behind the scores, once."""
    known = scores.dropna(subset="signature")
    return sorted(set(zip(known["metric"].map(style.name_metric), known["signature"], strict=True)))


def order_examples(examples: list[dict]) -> list[dict]:
    """Return the examples by corpus, strategy, ratio and document, their arms in reading order."""
    ranked = sorted(examples, key=rank_example)
    return [
        example | {"arms": {arm: example["arms"][arm] for arm in arms_in_order(example)}}
        for example in ranked
    ]


def rank_example(example: dict) -> tuple:
    """Return what an example is sorted by: known corpora and strategies first."""
    return (
        *rank_name(example["corpus"], style.CORPORA),
        *rank_name(example["strategy"], style.STRATEGIES),
        example["ratio"],
        example["document"],
    )


def rank_name(name: str, preferred: tuple[str, ...]) -> tuple[int, str]:
    """Return the place of a name among preferred ones, the last place for others."""
    return (preferred.index(name) if name in preferred else len(preferred), name)


def arms_in_order(example: dict) -> list[str]:
    """Return the arms of an example in reading order."""
    return sorted(example["arms"], key=lambda arm: rank_name(arm, style.ARMS))
