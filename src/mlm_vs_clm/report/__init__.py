"""Tables, figures and the page, drawn from what `evidence` computed. Only the report stage writes `results/`."""

from ..evidence.tables import read_tables
from .build import FIGURES, TABLES, build, draw, make_page, show_tables

__all__ = ["FIGURES", "TABLES", "build", "draw", "make_page", "read_tables", "show_tables"]
