"""A measure is one entry: counting, comparing, telling, verifying and exporting read it from there."""

import subprocess
import sys
from dataclasses import fields

import pytest

from mlm_vs_clm.metrics import MEASURES, Resources, is_lower_better

ADDED = """
from mlm_vs_clm.metrics import MEASURES, Measure

MEASURES["vowels"] = Measure(
    "vowels per word", {"document": ("vowels", "words")}, "lower", "vowels", 2, 0.25, highest=9, make=lambda resources: None
)

import pandas as pd

from mlm_vs_clm.evidence.documents import COLUMNS, COUNTS
from mlm_vs_clm.evidence.reproduction import find_tolerance
from mlm_vs_clm.metrics import is_lower_better
from mlm_vs_clm.report import quality, style
from mlm_vs_clm.tools.results_export import DIRECTIONS

assert COUNTS["document", "vowels"] == ("vowels", "words") and "vowels" in COLUMNS
assert find_tolerance("vowels", 1.0) == 0.25
assert is_lower_better("vowels") and DIRECTIONS["vowels"]
assert style.label_axis("vowels") == "vowels per word\\n(vowels)" and style.decimals_of("vowels") == 2
cell = {"corpus": "plots", "arm": "mlm", "strategy": "random", "ratio": 0.5, "seed": 0, "scope": "document", "metric": "vowels"}
cell |= {"value": 1.234, "low": 1.0, "high": 1.5, "n": 20, "reason": "", "share": 0.5, "objective": "mlm"}
(table,) = quality.quality_tables(pd.DataFrame([cell]), style.Study("laptop", ("random", 0.5)))
assert any("vowels per word" in name for name in table.header), table.header
"""


def test_an_added_measure_is_counted_compared_told_verified_and_exported():
    made = subprocess.run([sys.executable, "-c", ADDED], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize("name", MEASURES)
def test_an_entry_names_the_sums_of_its_scopes(name):
    measure = MEASURES[name]
    assert measure.title and {*measure.sums} <= {"document", "fills"} and all(measure.sums.values())
    assert ("lower is better" in measure.title) <= is_lower_better(name)
    assert measure.reads in {"", *(field.name for field in fields(Resources))}
    assert measure.make or not (measure.reads or measure.is_alone)
