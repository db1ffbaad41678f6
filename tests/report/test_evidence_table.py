"""`evidence.csv` says by which edition of the rules a row was judged, and has the likelihoods of studies whose rules asked for none."""

import pandas as pd
import pytest
from code_blocks import read_blocks
from fake_studies import make_studies

from mlm_vs_clm.evidence.claims import EDITION
from mlm_vs_clm.evidence.tables import COLUMNS
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report.evidence_table import unite
from mlm_vs_clm.report.overview import EARLIER

ABSENT = pd.DataFrame(columns=COLUMNS["comparisons"])


@pytest.fixture
def evidence():
    studies = make_studies(("plots",), ("desk", "laptop-causal_start"))
    studies["desk"]["study"]["rules"] = next(iter(EARLIER))
    return unite({name: tables | {"comparisons": ABSENT} for name, tables in studies.items()})


def test_a_row_has_the_edition_of_the_rules_that_judged_its_study(evidence):
    editions = evidence.groupby("study")["edition"].unique()
    assert list(editions["desk"]) == [2] and list(editions["laptop-causal_start"]) == [EDITION]


def test_likelihoods_that_no_rule_asked_for_are_rows_without_an_interval(evidence):
    rows = evidence[(evidence["metric"] == "nats_per_character") & (evidence["study"] == "desk")]
    row = rows.set_index("condition").loc["known length"]
    assert row["difference"] == pytest.approx(0.05) and row["trainings"] == 2
    assert row["status"] == "not judged" and pd.isna(row["low"]) and pd.isna(row["p"])


def test_the_lead_at_each_ratio_is_three_lines_of_pandas(monkeypatch):
    monkeypatch.chdir(ROOT)
    (block,) = [one for one in read_blocks(ROOT / "docs" / "sweeps.md") if "evidence.csv" in one.code]
    assert len([line for line in block.code.splitlines() if line and not line.startswith("import")]) == 3
    found: dict = {}
    exec(block.code, found)  # noqa: S102 - a page of this repository
    leads = found["leads"]
    assert list(leads["difference"].columns) == [0.15, 0.5, 1.0] and leads.notna().all(axis=None)


def test_the_committed_table_has_five_maskings_and_likelihoods_of_each_edition():
    rows = pd.read_csv(ROOT / "results/evidence.csv")
    assert rows[["strategy", "ratio"]].drop_duplicates().shape[0] >= 5
    assert set(rows.loc[rows["metric"] == "nats_per_character", "edition"]) == {2, 3}
