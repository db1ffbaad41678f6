"""Scored and trained cells made by hand, studies of them, and the comparisons of the committed claims."""

from pathlib import Path

import numpy as np
import pandas as pd

from mlm_vs_clm.evidence.cells import Cell, ScoredCell, TrainedCell
from mlm_vs_clm.evidence.claims import list_comparisons, load_rules
from mlm_vs_clm.evidence.study import Study
from mlm_vs_clm.evidence.tables import COLUMNS

CLAIMS = Path(__file__).parents[2] / "conf" / "claims.yaml"
MAIN = ("random", 0.5)
RULES = load_rules(CLAIMS, MAIN)
COMPARISONS = list_comparisons(RULES)
FILLS = ("fills", "exact_match")


def scored(arm, statistics, corpus="plots", seed=0, **more):
    """Return a cell at the main masking with these statistics."""
    n = len(next(iter(statistics.values())))
    more = {"ledger": {"flops": 0, "documents": n}} | more
    return ScoredCell(Cell(corpus, arm, *MAIN, seed), statistics=statistics, **more)


def matched(arm, matches, seed=0, **more):
    """Return a cell of ten blanks per document, of which `matches` were restored."""
    return scored(arm, {FILLS: np.array([[m, 10.0] for m in matches])}, seed=seed, **more)


def trained(arm, units, seed=0, reason=""):
    """Return a cell of entity recognition at the main masking with these answers."""
    return TrainedCell(Cell("abstracts", arm, *MAIN, seed), "ner", units=pd.DataFrame(units), reason=reason)


def make_study(*cells):
    """Return a study of scored cells in which no arm was judged and no task model was trained."""
    competence = pd.DataFrame(columns=COLUMNS["competence"])
    return Study(cells, [], {"competence": competence, "downstream": pd.DataFrame()}, 50)


def list_models(cells):
    """Return a row for each task model, as the frame of task models has it."""
    return [
        {"task": one.task, "corpus": one.cell.corpus, "trained_on": one.cell.arm, "seed": one.cell.seed}
        | {"strategy": one.cell.strategy, "ratio": one.cell.ratio, "artifact": one.artifact}
        | {"reason": one.reason}
        for one in cells
    ]
