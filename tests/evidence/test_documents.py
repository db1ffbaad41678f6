"""The counts per document add up to every score of text that a study reports, by the code of the page that explains them."""

import re

import numpy as np
import pandas as pd
import pytest
import yaml
from made_cells import matched, scored

from mlm_vs_clm.arms.baselines import BASELINES
from mlm_vs_clm.evidence.documents import COLUMNS, FILE, KEYS, list_documents
from mlm_vs_clm.evidence.tables import SEED, TEXT, at_main_cell, pick_kind, read_table
from mlm_vs_clm.files import ROOT

STUDIES = sorted(path.parent for path in (ROOT / "results").glob(f"*/{FILE}"))
CELL = ["corpus", "arm", "strategy", "ratio", "seed"]


def run_the_page(study):
    """Return the table that the code of results/README.md makes for a study."""
    page = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    found: dict = {}
    exec(code.replace('"results/laptop', f'"{study}'), found)
    return found["sums"]


def take(table, metric):
    """Return the values of a metric by cell."""
    return table[table["metric"] == metric].set_index(CELL)["value"].sort_index()


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_the_page_computes_every_committed_score_again(study):
    made = run_the_page(study)
    scores = pd.read_csv(study / "scores.csv", keep_default_na=False, na_values=[""])
    for metric in ("exact_match", "bleu"):
        expected = take(scores[scores["scope"].isin(["fills", "document"])], metric)
        found = made[metric].loc[expected.index]  # the frame also has texts that gains are measured against
        pd.testing.assert_series_equal(found, expected, check_names=False, check_index_type=False, rtol=1e-6)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_committed_difference_and_point_of_a_curve_is_computed_again(study):
    rows = pd.read_parquet(study / FILE, columns=[*CELL, "budget", "exact", "blanks"])
    comparisons = read_table("comparisons", study)
    learning = pd.read_csv(study / "learning.csv")
    about = yaml.safe_load((study / "study.yaml").read_text())["study"]
    main = about["main_strategy"], about["main_ratio"]
    at_main = at_main_cell(rows[rows["budget"].isna()], main)
    sums = at_main.groupby(["corpus", "arm", "seed"])[["exact", "blanks"]].sum()
    was_retrained = len(pick_kind(comparisons, SEED)) > 0  # else seeds are other blanks for one training
    texts = at_main_cell(pick_kind(comparisons, TEXT), main)
    shown = texts[(texts["metric"] == "exact_match") & texts["value"].notna()]
    assert len(shown) or texts.empty  # a study of variants of one arm compares no two
    for row in shown.itertuples():
        first, second = sums.loc[row.corpus, row.first], sums.loc[row.corpus, row.second]
        seeds = first.index.intersection(second.index)
        runs = seeds if was_retrained else np.zeros(len(seeds))
        both = [one.loc[seeds].groupby(runs).sum() for one in (first, second)]
        shares = [one["exact"] / one["blanks"] for one in both]
        assert row.value == pytest.approx((shares[0] - shares[1]).mean(), abs=1e-8)
    keys = ["corpus", "arm", "seed", "budget"]
    along = rows[rows["budget"].notna()].groupby(keys)[["exact", "blanks"]].sum()
    told = learning[learning["metric"] == "exact_match"].set_index(keys)["value"]
    is_floor = along.index.get_level_values("arm").str.split(" ").str[0].isin([*BASELINES])
    along = along[~is_floor]
    assert set(along.index) == set(told.index)
    assert np.allclose(along["exact"] / along["blanks"], told.loc[along.index].astype(float))


def test_documents_are_numbered_and_what_was_not_measured_is_empty():
    bleu = np.array([[5, 6, 4, 3, 2, 1, 5, 4, 3, 2]] * 3, dtype=float)
    cells = [
        matched("mlm", [1, 2, 3], clusters=["smith", "jones", "smith"]),
        scored("clm", {("document", "bleu"): bleu}),
    ]
    rows = list_documents(cells)
    assert set(rows) <= set(COLUMNS) and not rows.duplicated(KEYS).any()
    assert list(rows["document"]) == [1, 2, 3, 1, 2, 3]
    assert list(rows["unit"]) == [2, 1, 2, 1, 2, 3]
    assert list(rows["exact"].fillna(-1)) == [1, 2, 3, -1, -1, -1]
    assert list(rows["ngrams_4"].fillna(-1)) == [-1, -1, -1, 2, 2, 2]
