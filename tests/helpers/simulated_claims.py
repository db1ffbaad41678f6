"""Studies whose truth is known, for the rules of the claims."""

from pathlib import Path

import numpy as np
import pandas as pd

from mlm_vs_clm.analysis.claim_evidence import Stored
from mlm_vs_clm.analysis.claims import OVERALL, VERDICT, decide, load_rules

CLAIMS = Path(__file__).parents[2] / "conf" / "claims.yaml"


ROUGE = {"scope": "document", "metric": "rougeL", "at_least": 0, "negligible": 0.01}


def find_rule(name, **changes):
    return next(rule for rule in load_rules(CLAIMS) if rule["id"] == name) | changes


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
        self.add("scores", row, Stored(statistics, clusters))

    def task(self, trained_on, units, strategy="", ratio=float("nan"), corpus="abstracts"):
        row = {"task": "ner", "corpus": corpus, "trained_on": trained_on}
        self.add("downstream", row | {"strategy": strategy, "ratio": ratio}, Stored(units=units))

    def decide(self, rules, resamples=200, **tables):
        made = {name: pd.DataFrame(rows) for name, rows in self.rows.items()}
        return decide(rules, made | tables, self.stored.__getitem__, resamples, 0)


def verdict_of(table, corpus=OVERALL):
    rows = table[(table["comparison"] == VERDICT) & (table["corpus"] == corpus)]
    assert len(rows) == 1
    return rows.iloc[0]
