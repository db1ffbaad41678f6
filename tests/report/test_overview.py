"""The tables on all studies show what was trained most often, and count a claim's outcomes as what the claim says."""

import pandas as pd
import pytest

from mlm_vs_clm.analysis.answers import ALL
from mlm_vs_clm.report.overview import count_claims, judge_side, list_comparisons, tabulate_evidence

ROW = {
    **{"claim": "C1", "condition": "known length", "corpus": "plots", "outcome": "first better"},
    **{"first": "mlm at random 0.5", "second": "clm at random 0.5", "scope": "document", "metric": "bleu"},
    **{"effect": 2.0, "low": 1.0, "high": 3.0, "runs": 1.0, "reason": "", "needs": ""},
}


def make_study(*changes, tokens=480_000):
    """Return the tables of a study whose answers are ROW, each with its changes."""
    return {
        "answers": pd.DataFrame([ROW | one for one in changes]),
        "training": pd.DataFrame({"objective": ["masked", "causal"], "tokens_seen": [tokens, 480_000]}),
        "sentences": pd.DataFrame(
            [("C1", "Masked is better."), ("C7", "Readers prefer it.")], columns=["claim", "statement"]
        ),
    }


def test_a_condition_that_was_trained_several_times_is_not_shown_from_one_training():
    no_leak = {"condition": "no leak", "second": "seq2seq_kept at random 0.5", "runs": 1.0}
    not_run = {"condition": "left context", "outcome": "not run", "effect": float("nan")}
    studies = {
        "laptop": make_study({}, no_leak, not_run, {"scope": "fills", "metric": "exact_match"}),
        "desk-short_runs": make_study({"runs": 5.0, "effect": 2.5}),
        "desk": make_study(
            {"corpus": "abstracts", "outcome": "arm not competent", "reason": "clm is below"}, tokens=96_000
        ),
        "laptop-domains": make_study({}),
    }
    assert tabulate_evidence(studies).splitlines() == [
        "| condition | first - second | starts from | tokens per arm | trainings | abstracts | plots |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| no leak | mlm - seq2seq_kept | one encoder | 480k | 1 | – | mlm better: +2.0 [+1.0, +3.0] |",
        "| known length | mlm - clm | one encoder | 480k | 5 | – | mlm better: +2.5 [+1.0, +3.0] |",
        "| known length | mlm - clm | one encoder | 96k to 480k | 1 | undecided (clm not competent): +2.0 [+1.0, +3.0] | – |",
    ]


def test_claims_are_counted_study_by_study_and_one_that_was_not_run_says_what_it_needs():
    readers = {"claim": "C7", "outcome": "not run", "needs": "raters"}
    pooled = {"corpus": ALL, "outcome": "corpora differ"}
    equal, reversed_ = (
        {"corpus": "abstracts", "outcome": "equal"},
        {"corpus": "speeches", "outcome": "second better"},
    )
    studies = {
        "laptop": make_study({}, equal, reversed_, pooled, readers),
        "desk": make_study({"outcome": "arm not competent", "effect": 1.0}, readers),
    }
    assert count_claims(studies).splitlines()[2:] == [
        "| C1 Masked is better. | laptop | 1 | 2 | 0 |",
        "|  | desk | 0 | 0 | 1 |",
        "| C7 Readers prefer it. | not run, needs raters | – | – | – |",
    ]


@pytest.mark.parametrize(
    ("claim", "condition", "first", "outcome", "side"),
    [
        ("C1", "no leak", "mlm", "first better, within the margin", "otherwise"),
        ("C3", "masked half", "mlm at punctuation 1", "second better", "as stated"),
        ("C3", "masked half", "mlm at punctuation 1", "first better", "otherwise"),
        ("C3", "causal half", "clm at punctuation 1", "first better", "as stated"),
        ("C4", "masked: domain against elsewhere", "mlm", "first better, within the margin", "as stated"),
        ("C4", "masked: domain against elsewhere", "mlm", "first better", "otherwise"),
        ("C5", "over corruption levels", "quality", "no strong correlation", "as stated"),
        ("C5", "at the same corruption", "quality", "rises with quality", "otherwise"),
        ("C6", "above the floors", "mlm", "yes", "as stated"),
        ("C6", "above the floors", "mlm", "not settled", "undecided"),
        ("C8", "at equal documents", "mlm", "depends on the masking", "undecided"),
        ("C8", "at equal quality", "mlm", "first better", "otherwise"),
    ],
)
def test_an_outcome_is_counted_as_what_its_claim_says(claim, condition, first, outcome, side):
    row = pd.Series({"claim": claim, "condition": condition, "first": first, "outcome": outcome})
    assert judge_side(row) == side


def test_a_comparison_is_counted_once_and_rows_that_do_not_ask_the_claim_are_not():
    at_entities = {"claim": "C3", "condition": "masked half", "first": "mlm at entities 1"}
    at_punctuation = at_entities | {"first": "mlm at punctuation 1", "outcome": "second better"}
    floors = {"claim": "C6", "condition": "above the floors", "outcome": "yes"}
    hidden = floors | {"condition": "entities hidden: against floors"}
    once = {"effect": 0.5}
    told = [("C1", "One."), ("C3", "Two."), ("C6", "Three.")]
    studies = {
        "laptop": make_study(once, at_entities, at_punctuation, floors, hidden),
        "desk-short_runs": make_study({"effect": 2.5}),
        "laptop-orders": make_study(once, floors | {"effect": 1.0}),
    }
    studies["laptop"]["sentences"] = pd.DataFrame(told, columns=["claim", "statement"])
    assert len(list_comparisons(studies)) == 5
    assert count_claims(studies).splitlines()[2:] == [
        "| C1 One. | desk-short_runs | 1 | 0 | 0 |",
        "| C3 Two. | laptop: worst for masked | 1 | 0 | 0 |",
        "| C6 Three. | laptop: usable | 1 | 0 | 0 |",
        "|  | laptop-orders: usable | 1 | 0 | 0 |",
    ]
