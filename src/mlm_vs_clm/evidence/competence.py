"""Which arms are competent: those that restore more words than floors without a network, given what each arm sees."""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

import pandas as pd

from ..arms.baselines import FLOORS, LATER_TABLES, SAMPLED_FLOORS, is_baseline
from ..metrics import MEASURES
from ..stats import PairedDifference
from .cells import Cell, ScoredCell, group_by
from .paired import BySeed, by_seed, compare_cells, group_seeds, score_cells, with_measure
from .tables import COLUMNS
from .verdicts import FIRST, MADE, NOT_COMPETENT, NOT_RUN, find_direction

WRITES_ANEW = "kept"  # the context of an arm that reads the kept words alone and has no fills of its own
COMPETENT = "competent"
OUTCOMES = (NOT_RUN, NOT_COMPETENT, COMPETENT)  # from what is known least of to what may speak
# Of a floor's exact match: what an arm must restore more, so that a lead of any size is not enough.
LEAD = 0.1
FILLS = {"all": ("fills", "exact_match"), "content": ("fills", "exact_match_content")}
TEXT = {"all": ("document", "bleu")}
# Times as many resamples for a gate: with 2,000 the draws alone would decide what lies near the bound.
MORE = 10
Place = tuple[str, str, str, float]  # corpus, arm, strategy, ratio


def to_place(cell: Cell) -> Place:
    """Return what the seeds of a cell share."""
    return cell.corpus, cell.arm, *cell.masking


def index_cells(cells: Iterable[ScoredCell]) -> dict[Place, BySeed]:
    """Return the cells by corpus, arm and masking, and then by seed; those along a training curve are left out."""
    final = (scored for scored in cells if not scored.cell.budget)
    return {
        place: by_seed(group)
        for place, group in group_by(final, lambda scored: to_place(scored.cell)).items()
    }


def judge_competence(cells: Iterable[ScoredCell], resamples: int) -> pd.DataFrame:
    """Return the table `competence`: one row per corpus, arm, masking and class of blanks.

    An arm is competent where the paired 95 % interval of (arm - floor) lies above 0 for each floor of what it sees, and
    where it restores at least LEAD more words than the floor does: in exact match of its fills. One that writes the text anew
    is compared in document BLEU with the unfilled text, of which any lead counts. Of the floors a study
    made before they were there has no table of more than two words. The row has the floor that it clears least, and both scores over the seeds that arm and floor share.
    """
    by_place = index_cells(cells)
    rows = []
    for place, seeds in by_place.items():
        scored = next(iter(seeds.values()))
        if scored.context not in (*FLOORS, WRITES_ANEW):
            continue
        for word_class, measure in (TEXT if scored.context == WRITES_ANEW else FILLS).items():
            rows.append(
                _judge(place, find_floors(scored), measure, by_place, resamples) | {"word_class": word_class}
            )
    return pd.DataFrame(rows, columns=COLUMNS["competence"])


def find_floors(scored: ScoredCell) -> tuple[str, ...]:
    """Return the arms that a cell's arm must beat: drawn ones where it draws its fills."""
    if scored.context == WRITES_ANEW:
        return ("unfilled",)
    return (SAMPLED_FLOORS if scored.temperature else FLOORS)[scored.context]


def _judge(
    place: Place,
    floors: tuple[str, ...],
    measure: tuple[str, str],
    by_place: dict[Place, BySeed],
    resamples: int,
) -> dict:
    corpus, arm, strategy, ratio = place
    sides = {floor: _find_floor(place, floor, by_place) for floor in floors}
    sides = {floor: side for floor, side in sides.items() if side or floor not in LATER_TABLES}
    estimates = {
        floor: compare_cells(by_place[place], side, measure, MORE * resamples, (arm, floor))
        for floor, side in sides.items()
    }
    least_share = LEAD if measure[0] == "fills" else 0.0
    values = {floor: _score_both(by_place[place], side, measure) for floor, side in sides.items()}
    outcomes = {floor: _decide(estimates[floor], values[floor][1] * least_share) for floor in sides}
    hardest = min(sides, key=lambda floor: (OUTCOMES.index(outcomes[floor]), estimates[floor].low))
    least = estimates[hardest]
    return {
        **{"corpus": corpus, "arm": arm, "strategy": strategy, "ratio": ratio},
        **{"scope": measure[0], "metric": measure[1], "value": values[hardest][0]},
        **{"floor": hardest, "floor_value": values[hardest][1]},
        **{"difference": least.difference, "low": least.low, "high": least.high},
        **{"n": least.n, "runs": least.runs, "outcome": outcomes[hardest], "reason": least.reason},
    }


def _find_floor(place: Place, floor: str, by_place: dict[Place, BySeed]) -> BySeed:
    """Return the cells of a floor: of its variant that shares most settings with the arm, and has no others."""
    corpus, arm, strategy, ratio = place
    settings = arm.split()[1:]
    shared = [
        [floor, *chosen] for size in range(len(settings), -1, -1) for chosen in combinations(settings, size)
    ]
    places = [(corpus, " ".join(words), strategy, ratio) for words in shared]
    return next((by_place[candidate] for candidate in places if candidate in by_place), {})


def _score_both(arm: BySeed, floor: BySeed, measure: tuple[str, str]) -> tuple[float, float]:
    """Return the scores of an arm and a floor over the seeds that they share."""
    runs = group_seeds(*(with_measure(side, measure) for side in (arm, floor)))
    return score_cells(arm, measure, runs), score_cells(floor, measure, runs)


def _decide(least: PairedDifference, lead: float) -> str:
    """Return the outcome of one floor; `lead`: by how much it must be cleared beside the interval."""
    if least.reason or math.isnan(least.low):
        return NOT_RUN
    is_above = find_direction(least.low, least.high) == FIRST
    return COMPETENT if is_above and least.difference >= lead else NOT_COMPETENT


class Competence:
    """The competence table, looked up by place and class of blanks."""

    def __init__(self, table: pd.DataFrame):
        keys = zip(
            *(table[name] for name in ("corpus", "arm", "strategy", "ratio", "word_class")), strict=True
        )
        self.rows = dict(zip(keys, table.to_dict("records"), strict=True))
        self.arms = {key[:2] for key in self.rows}

    def is_competent(self, place: Place, word_class: str = "all") -> bool:
        """Return whether an arm is competent there."""
        row = self.rows.get((*place, word_class))
        return row is not None and row["outcome"] == COMPETENT

    def explain(self, place: Place) -> str:
        """Return why an arm is not competent there; nothing for one that is, and for a baseline or a real text."""
        row = self.rows.get((*place, "all"))
        if is_baseline(place[1]):
            return ""
        if row is None and place[:2] in self.arms:
            return (
                f"{place[1]} was not run on {place[0]} at {place[2]} {place[3]:g}, where it would be judged"
            )
        if row is None or row["outcome"] == COMPETENT:
            return ""
        if row["outcome"] == NOT_RUN:
            return f"{row['arm']} has no floor to be judged by ({row['reason']})"
        measure = MEASURES[row["metric"]]
        unit, form = measure.title, f".{measure.decimals}f"
        is_above = find_direction(row["low"], row["high"]) == FIRST
        how = "less than a tenth above" if is_above else "not above"
        return (
            f"{row['arm']} is {how} {row['floor']} on {row['corpus']} at {row['strategy']} {row['ratio']:g} "
            f"({unit} {row['value']:{form}} and {row['floor_value']:{form}})"
        )


def exclude(differences: pd.DataFrame, competence: Competence, main: tuple[str, float]) -> pd.DataFrame:
    """Return differences at the main cell with their `status` and, where an arm may not speak, `excluded_because`."""
    sides = [zip(differences["corpus"], differences[side], strict=True) for side in ("first", "second")]
    return mark(
        differences, [[competence.explain((corpus, arm, *main)) for corpus, arm in side] for side in sides]
    )


def mark(rows: pd.DataFrame, sides: Sequence[Sequence[str]], status: str = NOT_COMPETENT) -> pd.DataFrame:
    """Return rows with these reasons as well, "" for none, and this status where they had no reason before."""
    before, status_before = (
        rows.get(name, pd.Series(index=rows.index)) for name in ("excluded_because", "status")
    )
    joined = ["; ".join(filter(None, reasons)) for reasons in zip(before.fillna(""), *sides, strict=True)]
    statuses = [
        status if reason and state == MADE else state
        for state, reason in zip(status_before.fillna(MADE), joined, strict=True)
    ]
    return rows.assign(
        excluded_because=pd.Series(joined, index=rows.index, dtype="str"),
        status=pd.Series(statuses, index=rows.index, dtype="str"),
    )
