"""Tables, figures and the page, drawn from what `analysis` computed. Only the report stage writes `results/`."""

from ..analysis.tables import read_tables
from .build import FIGURES, TABLES, build, draw, show_bench, show_tables

__all__ = ["FIGURES", "TABLES", "build", "draw", "read_tables", "show_bench", "show_tables"]
