"""Arms of a table of scores are compared with each other and with word tables, by every measure that both have."""

import json

import pandas as pd
import pytest
from forged_store import ForgedStore, copy_artifact, sign

from mlm_vs_clm.files import read_lines, write_lines
from mlm_vs_clm.pipeline.differences import compare_arms, widen_measures
from mlm_vs_clm.pipeline.tabulate import print_result, tabulate
from mlm_vs_clm.tools.__main__ import main


@pytest.fixture
def forged(tmp_path):
    store = ForgedStore(tmp_path, [("random", 0.15), ("random", 0.5)])
    for folder in store.inputs.values():
        sign(folder)
    return store


@pytest.fixture
def store(forged):
    return forged.root


def compare(store, **chosen):
    return compare_arms(tabulate(store, **chosen), store, resamples=50)


def test_models_are_compared_with_each_other_and_with_word_tables_at_each_ratio(store):
    made = compare(store, arm=["bigram_left", "clm", "mlm", "oracle"])
    pairs = list(dict.fromkeys(zip(made["first"], made["second"], strict=True)))
    assert pairs == [("mlm", "clm"), ("mlm", "bigram_left"), ("clm", "bigram_left")]
    assert set(made["ratio"]) == {0.15, 0.5}
    assert set(made["metric"]) == {
        "exact_match", "exact_match_content", "bleu", "rougeL", "meteor", "bertscore"
    }  # fmt: skip
    row = made[(made["metric"] == "exact_match") & (made["ratio"] == 0.5)].iloc[0]
    assert row["difference"] > 0 and row["low"] <= row["difference"] <= row["high"] and row["n"] == 12
    shown = widen_measures(made, ["ratio"])
    assert list(shown["pair"][:3]) == ["mlm - clm", "mlm - bigram_left", "clm - bigram_left"]
    assert shown["BLEU"][0].startswith(("+", "-"))


def test_fewer_nats_put_an_arm_ahead(store, forged):
    for arm, nats in (("mlm", 1.0), ("clm", 2.0)):
        file = forged.inputs[f"score/{arm}-random-0.5"] / "statistics.jsonl"
        rows = [[nats * (1 + i % 3), 1 + i % 3] for i in range(12)]
        write_lines(
            file, [*read_lines(file), {"scope": "fills", "metric": "nats_per_character", "rows": rows}]
        )
        sign(file.parent)
    made = compare(store, arm=["mlm", "clm"], ratio=0.5).set_index("metric")
    assert made.loc["nats_per_character", "difference"] == pytest.approx(1.0)


def test_a_text_that_was_scored_twice_counts_once_and_two_texts_of_one_name_are_not_compared(store, forged):
    first = forged.inputs["score/mlm-random-0.5"]
    copy_artifact(first, 1000)
    assert len(compare(store, arm=["mlm", "clm"], ratio=0.5)) == 6
    other = copy_artifact(first, 1001)
    rows = list(read_lines(other / "statistics.jsonl"))
    write_lines(other / "statistics.jsonl", [row | {"rows": row["rows"][::-1]} for row in rows])
    sign(other)
    assert compare(store, arm=["mlm", "clm"], ratio=0.5).empty


def test_the_table_of_a_store_has_them_beside_it(store, capsys):
    assert main(["table", "--store", str(store), "arm=mlm,clm"]) == 0
    assert "Differences" in capsys.readouterr().out
    (file,) = store.glob("tables/*/differences.csv")
    assert set(pd.read_csv(file)["first"]) == {"mlm"}
    assert "### Differences" in (file.parent / "table.md").read_text()


def test_a_single_run_says_its_scores(forged, capsys):
    print_result(forged.inputs["score/mlm-random-0.5"])
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "tiny mlm random 0.5 0 none (12 documents)"
    assert told[1].split() == ["exact", "match", "0.600", "[0.000,", "1.000]"]
    generation = forged.inputs["generate/mlm-random-0.5"]
    print_result(generation)
    record = json.loads((generation / "ledger.json").read_text())
    assert f"{record['flops']:,}" in capsys.readouterr().out
