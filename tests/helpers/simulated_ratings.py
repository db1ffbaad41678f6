"""Simulated raters: their files, and rows of ratings with a known effect."""

import json

import numpy as np
import pandas as pd

from mlm_vs_clm.ratings.questions import QUESTIONS

ARMS = ("oracle", "mlm", "clm")
LEVELS = {"oracle": 4.5, "mlm": 3.2, "clm": 2.0}


def simulate(key, rater, spread=0.5):
    """Return the file of one simulated rater, who is more or less severe and has a level for each arm."""
    draw = np.random.default_rng(rater)
    severity = draw.normal(0, 0.3)
    ratings = []
    for item, about in key["items"].items():
        level = LEVELS[about["arm"]] + severity
        given = {q: int(np.clip(round(level + draw.normal(0, spread)), 1, 5)) for q in QUESTIONS}
        ratings.append({"item": item, "seconds": 9.5} | given)
    return {"sheet": key["sheet"], "rater": f"r{rater}", "ratings": ratings}


def save(folder, *files):
    """Write the files of raters into a folder; return it."""
    folder.mkdir(exist_ok=True)
    for number, answers in enumerate(files):
        (folder / f"{number}.json").write_text(json.dumps(answers))
    return folder


def make_rows(effect, n_documents=8, n_raters=4, seed=0):
    """Return simulated rows of one question and corpus; the arms `a` and `c` are equal, `b` is `effect` above."""
    draw, rows = np.random.default_rng(seed), []
    severity, document = draw.normal(0, 0.3, n_raters), draw.normal(0, 0.5, n_documents)
    for number in range(n_documents):
        for arm in "abc":
            quality = document[number] + draw.normal(0, 0.4) + (effect if arm == "b" else 0)
            for rater in range(n_raters):
                rating = 3 + quality + severity[rater] + draw.normal(0, 0.5)
                rows.append((f"r{rater}", f"{arm}{number}", f"d{number}", "plots", arm, "coherence", rating))
    return pd.DataFrame(rows, columns=["rater", "item", "document", "corpus", "arm", "question", "rating"])
