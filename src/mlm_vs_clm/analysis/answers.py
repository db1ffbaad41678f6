"""From comparisons to answers: one outcome per condition and corpus, and one generated sentence per claim."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ..stats import ALPHA, FEWEST_UNITS, equivalence, holm
from .cells import group_by
from .competence import Competence, Place
from .measuring import QUALITY, Asked, Study, ask_all, name_place
from .power import MOST, SETTLED_RUNS, describe_needs, smallest_detectable_effect
from .tables import COLUMNS

ALL = "all"  # the row of a condition over all corpora
FIRST, SECOND, EQUAL = "first better", "second better", "equal"
WITHIN = ", within the margin"
NOT_SETTLED, NOT_COMPETENT, NOT_RUN = "not settled", "arm not competent", "not run"
YES, NO, DIFFER = "yes", "no", "corpora differ"
OUTCOMES = (FIRST, SECOND, EQUAL, FIRST + WITHIN, SECOND + WITHIN, NOT_SETTLED, NOT_COMPETENT, NOT_RUN)
# The words of a correlation, a slope and a cost for what is a better first or second arm, or not settled, elsewhere.
WORDS = {
    "spearman": {FIRST: "strong correlation", SECOND: "strong, reversed", EQUAL: "no strong correlation"},
    "slope_at_same_masking": {FIRST: "rises with quality", SECOND: "reversed", EQUAL: "no slope"},
    "cost": {FIRST: "first costs more", SECOND: "second costs more", NOT_SETTLED: "depends on the masking"},
}
UNSURE = "an arm is competent mostly by function words and punctuation"
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
    if (
        asked.claim["kind"] == "cost" and "comparison" not in asked.condition
    ):  # a range of counts, without chance
        side = FIRST if made.low > margin else SECOND if made.high < -margin else NOT_SETTLED
        return EQUAL if equivalence(made.low, made.high, margin) == "inside" else side
    if made.n < FEWEST_UNITS:
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
    gate, main = asked.condition.get("gate", asked.claim["gate"]), tuple(asked.claim["main"].values())
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
        hint = asked.condition.get("absent", asked.claim.get("absent", ""))
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
    if asked.claim["kind"] in ("cost", "ratings"):
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
        return ""
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
    return (
        f"about {max(times, 1.1):.1f} times as many cells"
        if times <= MOST
        else f"more than {MOST} times as many cells"
    )


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
    corpora = {row["corpus"] for row in rows}
    return "; ".join(
        f"{outcome}{_list_corpora(part, corpora)}"
        for outcome, part in group_by(rows, lambda row: row["outcome"]).items()
    )


def write_sentences(answers: pd.DataFrame, rules: Sequence[dict]) -> pd.DataFrame:
    """Return the table `sentences`: for each claim what its conditions found, beginning with how sure it is."""
    rows = []
    for rule in rules:
        part = answers[(answers["claim"] == rule["id"]) & (answers["corpus"] != ALL)].to_dict("records")
        order = [condition["name"] for condition in rule["conditions"]]
        sentence = (
            _describe_claim(sorted(part, key=lambda row: order.index(row["condition"]))) or "Nothing was run."
        )
        rows.append({"claim": rule["id"], "statement": rule["statement"], "sentence": sentence})
    return pd.DataFrame(rows, columns=COLUMNS["sentences"])


def _describe_claim(rows: list[dict]) -> str:
    """Return a short sentence per condition, and one that lists the conditions that were not run.

    Over how many trainings comes first where all conditions have as many, else with each.
    """
    conditions = group_by(rows, lambda row: row["condition"])
    absent = [name for name, part in conditions.items() if {row["outcome"] for row in part} == {NOT_RUN}]
    corpora = {row["corpus"] for row in rows}
    made = {name: part for name, part in conditions.items() if name not in absent}
    sure = {name: word_runs(part) for name, part in made.items()}
    fewest = {min(row["runs"] for row in part if row["outcome"] != NOT_RUN) for part in made.values()}
    apart = len(fewest) > 1
    sentences = [
        _describe_condition(name, part, corpora, sure[name] if apart else "") for name, part in made.items()
    ]
    if absent:
        sentences.append(f"Not run: {', '.join(absent)}")
    if not sentences:
        return ""
    first = "" if apart else next(filter(None, sure.values()), "")
    first = f"{first[0].upper()}{first[1:]}: " if first else ""
    return f"{first}{'. '.join(sentences)}."


def word_runs(rows: list[dict]) -> str:
    """Return over how many trainings a condition was measured, in words; nothing where it decides nothing by one."""
    runs = [row["runs"] for row in rows if ONE_TRAINING in str(row["reason"]) or row.get("runs", 0) > 1]
    fewest = int(min(runs, default=0))
    few = f", fewer than the {SETTLED_RUNS} that settle" if fewest < SETTLED_RUNS else ""
    return {0: "", 1: ONE_TRAINING}.get(fewest, f"over {fewest} runs{few}")


def _describe_condition(name: str, rows: list[dict], corpora: set[str], sure: str = "") -> str:
    """Return what a condition found: each outcome with its arms and corpora, by its first metric; a correlation by each.

    `sure`: over how many trainings.
    """
    metrics = dict.fromkeys(row["metric"] for row in rows)
    if len(metrics) > 1 and str(rows[0]["first"]).startswith(QUALITY):
        parts = [[row for row in rows if row["metric"] == metric] for metric in metrics]
        return ". ".join(
            _describe_condition(f"{name}, by {metric}", part, corpora, sure)
            for metric, part in zip(metrics, parts, strict=True)
        )
    rows = [row for row in rows if row["metric"] == rows[0]["metric"] and row["outcome"] != NOT_RUN]
    pairs = list(dict.fromkeys(map(_read_pair, rows)))
    about = [f"{pairs[0][0]} against {pairs[0][1]}" if len(pairs) == 1 and all(pairs[0][:2]) else "", sure]
    title = f"{name} ({', '.join(filter(None, about))})" if any(about) else name
    worded = group_by(rows, lambda row: word_outcome(row, len(pairs) > 1))
    same: dict[tuple[str, str], list[str]] = {}
    for (words, other), part in worded.items():
        same.setdefault((words, _list_corpora(part, corpora) + _format_needs(part)), []).append(other)
    found = [
        f"{words}{join_names(list(filter(None, others)))}{where}" for (words, where), others in same.items()
    ]
    unsure = f" ({UNSURE})" if any(UNSURE in row["reason"] for row in rows) else ""
    return f"{title[0].upper()}{title[1:]}: {'; '.join(found)}{unsure}"


def join_names(names: Sequence[str]) -> str:
    """Return "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _read_pair(row: dict) -> tuple[str, str, str, str]:
    """Return the names of both sides and, where these are equal, their maskings: "mlm at random 0.5" is of mlm."""
    (first, at), (second, other) = (str(row[side]).partition(" at ")[::2] for side in ("first", "second"))
    if first == QUALITY:
        return "", "", "", ""
    return (first, second, at, other) if first == second else (first, second, "", "")


def word_outcome(row: dict, several: bool) -> tuple[str, str]:
    """Return an outcome in words, with the names of its sides, and the name that others may join.

    One pair: "mlm better". Several: ("mlm better than ", "unigram"), ("equal for ", "clm").
    """
    first, second, at, other = _read_pair(row)
    outcome = row["outcome"]
    sides = {"first": (first, at, other, second), "second": (second, other, at, first)}
    for side, (name, place, against, loser) in sides.items():
        if outcome.startswith(side):
            words = outcome.replace(side, name, 1)
            if place:
                return words.replace("better", f"better {_word_masking(place, against)}", 1), ""
            return (f"{words} than ", loser) if several else (words, "")
    if not several:
        return outcome, ""
    strategies = at.partition(" ")[0], other.partition(" ")[0]
    if at:
        return f"{outcome} for ", first if strategies[0] == strategies[1] else f"{first} at {strategies[0]}"
    return f"{outcome} for {first} against ", second


def _word_masking(place: str, against: str) -> str:
    """Return where one arm is better: "on punctuation than on random words", or "at random 0.15"."""
    here, there = (masking.partition(" ")[0] for masking in (place, against))
    if f"random_as_{here}" == there:
        return f"on {here} than on random words"
    return f"on random words than on {there}" if here == f"random_as_{there}" else f"at {place}"


def _format_needs(rows: list[dict]) -> str:
    if rows[0]["outcome"] != NOT_SETTLED:
        return ""
    needs = list(dict.fromkeys(row["needs"] for row in rows))
    return f" (needs {needs[0] if len(needs) == 1 else 'more: see the answers table'})"


def _list_corpora(rows: Sequence[dict], corpora: set[str]) -> str:
    """Return on which corpora; nothing where the claim was asked on one alone."""
    found = list(dict.fromkeys(row["corpus"] for row in rows))
    if len(corpora) == 1:
        return ""
    return " on all corpora" if set(found) == corpora else f" on {join_names(found)}"
