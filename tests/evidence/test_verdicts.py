"""Verdicts: two words, one family, and no other module that decides."""

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mlm_vs_clm
from mlm_vs_clm.evidence.tables import SEED
from mlm_vs_clm.evidence.verdicts import (
    AT_LEAST,
    CORRELATION,
    COST,
    DIFFERENCE,
    Criterion,
    correct,
    judge,
    judge_table,
    list_margins,
    read_p,
)
from mlm_vs_clm.stats import FEWEST_UNITS

SOURCES = sorted(Path(mlm_vs_clm.__file__).parent.rglob("*.py"))
MAY_DECIDE = ("evidence/verdicts.py", "stats.py")
ENDS = ("low", "high")
NAN = float("nan")


def name_operand(node):
    """Return the name behind an attribute, a name or a subscript with a word."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value
    return getattr(node, "attr", getattr(node, "id", None))


def is_number(node):
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def find_decisions(tree):
    """Return the lines that compare an end of an interval with a number, or correct or bound a p."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(name_operand(side) in ENDS for side in sides) and any(map(is_number, sides)):
                yield node.lineno
        if isinstance(node, ast.Call) and name_operand(node.func) in ("holm", "equivalence"):
            yield node.lineno


def test_the_search_finds_each_form_of_a_decision():
    forms = ("row.low > 0", "0.0 > high", 'rows["high"] < -1', "holm(p)", "stats.equivalence(a, b)")
    assert all(list(find_decisions(ast.parse(form))) for form in forms)
    assert not list(find_decisions(ast.parse("borders[0] > low; rows['low'].min()")))


def test_no_other_module_decides():
    found = {
        f"{path.name}:{line}"
        for path in SOURCES
        if not path.as_posix().endswith(MAY_DECIDE)
        for line in find_decisions(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert not found


@pytest.mark.parametrize(
    ("low", "high", "p", "words"),
    [
        (3.1, 3.8, 0.001, ("first", "outside")),
        (0.1, 0.4, 0.001, ("first", "inside the margin")),
        (-3.8, -0.5, 0.001, ("second", "not settled")),
        (-0.7, -0.1, 0.2, ("none shown", "inside the margin")),  # the family leaves it open
        (1.2, 3.8, 0.2, ("none shown", "not settled")),  # what is not shown is not large
        (NAN, NAN, NAN, ("none shown", "not settled")),
    ],
)
def test_direction_and_size_are_two_words(low, high, p, words):
    verdict = judge(low, high, p, Criterion(1.0))
    assert (verdict.direction, verdict.size) == words


@pytest.mark.parametrize("seed", range(3))
def test_an_equality_does_not_become_easier_with_a_larger_family(seed):
    rng = np.random.default_rng(seed)
    for low, width, p, margin in rng.uniform([-5, 0, 0, 0.1], [5, 5, 0.2, 5], (200, 4)):
        alone, among = (judge(low, low + width, min(1.0, p * n), Criterion(margin)) for n in (1, 20))
        assert (alone.size == "inside the margin") == (among.size == "inside the margin")
        assert among.direction in (alone.direction, "none shown")


def test_few_units_show_nothing_and_counts_need_none():
    assert judge(1, 2, 0.001, Criterion(0.5), FEWEST_UNITS - 1).direction == "none shown"
    assert judge(1, 2, NAN, Criterion(0.5, COST), 2).direction == "first"


@pytest.mark.parametrize(
    ("kind", "interval", "words"),
    [
        (CORRELATION, (0.1, 0.4), ("none shown", "inside the margin")),
        (CORRELATION, (0.55, 0.9), ("first", "outside")),
        (CORRELATION, (-0.9, -0.55), ("second", "outside")),
        (CORRELATION, (0.3, 0.6), ("none shown", "not settled")),
        (COST, (0.55, 0.9), ("first", "outside")),
        (COST, (0.3, 0.6), ("none shown", "not settled")),
        (DIFFERENCE, (0.3, 0.6), ("first", "not settled")),
    ],
)
def test_a_bound_decides_correlations_and_costs(kind, interval, words):
    verdict = judge(*interval, 0.001, Criterion(0.5, kind), 40)
    assert (verdict.direction, verdict.size) == words


@pytest.mark.parametrize(
    ("low", "high", "direction", "size"),
    [
        (0.2, 0.3, "first", "outside"),
        (0.0, 0.05, "second", "inside the margin"),
        (0.05, 0.2, "none shown", None),
    ],
)
def test_at_least_is_asked_of_a_bound(low, high, direction, size):
    verdict = judge(low, high, 0.001, Criterion(0.02, AT_LEAST, 0.1), 40)
    assert verdict.direction == direction and (size is None or verdict.size == size)


ROW = {"corpus": "plots", "comparison": "known length", "first": "mlm", "second": "clm", "scope": "fills"}
ROW |= {"metric": "exact_match", "value": 0.05, "low": 0.01, "high": 0.09, "p": 0.03, "n": 50}
ROW |= {"status": "made", "excluded_because": "", "kind": "text", "at": ""}
ANSWER = {"corpus": "plots", "first_arm": "mlm", "second_arm": "clm", "scope": "fills"}
ANSWER |= {"metric": "exact_match", "effect": 0.05, "p": 0.2, "margin": 0.02, "kind": DIFFERENCE}
MARGINS = {("plots", "fills", name): 0.02 for name in ("exact_match", "exact_match_content")}


def judge_rows(*changes, answers=()):
    columns = list(ANSWER)
    rows = pd.DataFrame([ROW | one for one in changes])
    return judge_table(rows, MARGINS, pd.DataFrame(answers, columns=columns))


def test_what_a_claim_asks_for_has_its_family_and_the_rest_of_a_table_its_own():
    content = {"metric": "exact_match_content"}
    silent = content | {"status": "not competent", "excluded_because": "clm is not above bigram_left"}
    rows = judge_rows({}, content, content | {"corpus": "a", "p": 0.001}, silent, answers=[ANSWER])
    assert rows["p_holm"].tolist() == pytest.approx([0.2, 0.03, 0.002, np.nan], nan_ok=True)
    assert rows["direction"].tolist() == ["none shown", "first", "first", ""]
    assert rows["status"].tolist() == ["made", "made", "made", "not competent"]
    assert judge_rows({})["direction"].tolist() == ["first"]


@pytest.mark.parametrize(
    "nothing",
    [dict.fromkeys(("value", "low", "high", "p"), NAN), dict.fromkeys(("value", "low", "high", "p", "n"))],
)
def test_what_was_not_measured_here_or_nowhere_has_no_words(nothing):
    (row,) = judge_rows(nothing).to_dict("records")
    assert (row["status"], row["direction"], row["size"]) == ("not run", "", "")


def test_margins_are_in_the_unit_of_the_metric_and_as_training_data_shares_of_what_can_be_won():
    place = {"corpus": "plots", "strategy": "random", "ratio": 0.5}
    scores = [
        place | {"scope": scope, "metric": "m", "arm": arm, "value": value}
        for scope in ("document", "fills")
        for arm, value in (("oracle", 100.0), ("unfilled", 20.0))
    ]
    worth = pd.DataFrame({"trained_on": ["real", "majority"], "value": [0.8, 0.3]})
    worth = worth.assign(corpus="plots", metric="f1")
    margins = list_margins(pd.DataFrame(scores), worth, {"m": 1.6}, 0.02)
    expected = {("document", "m"): 1.6, ("fills", "m"): 1.6, ("utility", "f1"): 0.01}
    assert margins == pytest.approx({("plots", *measure): margin for measure, margin in expected.items()})


def test_p_follows_from_the_width_of_an_interval():
    assert read_p(1.959964, 0.0, 2 * 1.959964) == pytest.approx(0.05, abs=1e-4)
    assert read_p(0.0, 0.0, 0.0) == 1 and np.isnan(read_p(NAN, NAN, NAN))
    assert correct([0.01, NAN, 0.04]) == pytest.approx([0.02, NAN, 0.04], nan_ok=True)


def test_a_draw_with_the_value_of_an_answer_keeps_its_own_p():
    """An answer is over all draws; the value of one of them may be equal to its mean."""
    draws = ((value, value - 0.01, value + 0.01) for value in (0.05, 0.06))
    draws = [{"kind": SEED, "value": value, "low": low, "high": high} for value, low, high in draws]
    rows = judge_rows(*draws, answers=[ANSWER | {"p": 0.9}])
    assert (rows["p_holm"] < 0.01).all()
