"""Tables, figures and the page, drawn from what `analysis` computed. Only the report stage writes `results/`."""

from ..analysis.tables import read_tables
from .build import FIGURES, TABLES, build, draw, show_bench, show_tables
from .headline import headline_table
from .rendering import write_between_markers

__all__ = [
    "FIGURES",
    "TABLES",
    "build",
    "draw",
    "headline_table",
    "read_tables",
    "show_bench",
    "show_tables",
    "write_between_markers",
]
