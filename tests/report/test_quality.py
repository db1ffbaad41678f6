"""The tables of quality at the main cell."""

import pandas as pd
from fake_tables import tidy_fakes

from mlm_vs_clm.report.quality import draw_bands, proxy_tables, quality_tables
from mlm_vs_clm.report.style import Study

STUDY = Study("laptop", ("random", 0.5))


def test_a_panel_without_a_cell_is_drawn_as_one():
    import matplotlib.pyplot as plt

    empty = pd.DataFrame({"arm": [], "ratio": [], "value": [], "low": [], "high": []})
    figure, axes = plt.subplots()
    draw_bands(axes, empty, {"mlm": {"color": "black"}}, "ratio")
    plt.close(figure)


def test_a_table_of_quality_has_the_decimals_of_its_metrics():
    whole = quality_tables(tidy_fakes()["scores"], STUDY)[0]
    rows = (dict(zip(whole.header, (entry.text for entry in row), strict=True)) for row in whole.rows)
    row = next(row for row in rows if row["arm"] == "oracle")
    assert row["ROUGE-L"].startswith("1.000") and row["BLEU"].startswith("100.0")


def test_proxies_stand_in_their_own_tables_with_their_agreement():
    scores = tidy_fakes()["scores"]
    assert proxy_tables(scores, STUDY) == []
    names = {"exact_match": "nonword_rate", "bertscore": "grammar_errors"}
    renamed = scores.assign(metric=scores["metric"].replace(names))
    values, agreement = proxy_tables(renamed, STUDY)
    row = dict(zip(values.header, values.rows[0], strict=True))
    assert "does not name them: perplexity_unrelated." in values.caption and len(row) == 4
    assert row["non-words (share of filled words)"].number > 0
    told = {(line[1].text[:9], line[2].text[:10]): line[3] for line in agreement.rows}
    assert told["non-words", "words with"].number > 0.5  # both follow the skill of the arms
    assert len(agreement.rows) == 1
    alone = scores.assign(metric=scores["metric"].replace("exact_match", "nonword_rate"))
    assert [table.name for table in proxy_tables(alone, STUDY)] == ["proxies"]
    assert all("non-words" not in " ".join(table.header) for table in quality_tables(renamed, STUDY))
