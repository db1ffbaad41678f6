"""`evidence.csv` has every comparison of every study, at each masking and by each measure."""

import pandas as pd
import pytest
from code_blocks import read_blocks
from fake_studies import add_likelihoods, make_studies

from mlm_vs_clm.evidence.tables import COLUMNS
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report.evidence_table import unite

ABSENT = pd.DataFrame(columns=COLUMNS["comparisons"])


@pytest.fixture
def evidence():
    studies = make_studies(("plots",), ("desk", "laptop-causal_start"))
    add_likelihoods(studies["desk"])
    return unite({name: tables | {"comparisons": ABSENT} for name, tables in studies.items()})


def test_a_row_has_the_start_the_tokens_and_the_trainings_of_its_study(evidence):
    assert set(evidence.loc[evidence["study"] == "laptop-causal_start", "start"]) == {"a causal model"}
    rows = evidence[(evidence["metric"] == "nats_per_character") & (evidence["study"] == "desk")]
    row = rows.set_index("condition").loc["known length"]
    assert (row["difference"], row["tokens"], row["trainings"]) == (0.1, 3_072_000, 5)


def test_the_lead_at_each_ratio_is_three_lines_of_pandas(monkeypatch):
    monkeypatch.chdir(ROOT)
    (block,) = [one for one in read_blocks(ROOT / "docs" / "sweeps.md") if "evidence.csv" in one.code]
    assert len([line for line in block.code.splitlines() if line and not line.startswith("import")]) == 3
    found: dict = {}
    exec(block.code, found)  # noqa: S102 - a page of this repository
    leads = found["leads"]
    assert {0.15, 0.5} <= {*leads["difference"].columns} and leads.notna().any(axis=None)


def test_a_study_in_which_nothing_could_be_compared_has_no_rows():
    (tables,) = make_studies(("plots",), ("desk",)).values()
    silent = {"comparisons": ABSENT, "answers": tables["answers"].assign(effect=float("nan"))}
    assert unite({"desk": tables | silent}).empty
