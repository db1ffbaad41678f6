"""Answers on studies whose truth is known, since it was simulated: the rates at which each outcome is found."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_cells import CLAIMS, MAIN
from refusals import assert_refused

from mlm_vs_clm.evidence.answers import answer
from mlm_vs_clm.evidence.cells import Cell, ScoredCell, TrainedCell
from mlm_vs_clm.evidence.claims import hash_rules, load_rules
from mlm_vs_clm.evidence.competence import judge_competence
from mlm_vs_clm.evidence.study import Study
from mlm_vs_clm.report.wording import word_verdict

CONTEXTS = {"mlm": "both", "infill": "both", "clm": "left", "mlm_left": "left", "mlm_leaky": "leaky"}
FLOORS = {"constant": 0.05, "bigram_left": 0.08, "bigram_both": 0.1}
RULES = load_rules(CLAIMS, MAIN)
N_STUDIES = 12


def pick_rule(claim, **changes):
    return next(rule for rule in RULES if rule["id"] == claim) | changes


def simulate(rates, rng, runs=5, deviation=0.005, masking=MAIN, content=None, corpus="plots", n=150):
    """Return cells of arms that restore a share of 50 blanks; documents differ, and so do trainings."""
    difficulty = rng.normal(0, 0.03, n)
    cells = []
    for arm, rate in (FLOORS | {"unfilled": 0.0, "oracle": 1.0} | rates).items():
        for seed in range(runs):
            model = arm in CONTEXTS
            level = np.clip(rate + (difficulty + rng.normal(0, deviation)) * (0 < rate < 1), 0, 1)
            rates_of = {
                "exact_match": level,
                "exact_match_content": level if content is None else [content] * n,
            }
            statistics = {
                ("fills", name): np.stack([rng.binomial(50, rate), np.full(n, 50)], axis=1)
                for name, rate in rates_of.items()
            }
            more = {"context": CONTEXTS[arm], "training": f"{arm}{seed}"} if model else {}
            cells.append(ScoredCell(Cell(corpus, arm, *masking, seed), statistics=statistics, **more))
    return cells


def ask(rule, scored, trained=(), resamples=100, **tables):
    tables = {"downstream": pd.DataFrame()} | tables
    if "competence" not in tables:
        tables["competence"] = judge_competence(scored, resamples)
    return answer([rule], Study(scored, trained, tables, resamples))


def find(table, corpus="plots", **named):
    rows = table[table["corpus"] == corpus]
    for column, value in named.items():
        rows = rows[rows[column] == value]
    (row,) = rows.to_dict("records")
    (named,) = rows.itertuples(index=False)
    return row | {"words": word_verdict(named)}


FILLS = [{"scope": "fills", "metric": "exact_match"}]
PAIR = [{"name": "known length", "first": {"arm": "mlm"}, "second": {"arm": "clm"}}]
TRUTHS = [
    ({"mlm": 0.3, "clm": 0.25}, {}, "mlm ahead, outside the margin"),
    ({"mlm": 0.25, "clm": 0.3}, {}, "clm ahead, outside the margin"),
    ({"mlm": 0.3, "clm": 0.3}, {"deviation": 0.002}, "no difference shown, inside the margin"),
    ({"mlm": 0.3, "clm": 0.29}, {"deviation": 0.0005, "n": 600}, "mlm ahead, inside the margin"),
    ({"mlm": 0.29, "clm": 0.3}, {"deviation": 0.0005, "n": 600}, "clm ahead, inside the margin"),
    ({"mlm": 0.3, "clm": 0.29}, {"deviation": 0.04}, "no difference shown, size not settled"),
    ({"mlm": 0.3, "clm": 0.06}, {}, "undecided (clm not competent)"),
    ({"mlm": 0.3}, {}, "not run"),
]


@pytest.mark.parametrize(("rates", "more", "truth"), TRUTHS, ids=[truth for *_, truth in TRUTHS])
def test_the_simulated_truth_is_found(rates, more, truth):
    rule = pick_rule("C1", measures=FILLS, conditions=PAIR, margin={"exact_match": 0.02})
    found = [find(ask(rule, simulate(rates, np.random.default_rng(i), **more))) for i in range(N_STUDIES)]
    counts = Counter(row["words"] for row in found)
    assert counts[truth] / N_STUDIES >= 0.75, counts
    assert all(row["needs"] for row in found if row["status"] != "made" or row["size"] == "not settled")


def test_an_optional_condition_is_left_out_where_an_arm_was_not_run():
    scored = simulate({"mlm": 0.3}, np.random.default_rng(0), runs=1)
    rule = pick_rule("C1", measures=FILLS)
    told = [pick_rule("C1", measures=FILLS, conditions=[PAIR[0] | {"optional": True}]), rule]
    assert ask(told[0], scored).empty and not ask(told[1], scored).empty
    is_asked = {condition["name"]: "optional" not in condition for condition in rule["conditions"]}
    assert {*ask(rule, scored)["condition"]} == {name for name, whole in is_asked.items() if whole}


def test_training_noise_alone_is_rarely_a_difference():
    rule = pick_rule("C1", measures=FILLS, conditions=PAIR)
    cells = [simulate({"mlm": 0.3, "clm": 0.3}, np.random.default_rng(i), deviation=0.03) for i in range(60)]
    competence = judge_competence(cells[0], 60)
    tables = {"resamples": 60, "competence": competence}
    claimed = [find(ask(rule, study, **tables))["direction"] for study in cells]
    assert sum(direction != "none shown" for direction in claimed) / 60 <= 0.12


def test_a_row_says_how_sure_it_is_and_what_would_settle_it():
    rule = pick_rule("C1", measures=FILLS, conditions=PAIR)
    one = ask(rule, simulate({"mlm": 0.3, "clm": 0.2}, np.random.default_rng(0), runs=1))
    row = find(one)
    assert (row["runs"], row["reason"], row["needs"]) == (1, "", "5 runs to be settled")
    noisy = simulate({"mlm": 0.3, "clm": 0.28}, np.random.default_rng(3), deviation=0.05)
    row = find(ask(rule, noisy))
    assert row["size"] == "not settled" and int(row["needs"].split()[1]) > 5
    assert row["detectable"] > 0.03  # training noise is in it


def test_competence_by_function_words_alone_is_marked():
    rule = pick_rule("C1", measures=FILLS, conditions=PAIR)
    cells = simulate({"mlm": 0.3, "clm": 0.2}, np.random.default_rng(0), content=0.02)
    assert find(ask(rule, cells))["unsure"]


def test_p_is_corrected_over_the_claim_for_either_direction():
    conditions = [{"name": arm, "first": {"arm": "mlm"}, "second": {"arm": arm}} for arm in ("clm", "infill")]
    rates = {"mlm": 0.3, "clm": 0.292, "infill": 0.31}
    cells = simulate(rates, np.random.default_rng(2), deviation=0.002)
    both = ask(pick_rule("C1", measures=FILLS, conditions=conditions), cells)
    alone = [find(ask(pick_rule("C1", measures=FILLS, conditions=[one]), cells)) for one in conditions]
    raw = sorted(row["p"] for row in alone)
    corrected = sorted(find(both, condition=one["name"])["p"] for one in conditions)
    assert corrected == pytest.approx([2 * raw[0], max(2 * raw[0], raw[1])])
    assert find(both, condition="infill")["effect"] < 0 < find(both, condition="clm")["effect"]


def test_a_trend_is_asked_per_arm_and_the_lowest_ratio_must_be_competent():
    rng, rule = np.random.default_rng(4), pick_rule("C2", measures=FILLS)
    cells = simulate({"mlm": 0.4, "clm": 0.3}, rng, masking=("random", 0.15))
    cells += simulate({"mlm": 0.06, "clm": 0.3}, rng, masking=("random", 1.0))
    table = ask(rule, cells)
    rows = {row["first_arm"]: row for row in table[table["corpus"] == "plots"].to_dict("records")}
    assert rows["mlm"]["direction"] == "first" and rows["mlm"]["first_ratio"] == 0.15
    assert rows["clm"]["direction"] == "none shown"
    assert rows["mlm_leaky"]["status"] == "not run"


def test_a_class_is_compared_with_as_many_random_words():
    rng = np.random.default_rng(5)
    cells = simulate({"mlm": 0.6}, rng, masking=("punctuation", 1.0))
    cells += simulate({"mlm": 0.3}, rng, masking=("random_as_punctuation", 1.0))
    place = {"condition": "masked half", "first_strategy": "punctuation", "metric": "exact_match"}
    row = find(ask(pick_rule("C3"), cells), **place)
    assert row["second_strategy"] == "random_as_punctuation"
    assert row["words"] == "mlm better on punctuation than on random words, outside the margin"


def test_a_lead_over_the_table_is_not_what_any_filler_gains():
    """At punctuation a network restores twice as much as at random words, and its table restores as much more."""
    rng, cells = np.random.default_rng(5), []
    for strategy, network, table in (("punctuation", 0.6, 0.5), ("random_as_punctuation", 0.3, 0.2)):
        rates = {"mlm": network, "bigram_both": table}
        cells += simulate(rates, rng, masking=(strategy, 1.0), deviation=0.002)
    place = {"condition": "masked half", "first_strategy": "punctuation", "metric": "exact_match_lead"}
    row = find(ask(pick_rule("C3"), cells), **place)
    assert abs(row["effect"]) < 0.01 < row["margin"] + 0.001 and row["direction"] != "second"


def test_of_a_likelihood_the_side_with_fewer_nats_is_ahead():
    rng = np.random.default_rng(2)
    cells = simulate({"mlm": 0.3, "clm": 0.2}, rng, runs=1)
    for one in cells:
        nats = {"mlm": 1.2, "clm": 1.5}.get(one.cell.arm)
        if nats:
            drawn = rng.normal(nats, 0.05, len(one.units))
            rows = np.stack([drawn * 50, np.full(len(drawn), 50.0)], axis=1)
            one.statistics["fills", "nats_per_character"] = rows
    measures = [{"scope": "fills", "metric": "nats_per_character"}]
    row = find(ask(pick_rule("C1", measures=measures, conditions=PAIR), cells))
    assert row["effect"] == pytest.approx(0.3, abs=0.03) and row["direction"] == "first"


LOWER = ("shuffled", "unigram")
WORTH = pd.DataFrame({"trained_on": ["real", "majority"], "value": [0.8, 0.1]})
WORTH = WORTH.assign(corpus="plots", metric="f1")


def train(name, recall, rng, seeds=1, masking=("", float("nan"))):
    """Return what taggers with a recall found of six entities in each of 120 test units."""
    return [
        TrainedCell(
            Cell("plots", name, *masking, seed),
            "ner",
            units=pd.DataFrame(
                {"task_seed": task, "id": f"u{i}", "cluster": f"u{i}", "tp": found, "fn": 6 - found, "fp": 1}
                | {f"lenient_{key}": 0 for key in ("tp", "fp", "fn")}
                for task in range(2)
                for i, found in enumerate(rng.binomial(6, recall, 120))
            ),
        )
        for seed in range(seeds)
    ]


@pytest.mark.parametrize(
    ("recall", "below", "above"), [(0.5, "yes", "yes"), (0.8, "no", "yes"), (0.02, "yes", "no")]
)
def test_training_on_replaced_words_is_asked_yes_or_no(recall, below, above):
    rng, hidden = np.random.default_rng(6), ("random", 1.0)
    trained = train("real", 0.8, rng) + train("majority", 0.1, rng) + train("shuffled", 0.1, rng)
    trained += train("mlm", recall, rng, 5, hidden) + train("unigram", 0.1, rng, 5, hidden)
    table = ask(pick_rule("C6"), simulate({"mlm": 0.3}, rng), trained, downstream=WORTH)
    assert find(table, condition="sharply below real text", second_arm="mlm")["words"] == below
    named = {"condition": "above the floors", "first_arm": "mlm"}
    found = {second: find(table, second_arm=second, **named)["words"] for second in LOWER}
    assert set(found.values()) == {above}
    assert find(table, second_arm="uniform", **named)["status"] == "not run"


def test_a_difference_as_training_data_has_the_runs_that_both_arms_share():
    seconds = ["infill", "clm", "real"]
    rule = pick_rule("C6", cells=dict(zip(("strategy", "ratio"), MAIN, strict=True)))
    rule |= {"conditions": [{"name": "as data", "firsts": ["mlm"], "seconds": seconds, "at_least": 0}]}
    rng, sides = np.random.default_rng(0), {"mlm": 5, "clm": 5, "infill": 1}
    scored = simulate(dict.fromkeys(sides, 0.3), rng)
    scored = [one for one in scored if one.cell.seed < sides.get(one.cell.arm, 5)]
    trained = [cell for arm, runs in sides.items() for cell in train(arm, 0.5, rng, runs, MAIN)]
    table = ask(rule, scored, trained + train("real", 0.8, rng), downstream=WORTH)
    of_corpus = table[table["corpus"] == "plots"]
    found = dict(zip(of_corpus["second_arm"], of_corpus["runs"], strict=True))
    assert found == {"clm": 5, "infill": 1, "real": 5}


def test_training_data_is_a_claim_with_a_family_of_its_own_and_needs_room():
    rng, sides = np.random.default_rng(1), {"mlm": 0.5, "clm": 0.3, "infill": 0.5}
    scored = simulate(dict.fromkeys(sides, 0.3), rng)
    trained = [cell for arm, recall in sides.items() for cell in train(arm, recall, rng, 5, MAIN)]
    trained += train("real", 0.8, rng)
    rows = ask(pick_rule("C9"), scored, trained, downstream=WORTH)
    made = rows[rows["status"] == "made"].set_index("condition")
    assert set(made.index) == {"known length", "both contexts"} and set(made["scope"]) == {"utility"}
    assert list(made.loc[["known length", "both contexts"], "direction"]) == ["first", "none shown"]
    room = pd.DataFrame([{"corpus": "plots", "room": "no", "reason": "no room: little"}])
    room = room.assign(strategy=MAIN[0], ratio=MAIN[1])
    table = ask(pick_rule("C9"), scored, trained, downstream=WORTH, headroom=room)
    row = find(table, condition="known length")
    assert (row["status"], row["direction"], row["excluded_because"]) == ("no room", "", "no room: little")


def test_a_correlation_has_words_of_its_own():
    about = {"corpus": "plots", "quality_scope": "document", "quality_metric": "bleu", "reason": ""}
    about |= {"n_cells": 40}
    rows = [
        about | {"statistic": "spearman", "value": 0.1, "low": -0.3, "high": 0.4, "bound": 0.5},
        about | {"statistic": "slope_at_same_masking", "value": -0.2, "low": -0.3, "high": -0.1},
    ]
    rng, tables = np.random.default_rng(0), {"correlation": pd.DataFrame(rows), "downstream": WORTH}
    table = ask(pick_rule("C5"), simulate({}, rng), train("real", 0.8, rng), **tables)
    told = {row.condition: word_verdict(row) for row in table[table["metric"] == "bleu"].itertuples()}
    assert told == {
        "over corruption levels": "no strong correlation",
        "at the same corruption": "reversed, outside the margin",
    }


def test_every_rank_correlation_is_judged_by_its_bound():
    about = {"corpus": "plots", "quality_scope": "document", "quality_metric": "bleu", "reason": ""}
    about |= {"statistic": "partial_spearman", "value": 0.3, "low": 0.1, "high": 0.45, "bound": 0.5}
    rule = pick_rule("C5", conditions=[{"name": "partial", "statistic": "partial_spearman"}])
    tables = {"correlation": pd.DataFrame([about | {"n_cells": 40}]), "downstream": WORTH}
    table = ask(rule, simulate({}, np.random.default_rng(0)), **tables)
    assert find(table, metric="bleu")["words"] == "no strong correlation"


@pytest.mark.parametrize(
    ("flops", "outcome", "told"),
    [
        ((400, 400), "mlm costs more", "4 times the FLOPs (4 over the maskings)"),
        ((50, 200), "depends on the masking", "1 times the FLOPs (0.5 to 2 over the maskings)"),
        ((100, 105), "equal cost", "passes x length read predict 4 times"),
    ],
)
def test_the_law_of_cost_stands_beside_what_was_counted(flops, outcome, told):
    cost = {"corpus": "plots", "strategy": "random", "seed": 0, "documents": 10}
    ledger = [
        cost | {"ratio": ratio, "arm": arm, "flops": spent, "token_forwards": read}
        for ratio, masked in zip((0.2, 0.5), flops, strict=True)
        for arm, spent, read in (("mlm", masked, 40), ("clm", 100, 10))
    ]
    table = ask(pick_rule("C8"), simulate({}, np.random.default_rng(0)), ledger=pd.DataFrame(ledger))
    row = find(table, condition="at equal documents")
    assert row["words"] == outcome and told in row["reason"] and not row["needs"]


def test_raters_are_asked_document_by_document():
    rng = np.random.default_rng(0)
    ratings = pd.DataFrame(
        {"arm": arm, "document": i, "place": i, "rating": np.clip(round(rng.normal(mean, 0.5)), 1, 5)}
        for arm, mean in (("mlm", 4), ("clm", 2))
        for i in range(40)
    ).assign(corpus="plots", question="coherence", artifact="score/1")
    cells = [replace(cell, artifact="score/1") for cell in simulate({"mlm": 0.3, "clm": 0.2}, rng)]
    table = ask(pick_rule("C7"), cells, ratings=ratings)
    assert find(table, condition="known length", metric="coherence")["direction"] == "first"
    assert "human raters" in find(table, condition="as reported", metric="grammar")["needs"]


def test_ratings_of_one_author_are_one_unit():
    """Three authors of forty texts each decide nothing, however many texts were rated."""
    cells = [
        replace(cell, clusters=[i % 3 for i in range(150)], artifact="score/1")
        for cell in simulate({"mlm": 0.3, "clm": 0.2}, np.random.default_rng(0))
    ]
    ratings = pd.DataFrame(
        {"arm": arm, "document": i, "place": i, "rating": rating}
        for arm, rating in (("mlm", 4), ("clm", 2))
        for i in range(120)
    ).assign(corpus="plots", question="coherence", artifact="score/1")
    row = find(ask(pick_rule("C7"), cells, ratings=ratings), condition="known length", metric="coherence")
    assert (row["n"], row["direction"], row["size"]) == (3, "none shown", "not settled")
    others = ratings.assign(artifact="score/2")  # of another masking or study
    row = find(ask(pick_rule("C7"), cells, ratings=others), condition="known length", metric="coherence")
    assert row["status"] == "not run" and row["reason"] == "not run: no ratings of these texts"


def test_rules_are_checked_and_hashed(tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text(CLAIMS.read_text().replace("gate: first", "gate: nobody"))
    assert_refused("claim C2: gate nobody is unknown", load_rules, path, MAIN)
    for named, told in (
        ("name: masked half, kind: nothing", "kind nothing is unknown"),
        ("n: 1", "has no name"),
    ):
        path.write_text(CLAIMS.read_text().replace("name: masked half", named, 1))
        assert_refused(f"claim C3: a condition:? {told}", load_rules, path, MAIN)
    for text, told in (
        ("C1", "claims.yaml: is not a list"),
        ("- C1", r"claims.yaml: \[0\] is not keys with values"),
        ("- {conditions: [{name: a, first: mlm}]}", r"\[0\].conditions\[0\].first is not keys with values"),
        ("- {margin: wide}", r"\[0\].margin is not a number"),
        ("- id: C1\n  kind: [", "claims.yaml, line 2: "),
    ):
        path.write_text(text)
        assert_refused(told, load_rules, path, MAIN)
    path.write_text(CLAIMS.read_text().replace("margin: 0.02", "margin: 0.03"))
    assert hash_rules(load_rules(path, MAIN)) != hash_rules(RULES)


SHARES = {
    **{"id": "share", "kind": "share_of_gain", "from": "clm", "to": "mlm", "at_least": 0.5, "cells": dict(zip(("strategy", "ratio"), MAIN, strict=True))},
    **{"margin": {"exact_match": 0.01}, "as_stated": ["first"], "gate": "none", "main": {}, "measures": FILLS},
    "conditions": [{"name": "half", "arm": "infill"}],
}  # fmt: skip


@pytest.mark.parametrize(("rate", "direction"), [(0.36, "first"), (0.24, "second"), (0.3, "none shown")])
def test_the_share_of_a_gain_that_an_arm_has_is_held_against_one_half(rate, direction):
    cells = simulate({"clm": 0.2, "infill": rate, "mlm": 0.4}, np.random.default_rng(1), runs=1, n=600)
    row = find(ask(SHARES, cells))
    assert row["effect"] == pytest.approx((rate - 0.2) / 0.2, abs=0.06)
    assert row["low"] < row["effect"] < row["high"]
    assert row["direction"] == direction and row["first_arm"] == "infill" and row["second_arm"] == "clm"


def test_a_share_of_a_gain_without_both_ends_was_not_run():
    cells = simulate({"clm": 0.2, "infill": 0.3}, np.random.default_rng(1), runs=1)
    row = find(ask(SHARES, cells))
    assert (row["status"], row["reason"]) == ("not run", "not run: mlm")
    # The order in which rules name a masking means nothing.
    backwards = dict(reversed(SHARES["cells"].items()))
    assert find(ask(SHARES | {"cells": backwards}, cells))["reason"] == row["reason"]
    same = simulate({"clm": 0.0, "infill": 0.0, "mlm": 0.0}, np.random.default_rng(1), runs=1)
    assert find(ask(SHARES, same))["status"] == "not run"
