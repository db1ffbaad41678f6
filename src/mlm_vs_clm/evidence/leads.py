"""The table `leads`: what a network adds to the best word table of both sides, whatever the network itself sees."""

import pandas as pd

from ..arms.baselines import TABLES, is_baseline
from .competence import Place
from .paired import group_seeds, score_cells
from .study import Study
from .tables import COLUMNS

MEASURES = (
    ("document", "bleu"),
    *(("fills", f"exact_match{name}") for name in ("", "_content", "_stopword", "_punctuation")),
)


def list_leads(study: Study) -> pd.DataFrame:
    """Return one row per corpus, arm, masking and measure: the arm minus the best table of both sides, with its paired interval.

    The best is the one with the higher score on these blanks, so that a lead is rather too small than too large. Where
    no table was run there is no row.
    """
    rows = [
        _compare(place, table, measure, study)
        for place in study.scored
        if not is_baseline(place[1])
        for measure in MEASURES
        if (table := _find_best(place, measure, study)) and measure in study.list_measures(place)
    ]
    return pd.DataFrame(rows, columns=COLUMNS["leads"])


def _find_best(place: Place, measure: tuple[str, str], study: Study) -> Place | None:
    """Return the place of the table with the highest score on the blanks of an arm; None where none was run."""
    places = [(place[0], table, *place[2:]) for table in TABLES["both"]]
    places_scored = [table_place for table_place in places if measure in study.list_measures(table_place)]
    return max(
        places_scored, key=lambda table_place: _score_table(place, table_place, measure, study), default=None
    )


def _score_table(place: Place, table: Place, measure: tuple[str, str], study: Study) -> float:
    """Return the score of a table over the seeds that it shares with an arm."""
    runs = group_seeds(study.read(place, measure), study.read(table, measure))
    return score_cells(study.scored[table], measure, runs)


def _compare(place: Place, table: Place, measure: tuple[str, str], study: Study) -> dict:
    estimate = study.compare(place, table, measure)
    corpus, arm, strategy, ratio = place
    return {
        **{"corpus": corpus, "arm": arm, "strategy": strategy, "ratio": ratio},
        **{"scope": measure[0], "metric": measure[1], "floor": table[1]},
        **{"floor_value": _score_table(place, table, measure, study)},
        **{"value": estimate.difference, "low": estimate.low, "high": estimate.high},
        **{"n": estimate.n, "runs": estimate.runs, "reason": estimate.reason},
    }
