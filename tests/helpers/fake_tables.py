"""Tables as a finished study leaves them, drawn and not measured."""

import numpy as np
import pandas as pd
from made_cells import COMPARISONS

from mlm_vs_clm.analysis.equal_compute import BASES
from mlm_vs_clm.analysis.gap import MEASURES

CELLS = (("random", 0.15), ("random", 0.5), ("random", 1.0)) + tuple(
    (strategy, 1.0) for strategy in ("stopwords", "punctuation", "entities")
)


SKILL = {
    "mlm": 0.28,
    "mlm_leaky": 0.33,
    "clm": 0.2,
    "seq2seq_kept": 0.14,
    "unfilled": 0.0,
    "unigram": 0.06,
    "uniform": 0.01,
    "oracle": 1.0,
}


TASKS = {"abstracts": ("ner", "f1"), "plots": ("genres", "micro_f1"), "speeches": ("verification", "auc")}


METRICS = {
    "document": (
        "bleu rouge1 rouge2 rougeL meteor bertscore bleu_gain rougeL_gain distinct2 repetition longest_repeat"
    ).split(),
    "fills": "exact_match bleu rougeL meteor bertscore distinct1".split(),
}


def fake_tables(corpora=tuple(TASKS), seeds=(0,)) -> dict[str, pd.DataFrame]:
    """Return every table for a full grid, with one cell missing for a reason."""
    rng = np.random.default_rng(7)
    grid = [(c, a, s, r, seed) for c in corpora for a in SKILL for s, r in CELLS for seed in seeds]
    study = {"scale": "smoke", "track": "matched", "main_strategy": "random", "main_ratio": 0.5, "rules": "0"}
    return {
        "study": pd.DataFrame([study]),
        "scores": pd.DataFrame([row for cell in grid for row in score_rows(rng, *cell)]),
        "downstream": pd.DataFrame(downstream_rows(rng, grid, corpora, seeds)),
        "gap": pd.DataFrame([row for corpus in corpora for row in gap_rows(corpus)]),
        "runs": pd.DataFrame([row for corpus in corpora for row in run_rows(corpus)]),
        "ledger": pd.DataFrame([ledger_row(*cell) for cell in grid]),
        "equal_compute": pd.DataFrame([row for corpus in corpora for row in equal_rows(corpus)]),
        "correlation": pd.DataFrame([row for corpus in corpora for row in correlation_rows(corpus)]),
        "training": pd.DataFrame(training_rows()),
    }


def score_rows(rng, corpus, arm, strategy, ratio, seed):
    for scope, metrics in METRICS.items():
        for metric in metrics:
            value = fake_score(rng, arm, strategy, ratio, scope, metric)
            if arm == "seq2seq_kept" and scope == "fills" and corpus == "plots":
                value = np.nan
            half = (2.5 if metric == "bleu" else 0.025) * (arm != "oracle")
            yield {
                "corpus": corpus,
                "arm": arm,
                "objective": arm.split("_")[0] if "m" in arm[:3] else "",
                "context": "both",
                "length": "known",
                "order": "random",
                "strategy": strategy,
                "ratio": ratio,
                "share": ratio * 0.98,
                "seed": seed,
                "scope": scope,
                "metric": metric,
                "value": value,
                "low": value - half,
                "high": value + half,
                "n": 150,
                "signature": f"fake {metric}|v:0",
                "artifact": f"fake-{corpus}-{arm}-{strategy}-{ratio}",
                "reason": "the fills could not be aligned with the blanks" if np.isnan(value) else None,
            }


def fake_score(rng, arm, strategy, ratio, scope, metric):
    hidden = (
        ratio if strategy == "random" else {"stopwords": 0.4, "punctuation": 0.12, "entities": 0.1}[strategy]
    )
    skill = SKILL[arm] * (1 if arm == "oracle" else 1.15 - 0.6 * hidden)
    value = skill if scope == "fills" or metric.endswith("_gain") else 1 - hidden * (1 - skill)
    value = value if arm == "oracle" else max(0.0, value + rng.normal(0, 0.01))
    return 100 * value if metric == "bleu" else value


def downstream_rows(rng, grid, corpora, seeds):
    for corpus in corpora:
        for name, value in {"real": 0.74, "majority": 0.3, "shuffled": 0.35}.items():
            for seed in seeds:
                yield downstream_row(corpus, name, None, None, seed, TASKS[corpus][1], value)
    for corpus, arm, strategy, ratio, seed in grid:
        if arm == "oracle":
            continue
        value = 0.5 + 0.3 * SKILL[arm] + rng.normal(0, 0.02)
        yield downstream_row(corpus, arm, strategy, ratio, seed, TASKS[corpus][1], value)
        yield downstream_row(corpus, arm, strategy, ratio, seed, "precision", value + 0.01)
        yield downstream_row(corpus, arm, strategy, ratio, seed, "share_kept", 1 - ratio)
        yield downstream_row(corpus, arm, strategy, ratio, seed, "longest_copied_run", 12 / ratio)


def downstream_row(corpus, trained_on, strategy, ratio, seed, metric, value):
    return {
        "task": TASKS[corpus][0],
        "corpus": corpus,
        "trained_on": trained_on,
        "strategy": strategy,
        "ratio": ratio,
        "share": ratio,
        "seed": seed,
        "metric": metric,
        "value": value,
        "low": value - 0.03,
        "high": value + 0.03,
        "n": 200,
        "artifact": f"fake-{corpus}-{trained_on}",
    }


def ledger_row(corpus, arm, strategy, ratio, seed):
    cost = {"mlm": 64, "mlm_leaky": 64, "clm": 1, "seq2seq_kept": 1.7}.get(arm, 0)
    return {
        "corpus": corpus,
        "arm": arm,
        "context": "both",
        "length": "known",
        "order": "random",
        "strategy": strategy,
        "ratio": ratio,
        "seed": seed,
        "documents": 150,
        "blanks": int(150 * 120 * ratio),
        "tokens_filled": int(150 * 160 * ratio),
        "passes": int(cost * 100),
        "token_forwards": int(cost * 150 * 128),
        "flops": cost * 150 * 128 * 4.5e7 * (0.2 + ratio),
        "seconds": cost * 0.7,
        "peak_memory_mb": 900.0,
        "device": "cpu",
        "precision": "float32",
        "artifact": f"fake-{corpus}-{arm}-{strategy}-{ratio}",
    }


def equal_rows(corpus):
    for row in gap_rows(corpus):
        shared = {key: row[key] for key in ("corpus", "step", "first", "second", "scope", "metric")}
        for basis in BASES:
            known = basis == BASES[0] or (basis == BASES[1] and row["step"] == "known length")
            numbers = {key: row[key] if known else np.nan for key in ("value", "low", "high", "n")}
            yield (
                shared
                | numbers
                | {
                    "basis": basis,
                    "flops_first": 6.4e9,
                    "flops_second": 1.7e9,
                    "value_first": np.nan,
                    "value_second": np.nan,
                    "reason": row["reason"] if known else "one cost alone",
                }
            )


def correlation_rows(corpus):
    for scope, metric in (("document", "bertscore"), ("fills", "exact_match")):
        for statistic in ("spearman", "kendall", "pearson", "partial_spearman"):
            missing = statistic == "partial_spearman" and corpus == "speeches"
            yield {
                "corpus": corpus,
                "quality_metric": metric,
                "quality_scope": scope,
                "utility_metric": TASKS[corpus][1],
                "statistic": statistic,
                "value": np.nan if missing else 0.31,
                "low": np.nan if missing else -0.1,
                "high": np.nan if missing else 0.62,
                "n_cells": 42,
                "bound": 0.5,
                "decision": "" if missing else "inconclusive",
                "reason": "share is constant over the cells" if missing else None,
            }


def gap_rows(corpus):
    for place, step in enumerate(COMPARISONS):
        for scope, metric in MEASURES:
            missing = step.first == "mlm_left" and corpus == "speeches"
            value = (10 if metric == "bleu" else 0.1) * (0.6 - 0.2 * place)
            half = 1.5 if metric == "bleu" else 0.015
            yield {
                "corpus": corpus,
                "step": step.name,
                "first": step.first,
                "second": step.second,
                "scope": scope,
                "metric": metric,
                "value": np.nan if missing else value,
                "low": np.nan if missing else value - half,
                "high": np.nan if missing else value + half,
                "p": np.nan if missing else 0.01,
                "n": np.nan if missing else 150,
                "reason": "not run: mlm_left" if missing else None,
            }


def run_rows(corpus):
    for seed in (0, 1):
        for row in gap_rows(corpus):
            yield {key: value for key, value in row.items() if key != "p"} | {"seed": seed}


def training_rows():
    for objective in ("mlm", "clm", "seq2seq"):
        for i in range(11):
            yield {
                "objective": objective,
                "model": "minilm",
                "initialisation": "fake encoder",
                "corpora": "abstracts+plots+speeches",
                "step": i * 25,
                "tokens_seen": i * 40_000,
                "tokens_predicted": i * (20_000 if objective == "mlm" else 40_000),
                "train_loss": 5 + 4 * np.exp(-i / 3) + 0.05 * (-1) ** i,
                "dev_loss": 5.1 + 4 * np.exp(-i / 3) if i % 2 == 0 else np.nan,
                "flops": i * 1e12,
                "tokens_per_second": 1780.0,
                "artifact": f"fake-{objective}",
            }


def fake_examples(corpora=tuple(TASKS)) -> list[dict]:
    original = [
        ["The ", False],
        ["quick", True],
        [" brown fox ", False],
        ["jumps", True],
        [" & <stops>.", False],
    ]
    fills = {"mlm": ("small", "walks"), "clm": ("old", "of"), "unfilled": ("", "")}
    arms = {
        arm: [["The ", False], [one, True], [" brown fox ", False], [two, True], [" & <stops>.", False]]
        for arm, (one, two) in fills.items()
    }
    cells = [(corpus, ratio) for corpus in corpora for ratio in (0.15, 0.5)]
    return [
        {
            "corpus": corpus,
            "strategy": "random",
            "ratio": ratio,
            "document": f"{corpus}-{i}",
            "original": original,
            "arms": arms,
        }
        for i, (corpus, ratio) in enumerate(cells)
    ]


def fake_cards(corpora=tuple(TASKS)) -> list[dict]:
    return [
        {
            "name": corpus,
            "files": ["fake.csv"],
            "splits": {
                split: {"documents": 150, "words": 12_000} for split in ("pretrain", "generate", "test")
            },
            "labels": {"pretrain": {f"label {i}": i for i in range(12)}, "test": {"label 3": 1}},
            "entities": {"pretrain": {}, "test": {}},
            "dropped": {"duplicate": 3, "empty": 1},
            "licence": "invented",
            "differs_from_the_paper": "invented for a test",
        }
        for corpus in corpora
    ]


def fake_about() -> dict:
    return {
        "scale": "smoke",
        "command": "make reproduce SCALE=smoke",
        "initialisation": "a fake encoder",
        "models": [
            {"objective": "mlm", "parameters": 22_700_000},
            {"objective": "clm", "parameters": 22_700_000},
        ],
        "deviations": [{"what": "corpus", "paper": "discharge summaries", "here": "abstracts"}],
        "versions": {"python": "3.11", "mlm-vs-clm": "0"},
    }
