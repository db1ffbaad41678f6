"""Wider and narrower margins change the size of a difference and nothing else."""

import pandas as pd

from mlm_vs_clm.evidence.answers import vary_margins
from mlm_vs_clm.evidence.tables import COLUMNS, tidy

ROW = dict.fromkeys(COLUMNS["answers"], "") | {"first_ratio": 0.5, "second_ratio": 0.5, "runs": 1, "n": 100}
ROW |= {"claim": "C1", "corpus": "plots", "kind": "difference", "status": "made", "metric": "bleu"}
ROW |= {"effect": 1.2, "low": 0.7, "high": 1.7, "p": 0.001, "margin": 1.0}


def test_the_size_follows_the_margin_and_the_direction_does_not():
    table = vary_margins(pd.DataFrame([ROW]))
    assert table["margin"].tolist() == [0.5, 1.0, 2.0]
    assert table["size"].tolist() == ["outside", "not settled", "inside the margin"]
    assert table["direction"].tolist() == ["first"] * 3
    assert len(tidy("sensitivity", table)) == 3


def test_what_decides_nothing_or_has_no_margin_has_no_row():
    silent = [{"status": "not competent"}, {"kind": "cost"}, {"margin": float("nan")}]
    assert vary_margins(pd.DataFrame([ROW | one for one in silent])).empty
