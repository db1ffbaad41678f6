"""The blocks of README and docs are made from the outcomes in the tables."""

import pandas as pd
from fake_tables import tidy_fakes

from mlm_vs_clm.report import blocks


def test_competence_is_told_arm_by_arm_and_what_was_not_run_is_not_guessed():
    cell = {"arm": "mlm", "corpus": "plots", "strategy": "random", "ratio": 0.5, "metric": "exact_match"}
    cell |= {"word_class": "all", "value": 0.2, "floor": "bigram_both", "floor_value": 0.1}
    cell |= {"outcome": "competent"}
    content = cell | {"word_class": "content", "outcome": "not competent"}
    others = [
        cell | {"arm": "clm", "corpus": "speeches"},
        cell | {"arm": "bigram_both"},
        cell | {"ratio": 1.0},
    ]
    tables = tidy_fakes() | {"competence": pd.DataFrame([cell, content, *others])}
    assert blocks.tabulate_competence(tables).splitlines() == [
        "| arm | plots | speeches |",
        "| --- | --- | --- |",
        "| mlm | 0.200 against 0.100 (bigram_both): **competent**; content words: not competent | not run |",
        "| clm | not run | 0.200 against 0.100 (bigram_both): **competent** |",
    ]
