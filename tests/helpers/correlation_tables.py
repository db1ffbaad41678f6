"""Scores and task results with a known correlation."""

import numpy as np
import pandas as pd

ARMS = ("mlm", "clm", "infill", "seq2seq_kept")


def make_tables(utility_of, corpora=("abstracts", "plots"), n=40, seed=0):
    """Return scores and downstream results in which utility is a function of quality, a task a corpus."""
    rng, tasks = np.random.default_rng(seed), {"abstracts": ("ner", "f1"), "plots": ("genres", "micro_f1")}
    scores, downstream = [], []
    for corpus in corpora:
        task, metric = tasks[corpus]
        about = {"corpus": corpus, "task": task, "metric": metric, "strategy": None, "ratio": np.nan}
        about |= {"reason": ""}
        references = (("real", 0.8), ("majority", 0.2))
        downstream += [about | {"trained_on": name, "seed": 0, "value": v} for name, v in references]
        for i in range(n):
            cell = {"corpus": corpus, "strategy": "random", "ratio": (i // 4 + 1) / 20, "seed": 0}
            quality = rng.uniform(0.2, 0.9)
            for scope, name in (("document", "rougeL"), ("fills", "exact_match")):
                score = {"arm": ARMS[i % 4], "scope": scope, "metric": name, "value": quality}
                scores.append(cell | score | {"share": cell["ratio"]})
            row = {"task": task, "trained_on": ARMS[i % 4], "metric": metric, "reason": ""}
            downstream.append(cell | row | {"value": utility_of(quality) + 0.03 * rng.normal()})
    return pd.DataFrame(scores), pd.DataFrame(downstream)
