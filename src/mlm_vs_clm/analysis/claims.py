"""From rows to verdicts: the claims of the paper, each decided by a rule that was written before the run."""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from ..errors import StudyError
from ..stats import holm
from .claim_evidence import Stored, Study
from .claim_rules import ALPHA, FEWEST_UNITS, RULES, SWAPS_PER_RESAMPLE, Found

VERSION = 2  # raised when the code comes to decide the same rules otherwise
COLUMNS = (
    "claim corpus comparison role metric scope verdict effect low high p detectable n reason evidence"
).split()
OVERALL, VERDICT = "overall", "verdict"
ROLES = ("reported", "matched", "partly matched")
KEYS = ("id", "statement", "source", "family", "rule", "measures", "mixed")
OF_STATE = {
    "holds": "supported",
    "gone": "contradicted",
    "unclear": "inconclusive",
    "missing": "not tested",
}
IN_WORDS = {"holds": "for it", "gone": "against it", "unclear": "undecided", "missing": "missing"}
OF_MATCHED = {  # the verdict where what was reported holds
    "holds": "supported",
    "gone": "explained",
    "unclear": "inconclusive",
}


@dataclass(frozen=True)
class Test:
    """One comparison of a claim on one corpus: what was asked, found (p corrected), and what that says."""

    __test__ = False  # not one of pytest's

    claim: dict
    corpus: str
    asked: dict
    found: Found
    p: float
    state: str


def load_rules(path: Path) -> list[dict]:
    """Return the claims of `conf/claims.yaml`; raises StudyError for a rule that nothing decides."""
    rules = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    for rule in rules:
        absent = [key for key in KEYS if key not in rule]
        if absent:
            raise StudyError(f"{path}: claim {rule.get('id', '?')} has no {absent[0]}: add it")
        if rule["rule"] not in RULES:
            known = ", ".join(RULES)
            raise StudyError(f"{path}: claim {rule['id']}: rule {rule['rule']} is unknown: choose {known}")
    return rules


def hash_rules(rules: list[dict]) -> str:
    """Return 12 hex digits that change with any rule, with the thresholds of the code and with VERSION."""
    fixed = {"alpha": ALPHA, "fewest_units": FEWEST_UNITS, "swaps": SWAPS_PER_RESAMPLE, "version": VERSION}
    parts = json.dumps({"rules": rules} | fixed, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(parts.encode()).hexdigest()[:12]


def decide(
    rules: list[dict],
    tables: dict[str, pd.DataFrame],
    read: Callable[[str], Stored],
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Return COLUMNS: for each claim an `overall` row, one a corpus (comparison `verdict`), and its comparisons.

    tables: scores, downstream, correlation, ledger as the report reads them, and `ratings` (corpus, arm, document,
    question, rating) once there are some; each may be empty or absent. read(artifact) gives what lies behind a
    row. An effect is in the units of its metric and positive where it speaks for the claim (a correlation is itself);
    `p` is Holm's over all comparisons of the claim's family. A verdict shows the effect of its first comparison that
    was measured; the overall row the mean over corpora, from the lowest low to the highest high, with the largest p.
    With few resamples nothing is significant: p is at least 1 / (resamples + 1) before correction.
    """
    study = Study(tables, cache(read), resamples, seed)
    measured = [(claim, corpus, *one) for claim in rules for corpus, one in _measure(claim, study)]
    tests = _judge(measured)
    rows = []
    for claim in rules:
        of_claim = [test for test in tests if test.claim["id"] == claim["id"]]
        corpora = sorted({test.corpus for test in of_claim})
        parts = {name: [test for test in of_claim if test.corpus == name] for name in corpora}
        verdicts = [_decide_corpus(claim, corpus, part) for corpus, part in parts.items()]
        rows += [_decide_overall(claim, verdicts)]
        for verdict in verdicts:
            rows += [verdict, *map(_to_row, parts[verdict["corpus"]])]
    return pd.DataFrame(rows, columns=COLUMNS)


def _measure(claim: dict, study: Study):
    """Yield (corpus, (asked, found)) for every comparison; nothing where the claim's table has no rows."""
    rule = RULES[claim["rule"]]
    table = study.tables.get(rule.table, pd.DataFrame())
    if table.empty:
        return
    if "task" in claim:
        table = table[table["task"] == claim["task"]]
    for corpus in sorted(set(table["corpus"]) - {OVERALL}):
        for one in rule.measure(claim, corpus, study):
            yield corpus, one


def _judge(measured: list[tuple[dict, str, dict, Found]]) -> list[Test]:
    """Return the tests with the p-values of each family corrected together."""
    families = [claim["family"] for claim, *_ in measured]
    raw, corrected = np.array([found.p for *_, found in measured]), np.full(len(measured), np.nan)
    for family in set(families):
        members = [i for i, name in enumerate(families) if name == family]
        corrected[members] = holm(raw[members])
    return [
        Test(claim, corpus, asked, found, float(p), _find_state(claim, asked, found, p))
        for (claim, corpus, asked, found), p in zip(measured, corrected, strict=True)
    ]


def _find_state(claim: dict, asked: dict, found: Found, p: float) -> str:
    if np.isnan(found.effect):
        return "missing"
    return "unclear" if found.reason else RULES[claim["rule"]].judge(asked, found, p)


def _decide_corpus(claim: dict, corpus: str, tests: list[Test]) -> dict:
    """Return the verdict row of one corpus."""
    of_role = {role: [test for test in tests if test.asked["role"] == role] for role in ROLES}
    states = {role: _combine([test.state for test in part], claim["mixed"]) for role, part in of_role.items()}
    verdict, because = _find_verdict(states, of_role, claim["mixed"])
    if verdict == "inconclusive" and not because:
        because = _tell_undecided(states, of_role)
    counts = [f"{role}: {_count([test.state for test in part])}" for role, part in of_role.items() if part]
    shown = next((test for test in of_role["reported"] if test.state != "missing"), None)
    numbers = _show(shown) if shown else {"n": 0}
    reasons = [because, *counts, *_list_missing(tests)]
    if verdict == "not tested" and "absent" in claim:
        reasons.insert(0, claim["absent"])
    evidence = " ".join(dict.fromkeys(name for test in tests for name in test.found.evidence))
    about = {"claim": claim["id"], "corpus": corpus, "comparison": VERDICT, "verdict": verdict}
    told = {"reason": "; ".join(filter(None, reasons)), "because": because, "evidence": evidence}
    return numbers | about | told


def _combine(states: list[str], mixed: str) -> str:
    """Return what the comparisons of a role say together.

    Those that are missing say nothing; but where a claim asserts each of them, it does not hold without them.
    """
    told = set(states) - {"missing"}
    if told == {"holds"} and mixed == "gone" and "missing" in states:
        return "unclear"
    if len(told) > 1:
        return mixed if "gone" in told else "unclear"
    return told.pop() if told else "missing"


def _find_verdict(states: dict[str, str], of_role: dict[str, list[Test]], mixed: str) -> tuple[str, str]:
    """Return the verdict and, where it is not plain from the counts, why.

    A reported comparison that was made under no measure leaves a claim open, unless another one settles it alone.
    """
    unmade = _list_unmade(of_role["reported"])
    if unmade and (states["reported"] == "holds" or (states["reported"] == "gone" and mixed != "gone")):
        said = "comparison {} was" if len(unmade) == 1 else "comparisons {} were"
        return "inconclusive", f"the {said} not made".format(" and ".join(unmade))
    if states["reported"] != "holds":
        return OF_STATE[states["reported"]], ""
    if not of_role["matched"]:
        return "supported", ""
    if states["matched"] == "missing":
        if states["partly matched"] == "gone":
            return "explained", "gone where a part of the advantage is matched"
        return "inconclusive", "true as reported, but the matched comparison was not made"
    if states["matched"] == "holds" and _list_unmade(of_role["matched"]):
        return "inconclusive", "true as reported, but a matched comparison was not made"
    return OF_MATCHED[states["matched"]], ""


def _list_unmade(tests: list[Test]) -> list[str]:
    """Return the comparisons that are missing under every measure."""
    made = {test.asked["name"] for test in tests if test.state != "missing"}
    return [name for name in dict.fromkeys(test.asked["name"] for test in tests) if name not in made]


def _tell_undecided(states: dict[str, str], of_role: dict[str, list[Test]]) -> str:
    """Return, in words, which comparisons left a claim open: those that disagree, or those that decide nothing."""
    role = next(role for role in ROLES if states[role] == "unclear")
    told: dict[str, list[str]] = {}
    for test in of_role[role]:
        told.setdefault(test.asked["name"], []).append(IN_WORDS[test.state])
    names = "; ".join(f"{name}: {_count(found, IN_WORDS.values())}" for name, found in told.items())
    found = {test.state for test in of_role[role]}
    said = "point both ways" if {"holds", "gone"} <= found else "do not decide it"
    return f"the {role} comparisons {said} ({names})"


def _list_missing(tests: list[Test]) -> list[str]:
    """Return the distinct reasons for which comparisons are missing."""
    return list(dict.fromkeys(test.found.reason for test in tests if test.state == "missing"))


def _count(states: list[str], known: Iterable[str] = tuple(OF_STATE)) -> str:
    return ", ".join(f"{states.count(state)} {state}" for state in known if state in states)


def _show(test: Test) -> dict:
    """Return the numbers of a test and what they measure."""
    found = test.found
    numbers = {key: getattr(found, key) for key in ("effect", "low", "high", "detectable", "n")}
    about = {"role": test.asked["role"], "metric": test.asked["metric"], "scope": test.asked["scope"]}
    return numbers | about | {"p": test.p}


def _to_row(test: Test) -> dict:
    names = {"claim": test.claim["id"], "corpus": test.corpus, "comparison": test.asked["name"]}
    evidence = " ".join(test.found.evidence)
    return (
        _show(test)
        | names
        | {
            "verdict": OF_STATE[test.state],
            "reason": test.found.reason or _tell_unclear(test),
            "evidence": evidence,
        }
    )


def _tell_unclear(test: Test) -> str:
    """Return why an interval decides nothing; nothing for one that does."""
    if test.state != "unclear":
        return ""
    if "bound" in test.asked:
        return f"the interval spans a bound of +-{test.asked['bound']:g}"
    if test.found.low > test.asked["at_least"]:
        return f"the corrected p is not below {ALPHA:g}"
    return (
        f"the interval lies neither above {test.asked['at_least']:g} nor below {test.asked['negligible']:g}"
    )


def _decide_overall(claim: dict, verdicts: list[dict]) -> dict:
    """Return the overall row: what all tested corpora agree on, else inconclusive with the counts."""
    told = [row["verdict"] for row in verdicts if row["verdict"] != "not tested"]
    agreed = set(told)
    verdict = "not tested" if not told else told[0] if len(agreed) == 1 else "inconclusive"
    reason = ", ".join(f"{row['corpus']} {row['verdict']}" for row in verdicts)
    if verdict == "inconclusive":
        reason = "; ".join([reason, *_share_reasons(verdicts)])
    if not told:
        reason = claim.get("absent", reason or f"no rows in {RULES[claim['rule']].table}.csv")
    about = {"claim": claim["id"], "corpus": OVERALL, "comparison": VERDICT, "verdict": verdict}
    evidence = " ".join(dict.fromkeys(name for row in verdicts for name in row["evidence"].split()))
    return (
        _pool([row for row in verdicts if "effect" in row])
        | about
        | {
            "reason": reason,
            "evidence": evidence,
        }
    )


def _share_reasons(verdicts: list[dict]) -> list[str]:
    """Return why corpora are undecided, those with one reason together."""
    corpora: dict[str, list[str]] = {}
    for row in verdicts:
        if row["because"]:
            corpora.setdefault(row["because"], []).append(row["corpus"])
    if len(corpora) == 1 and len(verdicts) == len(*corpora.values()):
        return list(corpora)
    return [f"on {' and '.join(names)} {because}" for because, names in corpora.items()]


def _pool(rows: list[dict]) -> dict:
    """Return the mean effect over corpora, the widest interval, the largest p and detectable effect, and all n."""
    if not rows:
        return {"n": 0}
    table = pd.DataFrame(rows)
    numbers = {"effect": table["effect"].mean(), "low": table["low"].min(), "high": table["high"].max()}
    largest = {key: table[key].astype(float).max() for key in ("p", "detectable")}
    same = {key: rows[0][key] for key in ("role", "metric", "scope")}
    return numbers | largest | {"n": int(table["n"].sum())} | same
