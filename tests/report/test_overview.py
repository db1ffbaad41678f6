"""The tables on all studies show what was trained most often, and count a claim's outcomes as what the claim says."""

from types import SimpleNamespace

import pandas as pd
import pytest
from made_cells import RULES

from mlm_vs_clm.evidence.claims import index_conditions
from mlm_vs_clm.report.overview import count_claims, judge_side, list_comparisons, tabulate_evidence

SIDES = ("first", "second")
ROW = {
    **{"claim": "C1", "condition": "known length", "corpus": "plots", "kind": "difference"},
    **{"first_arm": "mlm", "second_arm": "clm", "scope": "document", "metric": "bleu"},
    **{f"{side}_{name}": one for side in SIDES for name, one in (("strategy", "random"), ("ratio", 0.5))},
    **{"effect": 2.0, "low": 1.0, "high": 3.0, "runs": 1.0, "unsure": False, "excluded": "", "needs": ""},
}
AHEAD, BEHIND, SMALL, EQUAL, OPEN = (
    {"status": "made", "direction": direction, "size": size}
    for direction, size in (
        ("first", "outside"),
        ("second", "outside"),
        ("first", "inside the margin"),
        ("none shown", "inside the margin"),
        ("none shown", "not settled"),
    )
)
SILENT, NOT_RUN = ({"status": status, "direction": "", "size": ""} for status in ("not competent", "not run"))
ROW |= AHEAD


def make_study(*changes, tokens=480_000, start="an encoder"):
    """Return the tables of a study whose answers are ROW, each with its changes."""
    return {
        "study": pd.DataFrame([{"starts_from": start}]),
        "answers": pd.DataFrame([ROW | one for one in changes]),
        "training": pd.DataFrame(
            {"objective": ["mlm", "clm"], "model": "minilm", "tokens_seen": [tokens, 480_000]}
        ),
    }


def pick_rules(**statements):
    """Return the rules of some claims, with other statements."""
    return [rule | {"statement": statements[rule["id"]]} for rule in RULES if rule["id"] in statements]


def test_a_condition_that_was_trained_several_times_is_not_shown_from_one_training():
    no_leak = {"condition": "no leak", "second_arm": "seq2seq_kept", "runs": 1.0}
    not_run = {"condition": "left context", "effect": float("nan")} | NOT_RUN
    studies = {
        "evening": make_study({}, no_leak, not_run, {"scope": "fills", "metric": "exact_match"}),
        "laptop-long_runs": make_study({"runs": 5.0, "effect": 2.5}),
        "desk": make_study({"corpus": "abstracts", "excluded": "clm"} | SILENT, tokens=96_000),
        "evening-domains": make_study({}),
    }
    assert tabulate_evidence(studies, RULES).splitlines() == [
        "| condition | first - second | starts from | tokens per arm | trainings | abstracts | plots |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| no leak | mlm - seq2seq_kept | an encoder (minilm) | 480k | 1 | – | mlm +2.0 [+1.0, +3.0] |",
        "| known length | mlm - clm | an encoder (minilm) | 480k | 5 | – | mlm +2.5 [+1.0, +3.0] |",
        "| known length | mlm - clm | an encoder (minilm) | 96k to 480k | 1 | undecided +2.0 [+1.0, +3.0] | – |",
    ]


def test_claims_are_counted_study_by_study_and_one_that_was_not_run_says_what_it_needs():
    readers = {"claim": "C7", "needs": "raters"} | NOT_RUN
    equal, reversed_ = {"corpus": "abstracts"} | EQUAL, {"corpus": "speeches"} | BEHIND
    studies = {
        "evening": make_study({}, equal, reversed_, readers),
        "desk": make_study({"effect": 1.0} | SILENT, readers),
    }
    rules = pick_rules(C1="Masked is better.", C7="Readers prefer it.")
    assert count_claims(studies, rules).splitlines()[2:] == [
        "| C1 Masked is better. | evening | 1 | 2 | 0 |",
        "|  | desk | 0 | 0 | 1 |",
        "| C7 Readers prefer it. | not run, needs raters | – | – | – |",
    ]


@pytest.mark.parametrize(
    ("claim", "condition", "kind", "verdict", "side"),
    [
        ("C1", "no leak", "difference", SMALL, "otherwise"),
        ("C3", "masked half", "difference", BEHIND, "as stated"),
        ("C3", "masked half", "difference", AHEAD, "otherwise"),
        ("C3", "causal half", "difference", AHEAD, "as stated"),
        ("C4", "masked: domain against elsewhere", "difference", SMALL, "as stated"),
        ("C4", "masked: domain against elsewhere", "difference", AHEAD, "otherwise"),
        ("C5", "over corruption levels", "spearman", EQUAL, "as stated"),
        ("C5", "at the same corruption", "slope_at_same_masking", AHEAD, "otherwise"),
        ("C6", "above the floors", "at least", AHEAD, "as stated"),
        ("C6", "above the floors", "at least", OPEN, "no answer"),
        ("C8", "at equal documents", "cost", OPEN, "no answer"),
        ("C8", "at equal quality", "difference", AHEAD, "otherwise"),
        ("C9", "known length", "difference", BEHIND, "as stated"),
        ("C6", "above the floors", "at least", SMALL, "as stated"),
    ],
)
def test_an_outcome_is_counted_as_what_its_claim_says(claim, condition, kind, verdict, side):
    row = SimpleNamespace(claim=claim, condition=condition, kind=kind, **verdict)
    assert judge_side(row, index_conditions(RULES)) == side


def test_a_comparison_is_counted_once_and_rows_that_do_not_ask_the_claim_are_not():
    at_entities = {"claim": "C3", "condition": "masked half", "first_strategy": "entities"}
    at_punctuation = at_entities | {"first_strategy": "punctuation"} | BEHIND
    floors = {"claim": "C6", "condition": "above the floors", "kind": "at least"}
    hidden = floors | {"condition": "entities hidden: against floors"}
    once = {"effect": 0.5}
    studies = {
        "evening": make_study(once, at_entities, at_punctuation, floors, hidden),
        "laptop-long_runs": make_study({"effect": 2.5, "runs": 5.0}),
        "evening-orders": make_study(once, floors | {"effect": 1.0}),
    }
    assert len(list_comparisons(studies)) == 5
    assert count_claims(studies, pick_rules(C1="One.", C3="Two.", C6="Three.")).splitlines()[2:] == [
        "| C1 One. | laptop-long_runs | 1 | 0 | 0 |",
        "| C3 Two. | evening: worst for masked | 1 | 0 | 0 |",
        "| C6 Three. | evening: usable | 1 | 0 | 0 |",
        "|  | evening-orders: usable | 1 | 0 | 0 |",
    ]
