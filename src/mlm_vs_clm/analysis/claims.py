"""From rows to verdicts: the claims of the paper, each decided by a rule that was written before the run."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from ..errors import StudyError
from ..stats import ALPHA, FEWEST_UNITS, holm
from .cells import Comparison, ScoredCell, TrainedCell, group_by
from .claim_evidence import Study
from .claim_rules import RULES, SIDES, SWAPS_PER_RESAMPLE, Found
from .tables import OVERALL, VERDICT

VERSION = 2  # raised when the code comes to decide the same rules otherwise
COLUMNS = (
    "claim corpus comparison role metric scope verdict effect low high p detectable n reason evidence"
).split()
ROLES = ("reported", "matched", "partly matched")
KEYS = ("id", "statement", "source", "family", "rule", "measures", "mixed")
MAIN = "main"  # in the rules: the main cell of the study
OF_STATE = {"holds": "supported", "gone": "contradicted", "unclear": "inconclusive", "missing": "not tested"}
IN_WORDS = {"holds": "for", "gone": "against", "unclear": "undecided", "missing": "missing"}
OF_MATCHED = OF_STATE | {"gone": "explained"}  # the verdict where what was reported holds


@dataclass(frozen=True)
class Tested:
    """One comparison of a claim on one corpus: what was asked, what was found (p corrected), and its state."""

    claim: dict
    corpus: str
    asked: dict
    found: Found
    p: float
    state: str


def load_rules(path: Path, main: tuple[str, float]) -> list[dict]:
    """Return the claims of `conf/claims.yaml` for a study with this main cell (strategy, ratio).

    Raises StudyError for a rule that nothing decides.
    """
    rules = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    for rule in rules:
        absent = [key for key in KEYS if key not in rule]
        if absent:
            raise StudyError(f"{path}: claim {rule.get('id', '?')} has no {absent[0]}: add it")
        if rule["rule"] not in RULES:
            known = ", ".join(RULES)
            raise StudyError(f"{path}: claim {rule['id']}: rule {rule['rule']} is unknown: choose {known}")
    return [_resolve_main(rule, main) for rule in rules]


def _resolve_main(rule: dict, main: tuple[str, float]) -> dict:
    """Return a claim with the main cell's strategy and ratio where it, or an arm of a comparison, has `cells: main`."""
    cell = dict(zip(("strategy", "ratio"), main, strict=True))
    resolved = rule | ({"cells": cell} if rule.get("cells") == MAIN else {})
    if "comparisons" not in rule:
        return resolved
    return resolved | {"comparisons": [_resolve_sides(each, cell) for each in rule["comparisons"]]}


def _resolve_sides(comparison: dict, cell: dict) -> dict:
    sides = {}
    for side in SIDES:
        named = dict(comparison[side])
        sides[side] = named | (cell if named.pop("cells", None) == MAIN else {})
    return comparison | sides


def list_comparisons(rules: list[dict]) -> tuple[Comparison, ...]:
    """Return the pairs of arms that claim C1 compares, which every other finding compares too."""
    return tuple(
        Comparison(each["name"], each["first"]["arm"], each["second"]["arm"])
        for rule in rules
        if rule["id"] == "C1"
        for each in rule["comparisons"]
    )


def hash_rules(rules: list[dict]) -> str:
    """Return 12 hex digits that change with any rule, with the thresholds of the code and with VERSION."""
    fixed = {"alpha": ALPHA, "fewest_units": FEWEST_UNITS, "swaps": SWAPS_PER_RESAMPLE, "version": VERSION}
    parts = json.dumps({"rules": rules} | fixed, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(parts.encode()).hexdigest()[:12]


def decide(
    rules: list[dict],
    tables: dict[str, pd.DataFrame],
    read_scored: Callable[[str], ScoredCell],
    read_trained: Callable[[str], TrainedCell],
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Return COLUMNS: for each claim an `overall` row, one per corpus (comparison `verdict`), and its comparisons.

    tables: scores, downstream, correlation, ledger as the report reads them, and `ratings` (corpus, arm, document,
    question, rating) once there are some; each may be empty or absent. The readers give the cell behind an artifact. An
    effect is in the units of its metric and positive where it supports the claim (a correlation is itself);
    `p` is Holm's over all comparisons of the claim's family. A verdict shows the effect of its first comparison that
    was measured; the overall row the mean over corpora, from the lowest low to the highest high, with the largest p.
    With few resamples nothing is significant: p is at least 1 / (resamples + 1) before correction.
    """
    study = Study(tables, cache(read_scored), cache(read_trained), resamples, seed)
    tests = _judge([(claim, *measured) for claim in rules for measured in _measure(claim, study)])
    rows = []
    for claim in rules:
        of_claim = [test for test in tests if test.claim["id"] == claim["id"]]
        of_corpus = sorted(group_by(of_claim, lambda test: test.corpus).items())
        verdicts = [_decide_corpus(claim, corpus, part) for corpus, part in of_corpus]
        rows.append(_decide_overall(claim, verdicts))
        for verdict, (_, part) in zip(verdicts, of_corpus, strict=True):
            rows += [verdict, *map(_to_row, part)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _measure(claim: dict, study: Study) -> Iterator[tuple[str, dict, Found]]:
    """Yield (corpus, asked, found) for every comparison; nothing where the claim's table has no rows."""
    rule = RULES[claim["rule"]]
    table = study.tables.get(rule.table, pd.DataFrame())
    if table.empty:
        return
    if "task" in claim:
        table = table[table["task"] == claim["task"]]
    for corpus in sorted(set(table["corpus"]) - {OVERALL}):
        for test in rule.list_tests(claim):
            yield corpus, test, rule.measure(test, claim, corpus, study)


def _judge(measured: list[tuple[dict, str, dict, Found]]) -> list[Tested]:
    """Return the tests with the p-values of each family corrected together."""
    raw, corrected = np.array([found.p for *_, found in measured]), np.full(len(measured), np.nan)
    for members in group_by(range(len(measured)), lambda i: measured[i][0]["family"]).values():
        corrected[members] = holm(raw[members])
    return [
        Tested(claim, corpus, asked, found, float(p), _find_state(claim, asked, found, p))
        for (claim, corpus, asked, found), p in zip(measured, corrected, strict=True)
    ]


def _find_state(claim: dict, asked: dict, found: Found, p: float) -> str:
    if np.isnan(found.effect):
        return "missing"
    return "unclear" if found.reason else RULES[claim["rule"]].judge(asked, found, p)


def _decide_corpus(claim: dict, corpus: str, tests: list[Tested]) -> dict:
    """Return the verdict row of one corpus."""
    of_role = {role: [test for test in tests if test.asked["role"] == role] for role in ROLES}
    states = {role: _combine([test.state for test in part], claim["mixed"]) for role, part in of_role.items()}
    verdict, because = _find_verdict(states, of_role, claim["mixed"])
    if verdict == "inconclusive" and not because:
        because = _explain_undecided(states, of_role)
    counts = [f"{role}: {_count([test.state for test in part])}" for role, part in of_role.items() if part]
    reasons = [because, *counts, *_list_missing(tests)]
    if verdict == "not tested":
        reasons.insert(0, claim.get("absent", ""))
    shown = next((test for test in of_role["reported"] if test.state != "missing"), None)
    about = {"claim": claim["id"], "corpus": corpus, "comparison": VERDICT, "verdict": verdict}
    about |= {"reason": "; ".join(filter(None, reasons)), "because": because}
    about |= {"evidence": _join_names(name for test in tests for name in test.found.evidence)}
    return (_to_numbers(shown) if shown else {"n": 0}) | about


def _combine(states: list[str], mixed: str) -> str:
    """Return the state of all comparisons of a role.

    Missing ones do not count; but a claim that asserts each of them does not hold without them.
    """
    made = set(states) - {"missing"}
    if made == {"holds"} and mixed == "gone" and "missing" in states:
        return "unclear"
    if len(made) > 1:
        return mixed if "gone" in made else "unclear"
    return made.pop() if made else "missing"


def _find_verdict(states: dict[str, str], of_role: dict[str, list[Tested]], mixed: str) -> tuple[str, str]:
    """Return the verdict and, where it is not plain from the counts, why.

    A reported comparison that was run under no measure leaves a claim open, unless another one settles it alone.
    """
    absent = _list_not_run(of_role["reported"])
    if absent and (states["reported"] == "holds" or (states["reported"] == "gone" and mixed != "gone")):
        noun = "comparison {} was" if len(absent) == 1 else "comparisons {} were"
        return "inconclusive", f"{noun} not run".format(" and ".join(absent))
    if states["reported"] != "holds":
        return OF_STATE[states["reported"]], ""
    if not of_role["matched"]:
        return "supported", ""
    if states["matched"] == "missing":
        if states["partly matched"] == "gone":
            return "explained", "disappears where a part of the advantage is matched"
        return "inconclusive", "holds as reported; matched comparison not run"
    if states["matched"] == "holds" and _list_not_run(of_role["matched"]):
        return "inconclusive", "holds as reported; a matched comparison was not run"
    return OF_MATCHED[states["matched"]], ""


def _list_not_run(tests: list[Tested]) -> list[str]:
    """Return the comparisons that are missing under every measure."""
    made = {test.asked["name"] for test in tests if test.state != "missing"}
    return [name for name in dict.fromkeys(test.asked["name"] for test in tests) if name not in made]


def _explain_undecided(states: dict[str, str], of_role: dict[str, list[Tested]]) -> str:
    """Return which comparisons left a claim open: those that disagree, or those that decide nothing."""
    role = next(role for role in ROLES if states[role] == "unclear")
    by_name = group_by(of_role[role], lambda test: test.asked["name"])
    counts = {name: _count([test.state for test in tests], IN_WORDS) for name, tests in by_name.items()}
    found = {test.state for test in of_role[role]}
    verb = "disagree" if {"holds", "gone"} <= found else "do not decide it"
    return f"the {role} comparisons {verb} ({'; '.join(f'{name}: {n}' for name, n in counts.items())})"


def _list_missing(tests: list[Tested]) -> list[str]:
    """Return the distinct reasons for which comparisons are missing."""
    return list(dict.fromkeys(test.found.reason for test in tests if test.state == "missing"))


def _count(states: list[str], words: dict[str, str] | None = None) -> str:
    """Return how many comparisons are in each state, with other words for the states where some are given."""
    return ", ".join(
        f"{states.count(state)} {(words or {}).get(state, state)}" for state in OF_STATE if state in states
    )


def _join_names(names: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(names))


def _to_numbers(test: Tested) -> dict:
    """Return the numbers of a test and what they measure."""
    numbers = {key: getattr(test.found, key) for key in ("effect", "low", "high", "detectable", "n")}
    return numbers | {key: test.asked[key] for key in ("role", "metric", "scope")} | {"p": test.p}


def _to_row(test: Tested) -> dict:
    about = {"claim": test.claim["id"], "corpus": test.corpus, "comparison": test.asked["name"]}
    about |= {"verdict": OF_STATE[test.state], "evidence": " ".join(test.found.evidence)}
    return _to_numbers(test) | about | {"reason": test.found.reason or _explain_unclear(test)}


def _explain_unclear(test: Tested) -> str:
    """Return why an interval decides nothing; nothing for one that does."""
    asked = test.asked
    if test.state != "unclear":
        return ""
    if "bound" in asked:
        return f"the interval spans a bound of +-{asked['bound']:g}"
    if test.found.low > asked["at_least"]:
        return f"the corrected p is not below {ALPHA:g}"
    return f"the interval lies neither above {asked['at_least']:g} nor below {asked['negligible']:g}"


def _decide_overall(claim: dict, verdicts: list[dict]) -> dict:
    """Return the overall row: what all tested corpora agree on, else inconclusive with the counts."""
    decided = {row["verdict"] for row in verdicts} - {"not tested"}
    reason = ", ".join(f"{row['corpus']} {row['verdict']}" for row in verdicts)
    verdict = decided.pop() if len(decided) == 1 else "inconclusive" if decided else "not tested"
    if verdict == "inconclusive":
        reason = "; ".join([reason, *_share_reasons(verdicts)])
    if verdict == "not tested":
        reason = claim.get("absent", reason or f"no rows in {RULES[claim['rule']].table}.csv")
    about = {"claim": claim["id"], "corpus": OVERALL, "comparison": VERDICT, "verdict": verdict}
    about |= {"evidence": _join_names(name for row in verdicts for name in row["evidence"].split())}
    return _pool([row for row in verdicts if "effect" in row]) | about | {"reason": reason}


def _share_reasons(verdicts: list[dict]) -> list[str]:
    """Return why corpora are undecided, those with one reason together."""
    undecided = [row for row in verdicts if row["because"]]
    corpora = group_by(undecided, lambda row: row["because"])
    if len(corpora) == 1 and len(undecided) == len(verdicts):
        return list(corpora)
    return [
        f"on {' and '.join(row['corpus'] for row in rows)} {because}" for because, rows in corpora.items()
    ]


def _pool(rows: list[dict]) -> dict:
    """Return the mean effect over corpora, the widest interval, the largest p and detectable effect, and all n."""
    if not rows:
        return {"n": 0}
    table = pd.DataFrame(rows)
    numbers = {"effect": table["effect"].mean(), "low": table["low"].min(), "high": table["high"].max()}
    largest = {key: table[key].astype(float).max() for key in ("p", "detectable")}
    same = {key: rows[0][key] for key in ("role", "metric", "scope")}
    return numbers | largest | {"n": int(table["n"].sum())} | same
