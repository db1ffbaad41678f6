"""Sentences say what the rows say, and nothing where there are none."""

import pandas as pd
from fake_tables import tidy_fakes

from mlm_vs_clm.evidence.equal_compute import BASES
from mlm_vs_clm.report import sentences
from mlm_vs_clm.report.style import Study

STUDY = Study("smoke", ("random", 0.5))
NAMES = {"comparison": "known length", "first": "mlm", "second": "clm"}
MADE = {"status": "made", "direction": "first", "size": "outside"}


def test_utility_is_told_by_its_paired_difference_and_by_what_both_texts_are_worth():
    rows = [NAMES | {"metric": "f1", "corpus": "a", "value": 0.02, "low": 0.01, "high": 0.03} | MADE]
    rows.append(rows[0] | {"corpus": "b", "value": None, "reason": "not run: clm"})
    rows.append(rows[0] | {"corpus": "c", "status": "not competent"})
    rows.append(rows[0] | {"corpus": "d", "status": "no room"})
    cell = {"strategy": "random", "ratio": 0.5, "corpus": "a", "low": 0.0, "high": 1.0}
    shares = {"mlm": 0.2, "clm": 0.1, "constant": 0.4, "unigram": 0.3, "infill": 0.9}
    headroom = pd.DataFrame([cell | {"trained_on": arm, "value": value} for arm, value in shares.items()])
    told = sentences.describe_utility(pd.DataFrame(rows), headroom, STUDY)
    value = "+0.020 [+0.010, +0.030]"
    assert f"a (F1) mlm ahead, {value}, outside the margin; b (F1) missing: not run: clm; c (F1)" in told
    assert f"undecided (arm not competent), {value}; d (F1) undecided (no room in the task)" in told
    ends = [
        f"{arm} {value:+.2f} [+0.00, +1.00]" for arm, value in (("constant", 0.4), ("mlm", 0.2), ("clm", 0.1))
    ]
    assert told.endswith(f"(real text): a {', '.join(ends)}.")  # the best floor alone, and no other arm
    assert sentences.describe_utility(pd.DataFrame(rows).iloc[:0], headroom, STUDY) == ""


def test_nothing_measured_is_told():
    empty = {name: table.iloc[:0] for name, table in tidy_fakes().items()}
    assert sentences.describe_costs(empty["ledger"], empty["comparisons"], STUDY) == (
        "Quality at equal compute is not known: no arm was run at costs on both sides of the other's.",
    )


def test_costs_are_told_relative_to_the_causal_arm():
    tables = tidy_fakes()
    ratios, equal = sentences.describe_costs(tables["ledger"], tables["comparisons"], STUDY)
    assert "known length (mlm against clm) 3.8 times" in ratios
    assert "all blanks in one pass (mlm_diffusion against clm) 2 times" in ratios
    assert "mlm - clm at the FLOPs of clm: abstracts 0.020 [0.005, 0.035]" in equal


def test_each_difference_stands_under_the_compute_at_which_it_was_read_off():
    about = NAMES | {"metric": "exact_match", "low": 0.0, "high": 1.0, "reason": ""}
    known = [("abstracts", BASES[1], 0.1), ("plots", BASES[2], 0.2), ("plots", BASES[1], 0.3)]
    rows = [about | {"corpus": corpus, "at": basis, "value": value} for corpus, basis, value in known]
    told = sentences.describe_equal_compute(pd.DataFrame(rows))
    at_second, at_first = told.split("mlm - clm at the FLOPs of ")[1:]
    assert at_second.startswith("clm") and "abstracts 0.100" in at_second and "plots 0.300" in at_second
    assert at_first.startswith("mlm") and "plots 0.200" in at_first and "abstracts" not in at_first


def test_more_draws_of_the_blanks_are_named_unless_every_draw_had_a_training_of_its_own():
    tables = tidy_fakes()
    seeds = [
        tables["scores"][tables["scores"]["arm"].isin(["mlm", "clm"])].assign(seed=seed) for seed in (1, 2)
    ]
    tables["scores"] = pd.concat([tables["scores"][tables["scores"]["seed"] == 0], *seeds])
    assert sentences.describe_main_cell(tables, STUDY).endswith("; 3 draws of the blanks for mlm and clm.")
    again = tables["training"].assign(artifact="another")
    tables["training"] = pd.concat([tables["training"], again])
    assert "draws" not in sentences.describe_main_cell(tables, STUDY)
