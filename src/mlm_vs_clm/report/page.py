"""The page: everything in one file that opens offline, on a phone, in print and with a screen reader."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from . import layout, style
from .drawing import Drawing, style_context
from .rendering import Notes
from .svg import inline
from .tables import Table


@dataclass(frozen=True)
class Section:
    """A part of the evidence: figures, tables and sentences."""

    id: str
    title: str
    drawings: Sequence[Drawing] = ()
    tables: Sequence[Table] = ()
    sentences: Sequence[str] = ()

    @property
    def sheets(self) -> list[layout.Sheet]:
        """Return the tables as the page shows them, without those that hold nothing."""
        return [sheet for table in self.tables if (sheet := layout.fit(table))]


def write_page(path: Path, **content: Any) -> None:
    """Write the page from what its template names."""
    with style_context():
        html = make_environment().get_template("report.html").render(notes=Notes(), **content)
    path.write_text(html, encoding="utf-8", newline="\n")


def make_environment() -> Environment:
    """Return what the templates are filled in with."""
    environment = Environment(
        loader=PackageLoader("mlm_vs_clm.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["hold"] = lambda text: text.replace(", ", ",\u00a0")
    environment.filters["headed"] = lambda title: title[:1].upper() + title[1:]
    environment.filters["words"] = lambda name: str(name).replace("_", " ")
    environment.filters["counted"] = lambda value: f"{value:,}" if isinstance(value, int) else value
    environment.filters["rows"] = list_rows
    environment.filters["data"] = write_data
    environment.tests["grid"] = is_grid
    numbers = count()
    environment.globals["inline"] = lambda figure, marks=(): inline(figure, marks, f"f{next(numbers)}")
    return environment


def write_data(value: Any) -> Markup:
    """Return a value as JSON that stands inside a script element: with no sign of HTML, so that none can end it or hide its end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - no tag is left


def is_grid(value: object) -> bool:
    """Return whether a value is a mapping of mappings, which is shown as a grid."""
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(isinstance(inner, Mapping) for inner in value.values())
    )


def list_rows(grid: Mapping) -> list[str]:
    """Return the names of the rows of a grid: every key of its inner mappings, in order of appearance."""
    return list(dict.fromkeys(name for inner in grid.values() for name in inner))


def list_signatures(signatures: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the name and the signature of every metric behind the scores."""
    return sorted(zip(signatures["metric"].map(style.name_metric), signatures["signature"], strict=True))
