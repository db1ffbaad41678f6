"""The page: everything in one file that opens offline, on a phone, in print and with a screen reader."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from . import rendering, style
from .drawing import Drawing, inline, style_context
from .style import ordered
from .tables import Table


@dataclass(frozen=True)
class Section:
    """A part of the page: figures, tables and sentences, and what is missing and how to make it."""

    id: str
    title: str
    drawings: Sequence[Drawing] = ()
    tables: Sequence[Table] = ()
    missing: str = ""
    sentences: Sequence[str] = ()


def write_page(path: Path, **content: Any) -> None:
    """Write the page from what its template names."""
    with style_context():
        html = make_environment().get_template("report.html").render(**content)
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
    environment.filters["letters"] = rendering.letter_reasons
    environment.filters["hold"] = lambda text: text.replace(", ", ",\u00a0")
    environment.filters["headed"] = lambda title: title[:1].upper() + title[1:]
    environment.filters["words"] = lambda name: str(name).replace("_", " ")
    environment.filters["counted"] = lambda value: f"{value:,}" if isinstance(value, int) else value
    environment.filters["rows"] = list_rows
    environment.tests["records"] = is_records
    environment.tests["grid"] = is_grid
    environment.globals["is_numeric"] = rendering.is_numeric
    numbers = count()
    environment.globals["inline"] = lambda figure, marks=(): inline(figure, marks, f"f{next(numbers)}")
    return environment


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
    """Return the examples by corpus and document, their arms in reading order."""
    ranked = sorted(examples, key=lambda one: (one["corpus"], one["document"]))
    return [
        one | {"arms": {arm: one["arms"][arm] for arm in ordered(one["arms"], style.ARMS)}} for one in ranked
    ]
