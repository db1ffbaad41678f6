"""From comparisons to answers: the verdict on every comparison that a condition of a claim asks for."""

import math
from collections.abc import Sequence
from dataclasses import asdict

import pandas as pd

from .cells import group_by
from .competence import Competence, Place
from .measuring import Asked, Study, ask_all
from .power import MOST, SETTLED_RUNS, describe_needs, smallest_detectable_effect
from .tables import COLUMNS
from .verdicts import (
    AT_LEAST,
    COST,
    DIFFERENCE,
    MADE,
    NO_ROOM,
    NOT_COMPETENT,
    NOT_RUN,
    SLOPE,
    Verdict,
    correct,
    is_open,
    judge,
)

CORRELATIONS = ("correlation", "writers")  # kinds of claims about rank correlations and slopes


def answer(rules: Sequence[dict], study: Study) -> pd.DataFrame:
    """Return the table `answers`: for each condition a row per corpus, pair of sides and measure.

    p is Holm's over all comparisons of a claim, for either direction. A comparison with an arm that is not competent, or
    as training data where there is no room, decides nothing. `needs` says what would settle a row.
    """
    rows = []
    for of_claim in group_by(ask_all(rules, study), lambda one: one.claim["id"]).values():
        gates = [_find_gate(asked, study) for asked in of_claim]
        able = [gate.status == MADE for gate in gates]
        p = correct([asked.made.p if one else math.nan for asked, one in zip(of_claim, able, strict=True)])
        rows += [_to_row(*each, study.competence) for each in zip(of_claim, gates, p, strict=True)]
    return pd.DataFrame(rows, columns=COLUMNS["answers"])


def find_kind(asked: Asked) -> str:
    """Return how a comparison is judged."""
    if not math.isnan(asked.at_least):
        return AT_LEAST
    return asked.condition.get("statistic", COST if asked.measure[1] == "flops" else DIFFERENCE)


def _find_gate(asked: Asked, study: Study) -> Verdict:
    """Return why a comparison decides nothing: nothing was measured, an arm may not speak, or the task has no room."""
    if asked.made.reason:
        return Verdict(NOT_RUN)
    if silent := find_silent(asked, study.competence):
        return Verdict(NOT_COMPETENT, excluded_because="; ".join(silent))
    return Verdict(NO_ROOM, excluded_because=asked.no_room) if asked.no_room else Verdict()


def find_silent(asked: Asked, competence: Competence) -> dict[str, str]:
    """Return why sides may not speak, and whose arms they are; none where no arm needs to be competent."""
    gate, main = asked.condition.get("gate", asked.claim["gate"]), tuple(asked.claim["main"].values())
    if gate in ("none", "task") and "comparison" not in asked.condition:
        return {}
    places = [asked.first] if gate == "first" else [asked.first, asked.second]
    if gate == "main":
        places = [(place[0], place[1], *main) for place in places]
    return {reason: place[1] for place in places if (reason := competence.explain(place))}


def _to_row(asked: Asked, gate: Verdict, p: float, competence: Competence) -> dict:
    made, (scope, metric), kind = asked.made, asked.measure, find_kind(asked)
    about = {
        **{"claim": asked.claim["id"], "condition": asked.condition["name"], "kind": kind},
        **{"corpus": asked.corpus, "metric": metric, "scope": scope, "margin": asked.margin},
        **_name_side("first", asked.first),
        **_name_side("second", asked.second),
        "unsure": False,
    }
    if gate.status == NOT_RUN:
        hint = asked.condition.get("absent", asked.claim.get("absent", ""))
        needs = hint or made.reason.removeprefix("not run: ")
        return about | asdict(gate) | {"reason": made.reason, "needs": needs}
    about |= {"effect": made.difference, "low": made.low, "high": made.high, "n": made.n, "runs": made.runs}
    about |= {"detectable": smallest_detectable_effect(made.standard_error, made.degrees), "p": p}
    if gate.status != MADE:
        names = list(dict.fromkeys(find_silent(asked, competence).values()))
        needs = (
            f"a competent arm: {gate.excluded_because}" if names else "room between unfilled and real text"
        )
        return about | asdict(gate) | {"excluded": ", ".join(names), "needs": needs}
    verdict = judge(made.low, made.high, p, asked.margin, made.n, kind, asked.at_least)
    more = {"unsure": _is_unsure(asked, competence), "reason": asked.note}
    return about | asdict(verdict) | more | {"needs": _find_needs(asked, verdict, p)}


def _name_side(side: str, place: Place) -> dict:
    """Return the columns of one side: its arm, and its masking where it has one."""
    _, arm, strategy, ratio = place
    masking = (strategy, ratio) if isinstance(strategy, str) and strategy else ("", math.nan)
    return {f"{side}_arm": arm, f"{side}_strategy": masking[0], f"{side}_ratio": masking[1]}


def _is_unsure(asked: Asked, competence: Competence) -> bool:
    """Return whether an arm is competent on all blanks but not on content words."""
    return any(
        competence.is_competent(place)
        and not competence.is_competent(place, "content")
        and (*place, "content") in competence.rows
        for place in (asked.first, asked.second)
    )


def _find_needs(asked: Asked, verdict: Verdict, p: float) -> str:
    """Return what would settle a row: nothing for one that is settled."""
    made, kind = asked.made, asked.condition.get("kind", asked.claim["kind"])
    if kind in ("cost", "learning"):
        return ""
    if is_open(verdict):
        if kind in CORRELATIONS:
            return _count_cells(asked)
        tests = p / made.p if made.p > 0 and p > 0 else 1.0
        return describe_needs(made, asked.margin, tests)
    if kind in (*CORRELATIONS, "ratings") or made.runs >= SETTLED_RUNS:
        return ""
    return f"{SETTLED_RUNS} runs to be settled"


def _count_cells(asked: Asked) -> str:
    """Return how many times as many arms and maskings would narrow the interval enough, were they independent."""
    made = asked.made
    is_slope = asked.condition.get("statistic") == SLOPE
    distances = [
        asked.margin - abs(made.difference),
        abs(made.difference) - (0 if is_slope else asked.margin),
    ]
    distance = max(distances)
    if not distance > 0:
        return "nothing: the estimate lies on the bound"
    times = (max(made.high - made.difference, made.difference - made.low) / distance) ** 2
    return (
        f"about {max(times, 1.1):.1f} times as many cells"
        if times <= MOST
        else f"more than {MOST} times as many cells"
    )
