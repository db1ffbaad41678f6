"""The tables of quality at the main cell."""

from fake_tables import tidy_fakes

from mlm_vs_clm.report.quality import quality_tables
from mlm_vs_clm.report.style import Study

STUDY = Study("laptop", ("random", 0.5))


def test_a_table_of_quality_has_the_decimals_of_its_metrics():
    whole = quality_tables(tidy_fakes()["scores"], STUDY)[0]
    row = dict(zip(whole.header, (entry.text for entry in whole.rows[-1]), strict=True))
    assert row["arm"] == "oracle" and row["ROUGE-L"].startswith("1.000") and row["BLEU"].startswith("100.0")
