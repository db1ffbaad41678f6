"""Tables of a study, gathered from stored cells: the main cell is a setting, and whatever it is the tables are whole."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest
from forged_store import SKILL, ForgedStore
from made_cells import CLAIMS

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.evidence.claims import hash_rules, load_rules
from mlm_vs_clm.evidence.derivation import derive_tables
from mlm_vs_clm.evidence.differences import MEASURES
from mlm_vs_clm.evidence.tables import COLUMNS, at_main_cell, main_cell, pick_kind, tidy
from mlm_vs_clm.files import write_lines
from mlm_vs_clm.metrics.proxies import NONWORDS
from mlm_vs_clm.pipeline.collect import SHOWN, gather_examples
from mlm_vs_clm.pipeline.config import Config, GridConfig, MaskingConfig, ScaleConfig
from mlm_vs_clm.pipeline.observing import observe
from mlm_vs_clm.pipeline.study import check_main


def gather(store, ratio=0.5, **more):
    """Return the tables of a study whose main cell is random blanks at this ratio; there is no word list."""
    settings = {"scale": "smoke", "resamples": 50, "main": {"strategy": "random", "ratio": ratio}}
    settings |= {"bound": 0.5} | more
    observed = observe(settings, store.inputs, store.root / "corpora" / "wordnet")
    return derive_tables(observed, load_rules(CLAIMS, ("random", ratio)))


def make_study(root, ratio):
    """Return the tables and examples of a forged study, and its store, which is not to be changed."""
    store = ForgedStore(root, [("random", ratio), ("punctuation", 1.0)])
    return gather(store, ratio), gather_examples(store.inputs, ["tiny"], ("random", ratio)), store


def of_all_words():
    """Return the metrics of the blank that every text has; the forged ones have content words alone."""
    return {metric for _, metric in MEASURES}


@pytest.fixture(scope="module")
def tables_at(tmp_path_factory):
    return {ratio: make_study(tmp_path_factory.mktemp("store"), ratio) for ratio in (0.4, 0.5)}


def test_a_main_cell_at_another_ratio_gives_the_same_comparisons_and_nothing_is_missing(tables_at):
    at = [tables_at[ratio][0]["comparisons"] for ratio in (0.4, 0.5)]
    assert {*at[0]["kind"]} == {"text", "training data", "compute"}
    pd.testing.assert_frame_equal(*(rows.drop(columns=["excluded_because", "ratio"]) for rows in at))
    rows = at[0][at[0]["metric"].isin(of_all_words()) & (at[0]["kind"] != "compute")]
    assert rows["value"].notna().all()


def test_the_main_cell_names_its_rows_of_the_ledger_and_its_examples(tables_at):
    tables, examples, _ = tables_at[0.4]
    assert main_cell(tables) == ("random", 0.4)
    ledger = at_main_cell(tables["ledger"], main_cell(tables))
    assert set(ledger["arm"]) == set(SKILL) and (ledger["order"] == "random").all()
    assert len(examples) == len({one["document"] for one in examples}) == SHOWN
    assert all((one["ratio"], set(one["arms"])) == (0.4, set(SKILL)) for one in examples)
    assert examples[0]["kept"] == ["Case ", ": ", " patient took a small dose."]
    assert examples[0]["originals"] == ["0", "the"]
    assert examples[0]["arms"]["clm"] == ["x", ["The"]]  # case aside


def test_examples_are_of_one_draw_whose_gaps_the_fills_stand_in(tmp_path):
    store = ForgedStore(tmp_path, [("random", 0.5)], draws=2)
    example = gather_examples(store.inputs, ["tiny"], ("random", 0.5))[0]
    assert (example["originals"], example["arms"]["mlm"]) == (["0", "the"], ["x", ["The"]])


def test_a_text_without_its_gaps_is_shown_whole(tmp_path):
    store = ForgedStore(tmp_path, [("random", 0.5)])
    fills = store.inputs["generate/clm-random-0.5"] / "fills.jsonl"
    lost, moved, *others = map(json.loads, fills.read_text().splitlines())
    lost["spans"][1] = None
    moved["text"] = moved["text"].replace("small", "large")
    write_lines(fills, [lost, moved, *others])
    first, second, third, _ = gather_examples(store.inputs, ["tiny"], ("random", 0.5))
    assert first["texts"] == {"clm": lost["text"]} and second["texts"] == {"clm": moved["text"]}
    assert "clm" not in first["arms"] and third["texts"] == {}


def test_answers_are_given_at_the_main_cell(tables_at):
    (tables, *_), (others, *_) = tables_at.values()
    found = [
        each["answers"].set_index(["claim", "condition", "metric", "corpus"]).sort_index()
        for each in (tables, others)
    ]
    for claim in ("C1", "C4"):
        made = [answers.loc[claim] for answers in found]
        assert made[0]["direction"].equals(made[1]["direction"])
    row = found[0].loc[("C1", "known length", "exact_match", "tiny")]
    assert (row["first_arm"], row["first_ratio"], row["direction"], row["runs"]) == ("mlm", 0.4, "first", 1)
    assert row["needs"] == "5 runs to be settled"
    assert (
        "track=domains" in found[0].loc[("C4", "causal: domain against elsewhere", "bleu", "tiny"), "needs"]
    )
    assert found[0].loc[("C9", "known length"), "scope"].item() == "utility"


def test_a_comparison_has_one_direction_wherever_it_is_shown(tables_at):
    """The table of the claim and those of differences agree, since the latter take the family of the former."""
    for tables, *_ in tables_at.values():
        answers = tables["answers"].rename(columns={"first_arm": "first", "second_arm": "second"})
        answers = answers[answers["claim"].isin(["C1", "C9"])]
        keys = ["corpus", "first", "second", "metric"]
        words = ["status", "direction", "size"]
        for kind in ("text", "training data"):
            both = at_main_cell(pick_kind(tables["comparisons"], kind), main_cell(tables)).merge(
                answers, on=keys, suffixes=("", "_answer")
            )
            assert len(both)
            for word in words:
                assert both[word].equals(both[f"{word}_answer"].rename(word))


def test_non_words_are_counted_at_the_main_cell_against_the_pretrain_split(tables_at, monkeypatch):
    tables, _, store = tables_at[0.5]
    missing = tables["scores"][tables["scores"]["metric"] == NONWORDS]
    assert len(missing) == len(SKILL)
    assert missing["value"].isna().all()
    assert missing["reason"].str.contains("run `make data`").all()
    reader = SimpleNamespace(reader=SimpleNamespace(morphy=lambda word: None))
    monkeypatch.setattr("mlm_vs_clm.metrics.proxies.read_wordnet", lambda folder: reader)
    monkeypatch.setattr("mlm_vs_clm.metrics.proxies.hash_wordnet", lambda folder: "0")
    scores = gather(store)["scores"]
    rows = scores[scores["metric"] == NONWORDS]
    assert sorted(rows["arm"]) == sorted(SKILL) and set(rows["ratio"]) == {0.5}
    by_arm = rows.set_index("arm")["value"]  # "x" is no word of the pretrain split, "The" is
    assert by_arm["oracle"] == 0.5 and set(COLUMNS["scores"]) <= set(rows)


def test_the_table_study_says_which_study_this_is(tables_at):
    (row,) = tidy("study", tables_at[0.4][0]["study"]).to_dict("records")
    assert list(row) == COLUMNS["study"] and row["rules"] == hash_rules(load_rules(CLAIMS, ("random", 0.4)))
    assert (row["scale"], row["track"], row["main_ratio"]) == ("smoke", "matched", 0.4)
    with pytest.raises(StudyError, match="study.yaml says nothing"):
        main_cell({"study": tidy("study", pd.DataFrame())})


def test_a_grid_without_the_main_cell_is_refused_in_one_line():
    grid = GridConfig(["plots"], [MaskingConfig("random", 0.4)], ["mlm"], [0])
    check_main(Config(scale=ScaleConfig(grid=grid, main=MaskingConfig("random", 0.4))))
    with pytest.raises(StudyError, match="scale.grid has no cell at random 0.5, the main cell"):
        check_main(Config(scale=ScaleConfig(grid=grid)))


def test_fills_are_compared_with_a_reference_and_with_the_lengths_of_the_words(tmp_path):
    store = ForgedStore(tmp_path, [("random", 0.5)])
    rows = gather(store, reference="clm")["scores"].set_index(["arm", "metric"])
    assert rows.loc[("mlm", "agreement"), "value"] == 1  # all arms of this store fill alike
    assert rows.loc[("mlm", "length_error"), "value"] == pytest.approx(2 / 24)  # "x" for 10 and for 11
    with pytest.raises(StudyError, match="track.reference=nobody does not fill"):
        gather(store, reference="nobody")


def test_a_study_of_variants_compares_them_at_equal_settings(tmp_path, monkeypatch):
    skill = {"mlm hot=1": 6, "clm hot=1": 4, "bigram_both hot=1": 2, "constant": 1, "bigram_left": 2}
    monkeypatch.setattr("forged_store.SKILL", skill | {"unfilled": 0, "oracle": 10})
    store = ForgedStore(tmp_path, [("random", 0.5)])
    varied = [{"arm": arm, "base": arm.split()[0], "setting": "arm.hot", "level": 1} for arm in skill]
    tables = gather(store, variants=varied)
    rows = pick_kind(tables["comparisons"], "text")
    assert set(rows["comparison"]) == {"known length, hot=1"}
    assert rows[rows["metric"].isin(of_all_words())]["value"].notna().all()
    assert len(tables["variants"]) == len(skill)
    judged = tables["competence"].set_index(["arm", "word_class"])
    assert judged.loc[("mlm hot=1", "all"), "outcome"] == "competent"
