"""The numbers of the page on footguns are those of the study that it names."""

import pandas as pd
import pytest

from mlm_vs_clm.files import ROOT

PAGE = " ".join((ROOT / "docs" / "footguns.md").read_text(encoding="utf-8").split())
STUDY = ROOT / "results" / "laptop"


def read(name):
    return pd.read_csv(STUDY / f"{name}.csv", keep_default_na=False, na_values=[""])


def score(metric, arm, ratio=0.5, corpus="abstracts", seed=0):
    rows = read("scores").set_index(["metric", "arm", "corpus", "strategy", "seed", "ratio"])
    return rows.sort_index().loc[(metric, arm, corpus, "random", slice(None), ratio), "value"]


SENTENCES = {
    "missing scores {:.1f} on abstracts": lambda: score("bleu", "unfilled").mean(),
    "word in every blank {:.1f}": lambda: score("bleu", "constant").mean(),
    "`mlm` scores {:.1f},": lambda: score("bleu", "mlm").mean(),
    "without them scores {:.1f}": lambda: score("bleu", "unfilled", 0.15).mean(),
    "left out ({:.3f})": lambda: score("bertscore", "unfilled").mean(),
    "wrote anew ({:.3f})": lambda: score("bertscore", "seq2seq_kept").mean(),
    "in each blank ({:.3f})": lambda: score("bertscore", "constant").mean(),
    "Drawn words restore {:.3f}": lambda: score("exact_match", "unigram").mean(),
    "word alone restores {:.3f}": lambda: score("exact_match", "constant").mean(),
    "neighbours in sight {:.3f}": lambda: score("exact_match", "bigram_both").mean(),
    "`clm` restores {:.3f}": lambda: score("exact_match", "clm").mean(),
    "`mlm_leaky` ({:.3f})": lambda: score("exact_match", "mlm_leaky").mean(),
    "same originals restores {:.3f}": lambda: score("exact_match", "bigram_leaky").mean(),
    "reaches F1 {:.3f}": lambda: utility("constant"),
    "text of `mlm` {:.3f}": lambda: utility("mlm"),
    "the original {:.3f}": lambda: utility("real"),
    "needs {:.2f} nats per character and": lambda: score("nats_per_character", "mlm").iloc[0],
    "`infill` {:.2f};": lambda: score("nats_per_character", "infill").iloc[0],
}


def utility(trained_on):
    rows = read("downstream")
    rows = rows[
        (rows["corpus"] == "abstracts") & (rows["metric"] == "f1") & rows["ratio"].isin([0.5, float("nan")])
    ]
    return rows.loc[rows["trained_on"] == trained_on, "value"].mean()


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_number_of_the_page_is_that_of_the_table(sentence):
    assert sentence.format(SENTENCES[sentence]()) in PAGE


def test_what_the_page_says_of_rouge_and_of_the_constant():
    for corpus in ("abstracts", "plots", "speeches"):
        unfilled, *written = [
            score("rouge1", arm, corpus=corpus).mean() for arm in ("unfilled", "constant", "seq2seq_kept")
        ]
        assert unfilled > max(written)
    assert 0.55 < score("bleu", "constant").mean() / score("bleu", "mlm").mean() < 0.65
