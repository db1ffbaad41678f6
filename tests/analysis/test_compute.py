"""Costs worked by hand, and equal to the ledgers of the engines; equal compute read off two runs of a method."""

import numpy as np
import pytest
import tiny_models

from mlm_vs_clm.analysis.cells import Cell
from mlm_vs_clm.analysis.equal_compute import (
    BASES,
    PARTS,
    Run,
    average_costs,
    compare_at_equal_compute,
    find_mix,
    fit_growth,
    name_family,
)
from mlm_vs_clm.analysis.gap import MEASURES, compare_text
from mlm_vs_clm.fill import fill_causal, fill_infill, fill_masked
from mlm_vs_clm.models.sizes import count_parameters
from mlm_vs_clm.pipeline.document_costs import (
    DocumentCost,
    Sizes,
    add_up,
    cost_documents,
    explain_unknown,
    open_sizes,
    tokenize_blanked,
)


def priced(n=12, power=2.0, subwords=None):
    lengths = subwords or [100 + 10 * i for i in range(n)]
    return [DocumentCost(f"d{i}", s, s, s, round(3 * s**power)) for i, s in enumerate(lengths)]


def run(arm, flops, correct, family="m", n=40):
    """A run whose every document restores `correct` of 10 blanks, so that its exact match is correct / 10."""
    rows = np.tile([float(correct), 10.0], (n, 1))
    bleu = np.full((n, 10), 5.0)
    statistics = {("fills", "exact_match"): rows, ("document", "bertscore"): rows, ("document", "bleu"): bleu}
    return Run(arm, family, flops, statistics, [f"d{i}" for i in range(n)])


def exact(rows, step, basis):
    wanted = {"step": step, "basis": basis, "metric": "exact_match"}
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def test_a_cost_that_grows_with_the_square_has_the_power_two():
    found = fit_growth(priced(power=2.0), "flops", 200)
    assert found["value"] == pytest.approx(2, abs=1e-4) and found["low"] <= 2.0001 and found["n"] == 12
    assert fit_growth(priced(power=1.0), "flops", 200)["value"] == pytest.approx(1, abs=1e-6)


def test_the_slope_equals_numpys_polyfit():
    rng = np.random.default_rng(0)
    costs = [
        DocumentCost(f"d{i}", s, 1, 1, int(s * rng.integers(50, 99))) for i, s in enumerate(range(60, 90))
    ]
    by_numpy = np.polyfit(np.log([c.subwords for c in costs]), np.log([c.flops for c in costs]), 1)[0]
    assert fit_growth(costs, "flops", 50)["value"] == pytest.approx(by_numpy)


def test_growth_is_missing_with_a_reason_for_few_documents_and_for_one_length():
    assert "3 documents cost anything, 10 are needed" in fit_growth(priced(3), "flops", 50)["reason"]
    alike = fit_growth(priced(subwords=[100] * 12), "flops", 50)
    assert np.isnan(alike["value"]) and alike["reason"] == "the documents are all of one length"


def test_thirds_by_length_are_means_of_their_own_documents():
    whole, shortest, middle, longest = average_costs(priced(6, 1.0))
    assert [row["part"] for row in (whole, shortest, middle, longest)] == list(PARTS)
    assert (shortest["subwords"], middle["subwords"], longest["subwords"]) == (105, 125, 145)
    assert whole["flops"] == pytest.approx(3 * 125) and longest["documents"] == 2
    assert [row["part"] for row in average_costs(priced(1))] == [PARTS[0]]
    assert average_costs([]) == []


def test_at_equal_compute_the_score_lies_between_the_nearest_runs_in_log_flops():
    runs = [run("mlm_parallel", 1e9, 2), run("mlm", 4e9, 6), run("clm", 2e9, 3, "c")]
    rows = compare_at_equal_compute("abstracts", runs, 50)
    assert exact(rows, "known length", BASES[0])["value"] == pytest.approx(0.6 - 0.3)
    halfway = exact(rows, "known length", BASES[1])
    assert halfway["value"] == pytest.approx(0.4 - 0.3) and halfway["flops_first"] == 2e9
    assert halfway["low"] is None and "does not vary over units" in halfway["reason"]
    assert "clm was run at one cost alone (2 GFLOPs" in exact(rows, "known length", BASES[2])["reason"]
    assert exact(rows, "left context", BASES[0])["reason"] == "not made: mlm_left"
    assert len(rows) == 5 * len(MEASURES) * len(BASES)


def test_at_equal_documents_the_interval_is_that_of_the_gap():
    rng = np.random.default_rng(1)
    runs = [run("mlm", 4e9, 6), run("clm", 2e9, 3, "c")]
    for one in runs:
        one.statistics["fills", "exact_match"][:, 0] += rng.integers(-2, 3, 40)
    made = exact(compare_at_equal_compute("abstracts", runs, 300), "known length", BASES[0])
    cells = [Cell(one.arm, 0, one.statistics, one.units) for one in runs]
    gap = exact([row | {"basis": ""} for row in compare_text("abstracts", cells, 300)], "known length", "")
    assert [made[key] for key in ("value", "low", "high", "n")] == pytest.approx(
        [gap[key] for key in ("value", "low", "high", "n")]
    )


def test_one_document_or_a_score_defined_nowhere_is_missing():
    alone = [run("mlm", 4e9, 6, n=1), run("clm", 2e9, 3, "c", n=1)]
    told = exact(compare_at_equal_compute("abstracts", alone, 50), "known length", BASES[0])["reason"]
    assert told == "defined for 1 of the units, two are needed"
    alone[0].statistics["fills", "exact_match"][:] = np.nan
    told = exact(compare_at_equal_compute("abstracts", alone, 50), "known length", BASES[0])["reason"]
    assert told == "defined for 0 of the units, two are needed"


def test_a_cost_outside_the_runs_of_a_method_is_missing_on_either_side():
    family = [run("mlm_parallel", 2e9, 2), run("mlm", 4e9, 6), run("mlm_leaky", 1e9, 9, "leaky")]
    assert "1 GFLOPs a document is less than any run of mlm's method" in find_mix(family[1], 1e9, family)[1]
    assert "is more than any run" in find_mix(family[1], 5e9, family)[1]
    mix, reason = find_mix(family[1], 4e9, family)
    assert not reason and [(r.arm, w) for r, w in mix] == [("mlm", 1.0)]


def test_a_family_shares_all_but_order_and_pace():
    one = {"name": "mlm", "writer": "masked", "context": "both", "order": "random", "per_pass": 16, "seed": 0}
    assert name_family(one) == name_family(one | {"name": "mlm_parallel", "order": "parallel", "per_pass": 1})
    assert name_family(one) != name_family(one | {"context": "leaky"})
    assert name_family(one) != name_family(one | {"temperature": 1.0})


ARM = {"writer": "masked", "context": "both", "length": "known", "order": "random", "per_pass": 2, "seed": 3}


def test_why_a_document_has_no_cost_by_rule():
    assert explain_unknown(ARM) == ""
    assert "writer seq2seq" in explain_unknown(ARM | {"writer": "seq2seq"})
    assert "how many sub-words" in explain_unknown(ARM | {"length": "free"})
    assert "certainty" in explain_unknown(ARM | {"threshold": 0.9})


ORDERS_WITHOUT_DRAWS = ("left_to_right", "random", "parallel", "spread", "confidence", "entropy")


@pytest.mark.parametrize(
    "arm",
    [
        *(ARM | {"order": order} for order in ORDERS_WITHOUT_DRAWS),
        ARM | {"length": "one"},
        ARM | {"order": "mask_predict", "passes": 3, "per_pass": 1},
        ARM | {"context": "leaky", "order": "spread"},
        ARM | {"context": "left", "order": "left_to_right", "per_pass": 1},
    ],
    ids=lambda arm: f"{arm['context']}-{arm['order']}-{arm['length']}",
)
def test_the_rule_adds_up_to_the_ledger_of_a_masked_arm(arm, start, tokenizer, texts):
    blanked = make_blanks(texts)
    axes = {key: value for key, value in arm.items() if key != "writer"}
    _, ledger = fill_masked(start, tokenizer, blanked, **axes)
    costs = cost_documents(arm, tokenize_blanked(arm, blanked, tokenizer), sizes_of(start))
    assert add_up(costs) == {key: getattr(ledger, key) for key in ("passes", "token_forwards", "flops")}


def test_the_rule_adds_up_to_the_ledger_of_the_causal_arms(causal_model, tokenizer, texts):
    for writer, fill in (("causal", fill_causal), ("infill", fill_infill)):
        blanked = [*make_blanks(texts), tiny_models.blank("nothing hidden here", [], "none")]
        _, ledger = fill(causal_model, tokenizer, blanked)
        arm = ARM | {"writer": writer, "order": "left_to_right"}
        costs = cost_documents(arm, tokenize_blanked(arm, blanked, tokenizer), sizes_of(causal_model))
        assert add_up(costs) == {key: getattr(ledger, key) for key in ("passes", "token_forwards", "flops")}


def make_blanks(texts):
    return [tiny_models.blank(text, [0, 2, 3, 5], f"d{i}") for i, text in enumerate(texts[:4])]


def sizes_of(model):
    return Sizes(model, count_parameters(model))


def test_a_network_is_known_by_its_shape_alone(start, tmp_path):
    start.save_pretrained(tmp_path)
    opened = open_sizes(tmp_path, "masked")
    assert opened.parameters == count_parameters(start)
    assert all(parameter.is_meta for parameter in opened.model.parameters())
