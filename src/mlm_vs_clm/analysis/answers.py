"""From comparisons to answers: one outcome per condition and corpus, and one generated sentence per claim."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ..stats import ALPHA, FEWEST_UNITS, equivalence, holm
from .cells import group_by
from .competence import Competence, Place
from .measuring import Asked, Study, ask_all, name_place
from .power import SETTLED_RUNS, describe_needs, smallest_detectable_effect
from .tables import COLUMNS

ALL = "all"  # the row of a condition over all corpora
FIRST, SECOND, EQUAL = "first better", "second better", "equal"
WITHIN = ", within the margin"
NOT_SETTLED, NOT_COMPETENT, NOT_RUN = "not settled", "arm not competent", "not run"
YES, NO, DIFFER = "yes", "no", "corpora differ"
OUTCOMES = (FIRST, SECOND, EQUAL, FIRST + WITHIN, SECOND + WITHIN, NOT_SETTLED, NOT_COMPETENT, NOT_RUN)
# The words of a correlation, a slope and a cost for what is a better first or second arm elsewhere.
WORDS = {
    "spearman": {FIRST: "strong correlation", SECOND: "strong, reversed", EQUAL: "no strong correlation"},
    "slope_at_same_masking": {FIRST: "rises with quality", SECOND: "reversed", EQUAL: "no slope"},
    "cost": {FIRST: "first costs more", SECOND: "second costs more", EQUAL: "equal"},
}
UNSURE = "mostly function words and punctuation"
ONE_TRAINING = "for this one training"


def answer(rules: Sequence[dict], study: Study) -> pd.DataFrame:
    """Return the table `answers`: for each condition a row per corpus and pair of sides, and one over all corpora (ALL).

    p is Holm's over all comparisons of a claim, for either direction. A comparison with an arm that is not competent
    decides nothing. `needs` says what would settle a row.
    """
    rows = []
    for of_claim in group_by(ask_all(rules, study), lambda one: one.claim["id"]).values():
        gates = [_explain_gate(asked, study.competence) for asked in of_claim]
        corrected = holm(
            [asked.made.p if not gate else np.nan for asked, gate in zip(of_claim, gates, strict=True)]
        )
        made = [_to_row(*each, study.competence) for each in zip(of_claim, gates, corrected, strict=True)]
        for of_condition in group_by(made, lambda row: row["condition"]).values():
            rows += [*of_condition, *_pool(of_condition)]
    return pd.DataFrame(rows, columns=COLUMNS["answers"])


def judge(asked: Asked, p: float) -> str:
    """Return the outcome of a comparison that was made, from its interval, its margin and its corrected p."""
    made, margin = asked.made, asked.margin
    if made.n < FEWEST_UNITS and asked.claim["kind"] != "cost":
        return NOT_SETTLED
    if not math.isnan(asked.at_least):
        if made.low > asked.at_least and p < ALPHA:
            return YES
        return NO if made.high < max(asked.at_least, margin) else NOT_SETTLED
    if asked.condition.get("statistic") == "spearman":
        where = equivalence(made.low, made.high, margin)
        return {"inside": EQUAL, "outside": FIRST if made.low > 0 else SECOND}.get(where, NOT_SETTLED)
    is_inside = equivalence(made.low, made.high, margin) == "inside"
    if (made.low > 0 or made.high < 0) and not p >= ALPHA:
        return (FIRST if made.low > 0 else SECOND) + (WITHIN if is_inside else "")
    return EQUAL if is_inside else NOT_SETTLED


def _explain_gate(asked: Asked, competence: Competence) -> str:
    """Return which arm may not speak, and why; nothing where all may, or where nothing was measured."""
    gate, main = asked.claim["gate"], tuple(asked.claim["main"].values())
    if asked.made.reason or (gate == "none" and "comparison" not in asked.condition):
        return ""
    places = [asked.first] if gate == "first" else [asked.first, asked.second]
    if gate == "main":
        places = [(place[0], place[1], *main) for place in places]
    return "; ".join(dict.fromkeys(filter(None, map(competence.explain, places))))


def _to_row(asked: Asked, gate: str, p: float, competence: Competence) -> dict:
    made, (scope, metric) = asked.made, asked.measure
    about = {
        **{"claim": asked.claim["id"], "condition": asked.condition["name"], "corpus": asked.corpus},
        **{"first": name_place(asked.first), "second": name_place(asked.second)},
        **{"metric": metric, "scope": scope, "margin": asked.margin},
    }
    if made.reason:
        hint = asked.claim.get("absent", "")
        return about | {
            "outcome": NOT_RUN,
            "reason": made.reason,
            "needs": hint or f"{made.reason.removeprefix('not run: ')}",
        }
    numbers = {
        **{"effect": made.difference, "low": made.low, "high": made.high, "n": made.n, "runs": made.runs},
        **{"detectable": smallest_detectable_effect(made.standard_error, made.degrees), "p": p},
    }
    if gate:
        return (
            about | numbers | {"outcome": NOT_COMPETENT, "reason": gate, "needs": f"a competent arm: {gate}"}
        )
    outcome, corpora = judge(asked, p), _list_unsure(asked, competence)
    notes = [asked.note, f"{UNSURE}: {corpora}" if corpora else "", _describe_runs(asked)]
    words = WORDS.get(asked.condition.get("statistic", "cost" if metric == "flops" else ""), {})
    return (
        about
        | numbers
        | {
            "outcome": _reword(outcome, words),
            "reason": "; ".join(filter(None, notes)),
            "needs": _find_needs(asked, outcome, p),
        }
    )


def _reword(outcome: str, words: Mapping[str, str]) -> str:
    side = outcome.removesuffix(WITHIN)
    return words.get(side, side) + outcome[len(side) :]


def _describe_runs(asked: Asked) -> str:
    if asked.claim["kind"] in ("cost", "correlation", "ratings"):
        return ""
    return ONE_TRAINING if asked.made.runs == 1 else ""


def _list_unsure(asked: Asked, competence: Competence) -> str:
    """Return the arms that are competent on all blanks but not on content words."""
    places: tuple[Place, ...] = (asked.first, asked.second)
    arms = [
        place[1]
        for place in places
        if competence.is_competent(place)
        and not competence.is_competent(place, "content")
        and (*place, "content") in competence.rows
    ]
    return ", ".join(dict.fromkeys(arms))


def _find_needs(asked: Asked, outcome: str, p: float) -> str:
    """Return what would settle a row: nothing for one that is settled."""
    made, kind = asked.made, asked.claim["kind"]
    if kind == "cost":
        return "" if outcome != NOT_SETTLED else "more runs of either arm's method at other costs"
    if outcome == NOT_SETTLED:
        if kind == "correlation":
            return _count_cells(asked)
        tests = p / made.p if made.p > 0 and p > 0 else 1.0
        return describe_needs(made, asked.margin, tests)
    if kind in ("correlation", "ratings") or made.runs >= SETTLED_RUNS:
        return ""
    return f"{SETTLED_RUNS} runs to be settled"


def _count_cells(asked: Asked) -> str:
    """Return how many times as many arms and maskings would narrow the interval enough, were they independent."""
    made = asked.made
    is_slope = asked.condition.get("statistic") != "spearman"
    distances = [
        asked.margin - abs(made.difference),
        abs(made.difference) - (0 if is_slope else asked.margin),
    ]
    distance = max(distances)
    if not distance > 0:
        return "nothing: the estimate lies on the bound"
    times = (max(made.high - made.difference, made.difference - made.low) / distance) ** 2
    return f"about {max(times, 1.1):.1f} times as many cells"


def _pool(rows: list[dict]) -> list[dict]:
    """Return the row over all corpora of each metric of a condition: the outcome that they share, or in words what differs."""
    pooled = []
    for metric, part in group_by(rows, lambda row: row["metric"]).items():
        shared = {row["outcome"] for row in part}
        sides = {name: {row[name] for row in part} for name in ("first", "second", "scope")}
        named = {name: found.pop() if len(found) == 1 else "" for name, found in sides.items()}
        about = (
            {key: part[0][key] for key in ("claim", "condition")} | {"corpus": ALL, "metric": metric} | named
        )
        runs = [row["runs"] for row in part if "runs" in row]
        counts = {"runs": min(runs)} if runs else {}
        outcome = part[0]["outcome"] if len(shared) == 1 else DIFFER
        is_same = len({(row["outcome"], row["reason"]) for row in part}) == 1
        reason = part[0]["reason"] if is_same else _list_outcomes(part)
        needs = list(dict.fromkeys(row["needs"] for row in part if row["needs"]))
        pooled.append(about | counts | {"outcome": outcome, "reason": reason, "needs": "; ".join(needs)})
    return pooled


def _list_outcomes(rows: Sequence[dict]) -> str:
    """Return the outcomes with where each was found: "equal on plots; not settled on abstracts"."""
    several = len({(row["first"], row["second"]) for row in rows}) > 1
    places = group_by(rows, lambda row: row["outcome"])
    return "; ".join(f"{outcome} {_list_places(part, several)}" for outcome, part in places.items())


def _list_places(rows: Sequence[dict], several: bool) -> str:
    if not several:
        return f"on {', '.join(row['corpus'] for row in rows)}"
    pairs = group_by(rows, lambda row: f"{row['first']} against {row['second']}")
    listed = [f"{pair} on {', '.join(row['corpus'] for row in part)}" for pair, part in pairs.items()]
    return f"for {', '.join(listed)}"


def tell(answers: pd.DataFrame, rules: Sequence[dict]) -> pd.DataFrame:
    """Return the table `sentences`: for each claim what its conditions found, one sentence that begins with how sure it is."""
    rows = []
    for rule in rules:
        part = answers[(answers["claim"] == rule["id"]) & (answers["corpus"] != ALL)]
        sentence = _tell_claim(part.to_dict("records")) or "Nothing was run."
        rows.append({"claim": rule["id"], "statement": rule["statement"], "sentence": sentence})
    return pd.DataFrame(rows, columns=COLUMNS["sentences"])


def _tell_claim(rows: list[dict]) -> str:
    clauses = [
        f"{condition}, {_tell_condition(part)}"
        for condition, part in group_by(rows, lambda row: row["condition"]).items()
    ]
    text = "; ".join(clauses)
    made = [row for row in rows if row["outcome"] not in (NOT_RUN, NOT_COMPETENT)]
    runs = min((row["runs"] for row in made if ONE_TRAINING in row["reason"] or row["runs"] > 1), default=0)
    sure = {0: "", 1: "For this one training: "}.get(int(runs), f"Over {int(runs)} runs: ")
    if 1 < runs < SETTLED_RUNS:
        sure = f"Over {int(runs)} runs, fewer than the {SETTLED_RUNS} that settle: "
    return f"{sure}{text}." if text else ""


def _tell_condition(rows: list[dict]) -> str:
    """Return what the first metric of a condition found, outcome by outcome."""
    rows = [row for row in rows if row["metric"] == rows[0]["metric"]]
    several = len({(row["first"], row["second"]) for row in rows}) > 1
    parts = []
    for outcome, part in group_by(rows, lambda row: row["outcome"]).items():
        notes = [_name_winner(outcome, part[0]) if not several else outcome, _list_places(part, several)]
        if outcome == NOT_SETTLED:
            notes.append(f"(needs {part[0]['needs']})")
        if any(UNSURE in row["reason"] for row in part):
            notes.append(f"({UNSURE})")
        parts.append(outcome if outcome == NOT_RUN and len(part) == len(rows) else " ".join(notes))
    return ", ".join(parts)


def _name_winner(outcome: str, row: dict) -> str:
    """Return an outcome with the arm in place of first or second, where the two arms differ."""
    names = [row[side].split(" at ")[0] for side in ("first", "second")]
    if names[0] == names[1]:
        names = [row[side].partition(" at ")[2] or row[side] for side in ("first", "second")]
    for side, name in zip(("first", "second"), names, strict=True):
        if outcome.startswith(side):
            return outcome.replace(side, name, 1)
    return outcome
