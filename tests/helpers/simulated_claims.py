"""Studies whose truth is known, for the rules of the claims."""

import numpy as np
import pandas as pd
from made_cells import CLAIMS, MAIN

from mlm_vs_clm.analysis.cells import Cell, ScoredCell, TrainedCell
from mlm_vs_clm.analysis.claims import decide, load_rules
from mlm_vs_clm.analysis.tables import OVERALL, VERDICT

ROUGE = {"scope": "document", "metric": "rougeL", "at_least": 0, "negligible": 0.01}


def find_rule(name, **changes):
    return next(rule for rule in load_rules(CLAIMS, MAIN) if rule["id"] == name) | changes


def with_ones(values):
    return np.stack([values, np.ones(len(values))], axis=1)


class Simulated:
    """Tables and what lies behind them, cell by cell."""

    def __init__(self):
        self.rows, self.stored = {"scores": [], "downstream": []}, {}

    def add(self, table, row, stored):
        name = f"{table}/{len(self.stored):04d}"
        self.stored[name] = stored
        self.rows[table].append({"seed": 0} | row | {"artifact": name})

    def score(self, corpus, arm, statistics, strategy="random", ratio=0.5, clusters=None, seed=0):
        row = {"corpus": corpus, "arm": arm, "strategy": strategy, "ratio": ratio, "seed": seed}
        cell = Cell(corpus, arm, strategy, ratio, seed)
        self.add("scores", row, ScoredCell(cell, statistics=statistics, clusters=clusters))

    def task(self, trained_on, units, strategy="", ratio=float("nan"), corpus="abstracts"):
        row = {"task": "ner", "corpus": corpus, "trained_on": trained_on}
        cell = Cell(corpus, trained_on, strategy, ratio)
        self.add(
            "downstream", row | {"strategy": strategy, "ratio": ratio}, TrainedCell(cell, "ner", units=units)
        )

    def decide(self, rules, resamples=200, **tables):
        made = {name: pd.DataFrame(rows) for name, rows in self.rows.items()}
        return decide_tables(rules, made | tables, self.stored.__getitem__, resamples)


def decide_tables(rules, tables, read=dict().__getitem__, resamples=100):
    """Return every row of `decide`; without `read`, of tables that say all themselves."""
    return decide(rules, tables, read, read, resamples, 0)


def verdict_of(table, corpus=OVERALL):
    rows = table[(table["comparison"] == VERDICT) & (table["corpus"] == corpus)]
    assert len(rows) == 1
    return rows.iloc[0]
