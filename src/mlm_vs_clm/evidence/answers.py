"""From rules to answers: what each kind of claim compares, and the verdict on every comparison, also by other margins."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

import pandas as pd

from .cells import group_by
from .competence import Competence, Place
from .power import MOST, SETTLED_RUNS, describe_needs, smallest_detectable_effect
from .questions import Question, read_masking
from .study import Study
from .tables import COLUMNS, KEYS
from .text_questions import (
    ask_cost,
    ask_difference,
    ask_equal_share,
    ask_ratings,
    ask_share_of_gain,
    ask_trend,
)
from .training_questions import (
    ask_correlation,
    ask_learning,
    ask_pairs,
    ask_understanding,
    ask_utility,
    ask_writers,
)
from .verdicts import (
    AT_LEAST,
    CORRELATION,
    COST,
    DIFFERENCE,
    MADE,
    NO_ROOM,
    NOT_COMPETENT,
    NOT_RUN,
    SLOPE,
    Criterion,
    Verdict,
    correct,
    is_open,
    judge,
)

Ask = Callable[[dict, dict, str, Study], Iterator[Question]]
KINDS: dict[str, Ask] = {
    "difference": ask_difference,
    "trend": ask_trend,
    "equal_share": ask_equal_share,
    "share_of_gain": ask_share_of_gain,
    "understanding": ask_understanding,
    "utility": ask_utility,  # by its task, or by that of every corpus
    "correlation": ask_correlation,
    "writers": ask_writers,
    "cost": ask_cost,
    "ratings": ask_ratings,
    "learning": ask_learning,
    "pairs": ask_pairs,
}
CORRELATIONS = ("correlation", "writers")  # kinds of claims about rank correlations and slopes
TIMES = (0.5, 1.0, 2.0)  # the margin of the rules, by which the table `sensitivity` judges again


def answer(rules: Sequence[dict], study: Study) -> pd.DataFrame:
    """Return the table `answers`: for each condition a row per corpus, pair of sides and measure.

    p is Holm's over all comparisons of a claim, for either direction. A comparison with an arm that is not competent, or
    as training data where there is no room, decides nothing. `needs` says what would settle a row.
    """
    rows = []
    for of_claim in group_by(ask_all(rules, study), lambda question: question.claim["id"]).values():
        gates = [_find_gate(question, study) for question in of_claim]
        pairs = zip(of_claim, gates, strict=True)
        p = correct([question.estimate.p if gate.status == MADE else math.nan for question, gate in pairs])
        rows += [_to_row(*arguments, study.competence) for arguments in zip(of_claim, gates, p, strict=True)]
    return pd.DataFrame(rows, columns=COLUMNS["answers"])


def ask_all(rules: Sequence[dict], study: Study) -> list[Question]:
    """Return every comparison of every condition on every corpus; a condition may be of another kind than its claim."""
    return [
        question
        for claim in rules
        for condition in claim["conditions"]
        for corpus in study.corpora
        for question in KINDS[condition.get("kind", claim["kind"])](claim, condition, corpus, study)
    ]


def find_kind(question: Question) -> str:
    """Return how a comparison is judged: every correlation by its bound, whichever coefficient a condition names."""
    if not math.isnan(question.at_least):
        return AT_LEAST
    if statistic := question.condition.get("statistic"):
        return SLOPE if statistic == SLOPE else CORRELATION
    return COST if question.measure[1] == "flops" else DIFFERENCE


def _find_gate(question: Question, study: Study) -> Verdict:
    """Return why a comparison decides nothing: nothing was measured, an arm may not speak, or the task has no room."""
    if question.estimate.reason:
        return Verdict(NOT_RUN)
    if silent := find_silent(question, study.competence):
        return Verdict(NOT_COMPETENT, excluded_because="; ".join(silent))
    return Verdict(NO_ROOM, excluded_because=question.no_room) if question.no_room else Verdict()


def find_silent(question: Question, competence: Competence) -> dict[str, str]:
    """Return why sides may not speak, and whose arms they are; none where no arm needs to be competent."""
    gate = question.condition.get("gate", question.claim["gate"])
    if gate in ("none", "task") and "comparison" not in question.condition:
        return {}
    places = [question.first] if gate == "first" else [question.first, question.second]
    if gate == "main":
        places = [(*place[:2], *read_masking(question.claim["main"])) for place in places]
    return {reason: place[1] for place in places if (reason := competence.explain(place))}


def _to_row(question: Question, gate: Verdict, p: float, competence: Competence) -> dict:
    estimate, (scope, metric), kind = question.estimate, question.measure, find_kind(question)
    about = {
        **{"claim": question.claim["id"], "condition": question.condition["name"], "kind": kind},
        **{"corpus": question.corpus, "metric": metric, "scope": scope, "margin": question.margin},
        **_name_side("first", question.first),
        **_name_side("second", question.second),
        "unsure": False,
    }
    if gate.status == NOT_RUN:
        hint = question.condition.get("absent", question.claim.get("absent", ""))
        needs = hint or estimate.reason.removeprefix("not run: ")
        return about | asdict(gate) | {"reason": estimate.reason, "needs": needs}
    about |= {"effect": estimate.difference, "low": estimate.low, "high": estimate.high, "p": p}
    about |= {"n": estimate.n, "runs": estimate.runs}
    about |= {"detectable": smallest_detectable_effect(estimate.standard_error, estimate.degrees)}
    if gate.status != MADE:
        names = list(dict.fromkeys(find_silent(question, competence).values()))
        needs = f"a competent arm: {gate.excluded_because}" if names else "a task with room"
        return about | asdict(gate) | {"excluded": ", ".join(names), "needs": needs}
    criterion = Criterion(question.margin, kind, question.at_least)
    verdict = judge(estimate.low, estimate.high, p, criterion, estimate.n)
    notes = {"unsure": _is_unsure(question, competence), "reason": question.note}
    return about | asdict(verdict) | notes | {"needs": _find_needs(question, verdict, p)}


def _name_side(side: str, place: Place) -> dict:
    """Return the columns of one side: its arm, and its masking where it has one."""
    _, arm, strategy, ratio = place
    return {
        f"{side}_arm": arm,
        f"{side}_strategy": strategy,
        f"{side}_ratio": ratio if strategy else math.nan,
    }


def _is_unsure(question: Question, competence: Competence) -> bool:
    """Return whether an arm is competent on all blanks but not on content words."""
    return any(
        competence.is_competent(place)
        and not competence.is_competent(place, "content")
        and (*place, "content") in competence.rows
        for place in (question.first, question.second)
    )


def _find_needs(question: Question, verdict: Verdict, p: float) -> str:
    """Return what would settle a row: nothing for one that is settled."""
    estimate, kind = question.estimate, question.condition.get("kind", question.claim["kind"])
    if kind in ("cost", "learning"):
        return ""
    if is_open(verdict):
        if kind in CORRELATIONS:
            return _count_more(question, "writers" if kind == "writers" else "arms and maskings")
        tests = p / estimate.p if estimate.p > 0 and p > 0 else 1.0
        return describe_needs(estimate, question.margin, tests)
    if kind in (*CORRELATIONS, "ratings") or estimate.runs >= SETTLED_RUNS:
        return ""
    return f"{SETTLED_RUNS} runs to be settled"


def _count_more(question: Question, units: str) -> str:
    """Return how many times as many of what is drawn would narrow the interval of a correlation enough."""
    estimate = question.estimate
    is_slope = question.condition.get("statistic") == SLOPE
    size = abs(estimate.difference)
    distance = max(size - (0 if is_slope else question.margin), question.margin - size)  # a margin may be NaN
    if not distance > 0:
        return "nothing: the estimate lies on the bound"
    times = (max(estimate.high - estimate.difference, estimate.difference - estimate.low) / distance) ** 2
    amount = f"about {max(times, 1.1):.1f}" if times <= MOST else f"more than {MOST}"
    return f"{amount} times as many {units}"


def vary_margins(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the table `sensitivity`: the verdict on each difference that was made, by each of TIMES its margin."""
    is_varied = (
        (answers["status"] == MADE) & answers["kind"].isin([DIFFERENCE, SLOPE]) & answers["margin"].notna()
    )
    rows = []
    for row in answers[is_varied].to_dict("records"):
        for times in TIMES:
            margin = times * row["margin"]
            verdict = judge(row["low"], row["high"], row["p"], Criterion(margin, row["kind"]), row["n"])
            said = {"direction": verdict.direction, "size": verdict.size}
            question = {name: row[name] for name in (*KEYS["answers"], "kind")}
            rows.append(question | {"times": times, "margin": margin} | said)
    return pd.DataFrame(rows, columns=COLUMNS["sensitivity"])
