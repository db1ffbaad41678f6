"""From rows to verdicts: each rule on numbers that can be checked by hand, and missing told as missing."""

import numpy as np
import pandas as pd
import pytest
from made_cells import CLAIMS, COMPARISONS, MAIN
from simulated_claims import ROUGE, Simulated, decide_tables, find_rule, verdict_of, with_ones

from mlm_vs_clm.analysis import claims
from mlm_vs_clm.analysis.claim_rules import RULES, average_f1
from mlm_vs_clm.analysis.claims import COLUMNS, hash_rules, load_rules
from mlm_vs_clm.analysis.tables import OVERALL, VERDICT
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.metrics.bleu import count_ngrams, score_counts
from mlm_vs_clm.stats import holm, paired_randomisation, ratio_of_sums


def spread(centre, n=40, width=0.1):
    """Return n values around a centre, always the same."""
    return with_ones(centre + width * np.sin(np.arange(n) * 2.399))


def make_arms(corpus="plots", n=40, **centres):
    """Return a study in which every arm has scores around its centre, its own ripple on top."""
    made = Simulated()
    add_arms(made, corpus, n, **centres)
    return made


def add_arms(made, corpus, n=40, **centres):
    for place, (arm, centre) in enumerate(centres.items()):
        ripple = 0.005 * np.cos(np.arange(n) * (1 + place))
        rows = spread(centre, n)
        rows[:, 0] += ripple - ripple.mean()
        made.score(corpus, arm, {("document", "rougeL"): rows})


FAR = {"mlm_leaky": 0.8, "mlm": 0.7, "mlm_left": 0.6, "seq2seq_kept": 0.3, "clm": 0.5, "infill": 0.5}


def c1(**changes):
    return find_rule("C1", measures=[ROUGE], **changes)


def test_the_committed_claims_load_and_name_rules_that_exist():
    rules = load_rules(CLAIMS, MAIN)
    assert [rule["id"] for rule in rules] == [f"C{i}" for i in range(1, 9)]
    assert {rule["rule"] for rule in rules} == set(RULES)
    for rule in rules:
        asked = [m | c for m in rule["measures"] for c in rule.get("comparisons", [{}])]
        by_role = rule["rule"] == "no_correlation"
        assert all(by_role or test["role"] in claims.ROLES for test in asked)
        assert all(by_role or test["negligible"] >= test["at_least"] >= 0 for test in asked)


def test_a_claim_with_an_unknown_rule_or_without_a_key_is_one_line(tmp_path):
    path = tmp_path / "claims.yaml"
    text = CLAIMS.read_text()
    path.write_text(text.replace("rule: trend", "rule: trendy"))
    with pytest.raises(StudyError, match="C2: rule trendy is unknown: choose paired"):
        load_rules(path, MAIN)
    path.write_text(text.replace("  mixed: gone\n", "", 1))
    with pytest.raises(StudyError, match="C3 has no mixed"):
        load_rules(path, MAIN)


def test_the_hash_changes_with_a_bound_and_not_with_the_order_of_keys():
    rules = load_rules(CLAIMS, MAIN)
    same = [dict(reversed(rule.items())) for rule in rules]
    assert hash_rules(rules) == hash_rules(same) and len(hash_rules(rules)) == 12
    changed = load_rules(CLAIMS, MAIN)
    changed[0]["measures"][0]["negligible"] = 2.0
    assert hash_rules(changed) != hash_rules(rules)


def test_the_committed_results_were_judged_by_these_rules():
    study = pd.read_csv(CLAIMS.parents[1] / "results" / "laptop" / "study.csv", dtype=str)
    assert hash_rules(load_rules(CLAIMS, MAIN)) == study.loc[0, "rules"] == "ae0af125d23b"


def test_the_main_cell_is_put_into_the_rules_and_nothing_else_changes():
    rules = {rule["id"]: rule for rule in load_rules(CLAIMS, ("random", 0.4))}
    main = {"strategy": "random", "ratio": 0.4}
    assert rules["C1"]["cells"] == rules["C4"]["cells"] == main and rules["C3"]["cells"] == {"ratio": 1.0}
    assert rules["C3"]["comparisons"][2]["second"] == {"arm": "seq2seq_kept"} | main
    assert hash_rules(list(rules.values())) != hash_rules(load_rules(CLAIMS, MAIN))
    assert [(one.name, *one.arms) for one in COMPARISONS][-1] == ("known length", "mlm", "clm")


CASES = {
    "supported": FAR,
    "explained": FAR | {"mlm_left": 0.5, "infill": 0.7},
    "contradicted": FAR | {"mlm_leaky": 0.2, "mlm": 0.25},
}


@pytest.mark.parametrize(("verdict", "centres"), CASES.items())
def test_context_verdicts_of_clear_cases(verdict, centres):
    table = make_arms(**centres).decide([c1()])
    assert verdict_of(table)["verdict"] == verdict_of(table, "plots")["verdict"] == verdict
    assert list(table.columns) == COLUMNS


def test_effect_p_and_evidence_of_a_comparison():
    made = make_arms(**FAR)
    table = made.decide([c1()])
    row = table[table["comparison"] == "left context"].iloc[0]
    values = {
        r["arm"]: made.stored[r["artifact"]].statistics["document", "rougeL"] for r in made.rows["scores"]
    }
    first, second = values["mlm_left"], values["clm"]
    assert row["effect"] == pytest.approx(0.1) and row["n"] == 40 and row["low"] < 0.1 < row["high"]
    tests = table[~table["comparison"].isin([VERDICT])]
    pairs = [(c["first"]["arm"], c["second"]["arm"]) for c in c1()["comparisons"]]
    raw = [paired_randomisation(values[a], values[b], ratio_of_sums, 2000, 0) for a, b in pairs]
    assert tests["p"].tolist() == pytest.approx(holm(raw).tolist())
    assert paired_randomisation(first, second, ratio_of_sums, 2000, 0) < 0.001
    assert row["evidence"].split() == ["scores/0002", "scores/0004"]
    assert 0 < row["detectable"] < 0.1


def test_one_context_gone_and_the_other_not_is_inconclusive():
    table = make_arms(**FAR | {"infill": 0.7}).decide([c1()])
    row = verdict_of(table, "plots")
    assert row["verdict"] == "inconclusive" and "matched: 1 holds, 1 gone" in row["reason"]
    why = "the matched comparisons disagree (left context: 1 for; both contexts: 1 against)"
    assert why in row["reason"] and verdict_of(table)["reason"] == f"plots inconclusive; {why}"


def test_without_the_matched_arms_nothing_is_supported():
    only = {arm: FAR[arm] for arm in ("mlm_leaky", "mlm", "seq2seq_kept", "clm")}
    row = verdict_of(make_arms(**only).decide([c1()]), "plots")
    assert row["verdict"] == "inconclusive" and "matched comparison not run" in row["reason"]
    assert "mlm_left at random 0.5" in row["reason"]
    gone = verdict_of(make_arms(**only | {"clm": 0.75}).decide([c1()]), "plots")
    assert gone["verdict"] == "explained" and "a part of the advantage" in gone["reason"]
    half = {arm: FAR[arm] for arm in FAR if arm != "mlm_left"}
    assert verdict_of(make_arms(**half).decide([c1()]), "plots")["verdict"] == "inconclusive"


def test_corpora_that_disagree_are_inconclusive_with_the_counts():
    made = make_arms("plots", **FAR)
    add_arms(made, "speeches", **FAR | {"mlm_leaky": 0.2, "mlm": 0.25})
    row = verdict_of(made.decide([c1()]))
    assert row["verdict"] == "inconclusive" and row["reason"] == "plots supported, speeches contradicted"
    assert row["effect"] == pytest.approx((0.5 - 0.1) / 2) and row["n"] == 80


def test_p_values_are_corrected_within_the_family_alone():
    made = make_arms(**FAR)
    alone = made.decide([c1()])
    beside = made.decide([c1(), c1(id="CX", family="other")])
    assert beside[beside["claim"] == "C1"]["p"].equals(alone["p"])
    together = made.decide([c1(), c1(id="CX")])
    assert (together.loc[together["claim"] == "C1", "p"] >= alone["p"]).all()


def test_authors_are_the_units_and_seeds_are_put_together():
    made = Simulated()
    for arm, centre in FAR.items():
        for seed in (0, 1):
            rows = {("document", "rougeL"): spread(centre, 40, 0.05 * (1 + seed))}
            made.score("speeches", arm, rows, clusters=[f"a{i % 20}" for i in range(40)], seed=seed)
    assert verdict_of(made.decide([c1()]), "speeches")["n"] == 20


def test_same_input_gives_the_same_table():
    made = make_arms(**FAR)
    pd.testing.assert_frame_equal(made.decide([c1()]), made.decide([c1()]))


def test_empty_tables_give_one_row_a_claim_with_the_reason():
    table = decide_tables(load_rules(CLAIMS, MAIN), {})
    assert len(table) == 8 and set(table["verdict"]) == {"not tested"} and table["reason"].ne("").all()
    assert table.set_index("claim").loc["C1", "reason"] == "no rows in scores.csv"
    assert table.set_index("claim").loc["C7", "reason"] == "no human ratings exist"


def test_pretraining_is_not_tested_until_its_arms_exist():
    rule = find_rule("C4", measures=[ROUGE])
    row = verdict_of(make_arms(**FAR).decide([rule]), "plots")
    assert row["verdict"] == "not tested" and row["reason"].startswith("no checkpoint wrote both")
    general = {"clm_general": 0.5, "mlm_general": 0.5}
    equal = make_arms(clm=0.5, mlm=0.5, **general).decide([rule])
    better = make_arms(clm=0.6, mlm=0.6, **general).decide([rule])
    assert (verdict_of(equal)["verdict"], verdict_of(better)["verdict"]) == ("supported", "contradicted")


@pytest.mark.parametrize(
    ("change", "verdict", "reason"),
    [
        (lambda rows: rows * np.nan, "not tested", "for 0 of the units"),
        (lambda rows: rows * 0, "not tested", "not defined on the 40 units"),
        (lambda rows: rows[:1], "not tested", "for 1 of the units"),
        (lambda rows: rows[:5], "inconclusive", "fewer than 10"),
        (lambda rows: rows * [[0, 1]], "inconclusive", "does not vary"),
    ],
    ids=["nan", "nothing to divide by", "one document", "five documents", "constant"],
)
def test_what_cannot_be_judged_says_why(change, verdict, reason):
    made = make_arms(**FAR)
    for stored in made.stored.values():
        stored.statistics["document", "rougeL"] = change(stored.statistics["document", "rougeL"])
    table = made.decide([c1()])
    assert verdict_of(table)["verdict"] == verdict
    assert table.loc[table["comparison"] == "as reported", "reason"].str.contains(reason).all()


def test_cells_of_other_documents_or_without_the_metric_are_missing():
    made = make_arms(n=40, mlm_leaky=0.8)
    add_arms(made, "plots", 30, seq2seq_kept=0.3)
    made.score("plots", "mlm", {})
    table = made.decide([c1()]).set_index("comparison")
    assert "no seed with the same documents" in table.loc["as reported", "reason"]
    assert "mlm at random 0.5" in table.loc["no leak", "reason"]
    assert set(table["verdict"]) == {"not tested"}


def test_bleu_is_compared_as_the_corpus_score():
    texts = [f"the captain saw {i} old boats near the quay" for i in range(20)]
    worse = [text.replace("captain", "doctor" if i % 2 else "man") for i, text in enumerate(texts)]
    made = Simulated()
    for arm, written in (("mlm_leaky", texts), ("seq2seq_kept", worse)):
        made.score("plots", arm, {("document", "bleu"): count_ngrams(written, texts)})
    rule = c1() | {"measures": [ROUGE | {"metric": "bleu"}]}
    row = made.decide([rule]).set_index("comparison").loc["as reported"]
    import sacrebleu

    assert row["effect"] == pytest.approx(100 - sacrebleu.corpus_bleu(worse, [texts], lowercase=True).score)


def test_f1_by_hand():
    assert average_f1(np.array([2.0, 2, 0, 1, 0, 0])) == pytest.approx((4 / 6 + 1) / 2)
    assert np.isnan(average_f1(np.zeros(3))) and score_counts(np.zeros(10)) != 0


def test_trend_compares_the_lowest_ratio_with_the_highest():
    made = Simulated()
    for ratio, centre in ((0.15, 0.6), (0.5, 0.9), (1.0, 0.4)):
        made.score("plots", "mlm", {("document", "rougeL"): spread(centre)}, ratio=ratio)
    rule = find_rule("C2", arms=["mlm", "clm"], measures=[ROUGE | {"role": "reported"}])
    table = made.decide([rule]).set_index("comparison")
    assert table.loc["mlm, lowest above highest ratio", "effect"] == pytest.approx(0.2)
    assert table.loc["clm, lowest above highest ratio", "reason"] == "clm: 0 random ratios, two are needed"


def judge_punctuation(masked, with_random=True):
    made = Simulated()
    cells = [("punctuation", 1.0), ("stopwords", 1.0), ("entities", 1.0), ("random", 0.5)]
    for arm, centres in (("seq2seq_kept", (0.9, 0.5, 0.6, 0.7)), ("mlm", (masked, 0.5, 0.6, 0.7))):
        for place in range(4 if with_random else 3):
            rows = {("document", "rougeL"): spread(centres[place], width=0.02 + 0.01 * place)}
            made.score("plots", arm, rows, *cells[place])
    rule = find_rule("C3", measures=[ROUGE | {"role": "reported"}])
    return verdict_of(made.decide([rule], 1000), "plots")


def test_punctuation_must_be_best_for_causal_and_worst_for_masked():
    assert judge_punctuation(masked=0.3)["verdict"] == "supported"
    assert judge_punctuation(masked=0.55)["verdict"] == "contradicted"


def test_what_asserts_every_comparison_is_not_supported_without_one():
    row = judge_punctuation(masked=0.3, with_random=False)
    assert row["verdict"] == "inconclusive" and "seq2seq_kept at random 0.5" in row["reason"]


def test_half_of_the_reported_comparisons_is_no_verdict():
    rule = find_rule("C4", measures=[ROUGE])
    for domain in (0.5, 0.6):
        half = make_arms(clm=domain, clm_general=0.5).decide([rule])
        assert set(half.loc[half["comparison"] == VERDICT, "verdict"]) == {"inconclusive"}
        for corpus in ("plots", OVERALL):
            told = "comparison masked domain against general was not run"
            assert told in verdict_of(half, corpus)["reason"]


def test_what_asserts_every_comparison_is_contradicted_by_one_alone():
    rule = find_rule("C4", measures=[ROUGE], mixed="gone")
    better = make_arms(clm=0.6, clm_general=0.5).decide([rule])
    assert verdict_of(better)["verdict"] == "contradicted"


def correlation_rows(spearman, partial, n=20):
    shape = {"corpus": "plots", "quality_metric": "rougeL", "quality_scope": "document", "n_cells": n}
    rows = [("spearman", *spearman), ("partial_spearman", *partial)]
    keys = ("statistic", "value", "low", "high")
    return pd.DataFrame([shape | dict(zip(keys, row, strict=True)) | {"reason": None} for row in rows])


@pytest.mark.parametrize(
    ("spearman", "partial", "verdict"),
    [
        ((0.1, -0.3, 0.4), (0.0, -0.4, 0.4), "supported"),
        ((0.8, 0.6, 0.9), (0.0, -0.4, 0.4), "contradicted"),
        ((0.3, -0.1, 0.7), (0.0, -0.4, 0.4), "inconclusive"),
        ((0.1, -0.3, 0.4), (0.8, 0.6, 0.9), "explained"),
        ((0.1, -0.3, 0.4), (0.2, -0.4, 0.8), "inconclusive"),
        ((np.nan, np.nan, np.nan), (0.2, -0.4, 0.8), "not tested"),
    ],
)
def test_no_strong_correlation_is_an_equivalence(spearman, partial, verdict):
    rule = find_rule("C5", measures=[{"scope": "document", "metric": "rougeL"}])
    table = decide_tables([rule], {"correlation": correlation_rows(spearman, partial)})
    assert verdict_of(table)["verdict"] == verdict


def test_the_pooled_correlation_of_all_corpora_is_no_corpus_of_a_claim():
    rows = correlation_rows((0.1, -0.3, 0.4), (0.0, -0.4, 0.4))
    rows = pd.concat([rows, rows.assign(corpus=OVERALL)])
    decided = decide_tables([find_rule("C5")], {"correlation": rows})
    assert set(decided.loc[decided["comparison"] != VERDICT, "corpus"]) == {"plots"}


def ledger_rows(**flops):
    cells = [("random", 0.5), ("random", 1.0)]
    return pd.DataFrame(
        [
            {"corpus": "plots", "arm": arm, "strategy": strategy, "ratio": ratio, "seed": 0}
            | {"flops": cost * (1 + ratio), "documents": 10, "artifact": f"generate/{arm}"}
            for arm, cost in flops.items()
            for strategy, ratio in cells
        ]
    )


def decide_cost(**flops):
    return decide_tables([find_rule("C8")], {"ledger": ledger_rows(**flops)})


def test_cost_is_the_share_that_the_masked_arm_takes_more():
    more = {"mlm_leaky": 30, "mlm": 20, "mlm_left": 40, "infill": 10, "clm": 10, "seq2seq_kept": 10}
    table = decide_cost(**more)
    row = table[table["comparison"] == "as reported"].iloc[0]
    assert (row["effect"], row["low"], row["high"], row["n"]) == pytest.approx((2, 2, 2, 2))
    assert verdict_of(table)["verdict"] == "supported"
    assert verdict_of(decide_cost(**more | {"seq2seq_kept": 20}))["verdict"] == "inconclusive"
    assert verdict_of(decide_cost(**more | {"infill": 19, "clm": 39}))["verdict"] == "explained"


def test_ratings_are_averaged_over_raters_and_paired_by_document():
    rng = np.random.default_rng(0)
    rows = [
        {"corpus": "plots", "arm": arm, "document": f"d{d}", "question": question, "rating": level + noise}
        for arm, level in (("mlm_leaky", 4.0), ("mlm", 4.0), ("mlm_left", 3.5), ("seq2seq_kept", 2.0))
        for d in range(20)
        for question in ("coherence", "grammar")
        for noise in rng.normal(0, 0.5, size=2)
    ]
    table = decide_tables([find_rule("C7")], {"ratings": pd.DataFrame(rows)}, resamples=200)
    row = table[table["comparison"] == "as reported"].iloc[0]
    assert row["effect"] == pytest.approx(2, abs=0.3) and row["n"] == 20 and row["verdict"] == "supported"
    assert "no document was rated for both arms" in verdict_of(table, "plots")["reason"]
