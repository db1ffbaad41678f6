"""Tables as a finished study leaves them: every number is invented by a formula and stands for nothing."""

from itertools import product

import numpy as np
import pandas as pd
from made_cells import COMPARISONS

from mlm_vs_clm.evidence.differences import MEASURES
from mlm_vs_clm.evidence.equal_compute import BASES
from mlm_vs_clm.evidence.tables import COLUMNS, COMPUTE, CURVE, SEED, TEXT, TRAINING_DATA, tidy
from mlm_vs_clm.tasks import TASKS

ARMS = {  # arm -> share of the blanks that it fills well, cost relative to clm, order of filling
    "mlm": (0.28, 64, "random"),
    "mlm_leaky": (0.33, 64, "random"),
    "mlm_diffusion": (0.25, 2, "parallel"),
    "clm": (0.2, 1, "left_to_right"),
    "seq2seq_kept": (0.14, 1.7, "left_to_right"),
    "unfilled": (0.0, 0, ""),
    "unigram": (0.06, 0, ""),
    "uniform": (0.01, 0, ""),
    "oracle": (1.0, 0, ""),
}
MASKINGS = {("random", 0.15): 0.15, ("random", 0.5): 0.5, ("random", 1.0): 1.0}
MASKINGS |= {("stopwords", 1.0): 0.4, ("punctuation", 1.0): 0.12, ("entities", 1.0): 0.1}  # -> share masked
GAPS = {
    "as reported": 0.6,
    "no leak": 0.4,
    "known length": 0.2,
    "without own errors": 0.1,
    "left context": 0.0,
    "both contexts": -0.2,
}
GAPS |= {"both contexts, look-ahead": 0.1, "SmolLM2 as it comes": 0.2}
GAPS |= {"as reported, pretrained": 0.5, "no leak, pretrained": 0.3}
CORPORA = dict(zip(("abstracts", "plots", "speeches"), ("ner", "genres", "verification"), strict=True))
METRICS = {
    "document": (
        "bleu rouge1 rouge2 rougeL meteor bertscore bleu_gain rougeL_gain distinct2 repetition longest_repeat"
    ).split(),
    "fills": "exact_match exact_match_content share_content distinct1 repetition".split(),
}
MASKING = {"strategy": "random", "ratio": 0.5}
VERDICT = "status direction size margin p_holm excluded_because reason".split()
STUDY = {"scale": "smoke", "track": "matched", "main_strategy": "random", "main_ratio": 0.5}
STUDY |= {"starts_from": "an encoder", "rules": "0"}


def tidy_fakes(corpora=("abstracts",)) -> dict[str, pd.DataFrame]:
    """Return every table as the report reads it."""
    tables = fake_tables(corpora)
    return {name: tidy(name, tables.get(name, pd.DataFrame())) for name in COLUMNS}


def fake_tables(corpora=tuple(CORPORA)) -> dict[str, pd.DataFrame]:
    """Return every table for a full grid of one seed, with one cell missing for a reason."""
    rng = np.random.default_rng(7)
    cells = [
        {"corpus": corpus, "arm": arm, "strategy": strategy, "ratio": ratio, "seed": 0}
        for corpus in corpora
        for arm in ARMS
        for strategy, ratio in MASKINGS
    ]
    texts = [row for corpus in corpora for row in difference_rows(corpus)]
    utilities = [row for cell in cells for row in utility_rows(rng, cell)]
    tables = {
        "study": [STUDY],
        "scores": [row for cell in cells for row in score_rows(rng, cell)],
        "signatures": [
            {"metric": metric, "signature": f"fake {metric}|v:0"}
            for metric in dict.fromkeys(name for names in METRICS.values() for name in names)
        ],
        "downstream": [row for corpus in corpora for row in reference_rows(corpus)] + utilities,
        "comparisons": [
            *texts,
            *(utility_difference_row(row) for row in texts if row["metric"] == "exact_match"),
            *(row | {"kind": SEED, "at": str(seed), "p": None} for row in texts for seed in (0, 1)),
            *(row for text in texts for row in curve_rows(text)),
            *(row for text in texts for row in compute_rows(text)),
        ],
        "learning": [row for corpus in corpora for row in learning_rows(corpus)],
        "ledger": [ledger_row(cell) for cell in cells],
        "correlation": [row for corpus in corpora for row in correlation_rows(corpus)],
        "training": training_rows(),
        "answers": [row for corpus in corpora for row in answer_rows(corpus)],
    }
    made = {name: pd.DataFrame(rows) for name, rows in tables.items()}
    return made | {"comparisons": made["comparisons"].reindex(columns=COLUMNS["comparisons"])}


def score_rows(rng, cell):
    lost = cell["arm"] == "seq2seq_kept" and cell["corpus"] == "plots"
    about = {"objective": cell["arm"], "context": "both", "length": "known", "order": ARMS[cell["arm"]][2]}
    about |= {"share": cell["ratio"] * 0.98, "n": 150}
    for scope, metrics in METRICS.items():
        for metric in metrics:
            value = np.nan if lost and scope == "fills" else fake_score(rng, cell, scope, metric)
            half = (2.5 if metric == "bleu" else 0.025) * (cell["arm"] != "oracle")
            reason = "the fills could not be aligned with the blanks" if np.isnan(value) else None
            names = {"scope": scope, "metric": metric, "artifact": "fake"}
            yield cell | about | names | interval(value, half) | {"reason": reason}


def interval(value, half):
    return {"value": value, "low": value - half, "high": value + half}


def fake_score(rng, cell, scope, metric):
    share, skill = MASKINGS[cell["strategy"], cell["ratio"]], ARMS[cell["arm"]][0]
    skill = skill if cell["arm"] == "oracle" else skill * (1.15 - 0.6 * share)
    value = skill if scope == "fills" or metric.endswith("_gain") else 1 - share * (1 - skill)
    value = value if cell["arm"] == "oracle" else max(0.0, value + rng.normal(0, 0.01))
    return 100 * value if metric == "bleu" else value


def reference_rows(corpus):
    place = {"corpus": corpus, "strategy": None, "ratio": None, "seed": 0}
    for name, value in {"real": 0.74, "majority": 0.3, "shuffled": 0.35}.items():
        yield utility_row(place, name, main_metric(corpus), value)


def utility_rows(rng, cell):
    if cell["arm"] == "oracle":
        return
    value = 0.5 + 0.3 * ARMS[cell["arm"]][0] + rng.normal(0, 0.02)
    values = {main_metric(cell["corpus"]): value, "precision": value + 0.01}
    values |= {"share_kept": 1 - cell["ratio"], "longest_copied_run": 12 / cell["ratio"]}
    place = {key: value for key, value in cell.items() if key != "arm"}
    for metric, value in values.items():
        yield utility_row(place, cell["arm"], metric, value)


def utility_row(place, trained_on, metric, value):
    names = {"task": CORPORA[place["corpus"]], "trained_on": trained_on, "metric": metric, "artifact": "fake"}
    return place | names | interval(value, 0.03) | {"share": place["ratio"], "n": 200}


def main_metric(corpus):
    return TASKS[CORPORA[corpus]].main_metric


def ledger_row(cell):
    _, cost, order = ARMS[cell["arm"]]
    context = {"context": "both", "length": "known", "order": order, "documents": 150}
    context["method"] = "masked" if cell["arm"] in ("mlm", "mlm_diffusion") else cell["arm"]
    counts = {"blanks": int(18_000 * cell["ratio"]), "tokens_filled": int(24_000 * cell["ratio"])}
    counts |= {"passes": int(cost * 100), "token_forwards": int(cost * 150 * 128)}
    counts |= {"flops": cost * 150 * 128 * 4.5e7 * (0.2 + cell["ratio"])}
    place = {"seconds": cost * 0.7, "peak_memory_mb": 900.0, "device": "cpu", "precision": "float32"}
    return cell | context | counts | place | {"artifact": "fake"}


def difference_rows(corpus):
    for comparison in COMPARISONS:
        for scope, metric in MEASURES:
            absent = comparison.first == "mlm_left" and corpus == "speeches"
            scale = 10 if metric == "bleu" else 0.1
            value = np.nan if absent else scale * GAPS[comparison.name]
            names = {"corpus": corpus, "comparison": comparison.name, "scope": scope, "metric": metric}
            names |= {"first": comparison.first, "second": comparison.second, "kind": TEXT, "at": ""}
            names |= MASKING
            numbers = interval(value, 0.15 * scale) | {"p": value * 0 + 0.01, "n": value * 0 + 150}
            side = "first" if value > 0 else "second" if value < 0 else "none shown"
            verdict = {"status": "made", "direction": side, "size": "not settled", "margin": 0.02}
            verdict = {"status": "not run"} if absent else verdict | {"p_holm": 0.01}
            reason = {"excluded_because": "", "reason": "not run: mlm_left" if absent else None}
            yield names | numbers | dict.fromkeys(VERDICT) | verdict | reason


def utility_difference_row(row):
    metric = TASKS[CORPORA[row["corpus"]]].main_metric
    return row | {"kind": TRAINING_DATA, "scope": "utility", "metric": metric}


def compute_rows(row):
    shared = row | {"kind": COMPUTE, "p": None}
    shared |= {"flops_first": 6.4e9, "flops_second": 1.7e9, "value_first": np.nan, "value_second": np.nan}
    for basis in BASES:
        is_known = basis == BASES[0] or (basis == BASES[1] and row["comparison"] == "known length")
        numbers = {key: row[key] if is_known else np.nan for key in ("value", "low", "high", "n")}
        reason = {} if is_known else {"reason": "a single cost", "status": "not run"}
        yield shared | numbers | {"at": basis} | reason


def correlation_rows(corpus):
    for scope, metric in (("document", "bertscore"), ("fills", "exact_match")):
        for statistic in ("spearman", "kendall", "partial_spearman"):
            absent = statistic == "partial_spearman" and corpus == "speeches"
            names = {"corpus": corpus, "quality_metric": metric, "quality_scope": scope, "n_cells": 42}
            names |= {"utility_metric": main_metric(corpus), "statistic": statistic, "bound": 0.5}
            numbers = dict.fromkeys(("value", "low", "high"), np.nan) if absent else interval(0.31, 0.35)
            missing = {"decision": "", "reason": "share is constant over the cells"} if absent else {}
            yield names | numbers | {"decision": "inconclusive", "reason": None} | missing


BUDGETS = (60_000, 120_000, 240_000)


def learning_rows(corpus):
    for i, budget in enumerate(BUDGETS):
        for arm in ("mlm", "clm"):
            about = {"corpus": corpus, "arm": arm, "seed": 0, "scope": "fills", "metric": "exact_match"}
            about |= {
                "budget": budget,
                "tokens_seen": budget,
                "tokens_predicted": budget // 2,
                "passes": i / 2,
            }
            yield about | interval(0.1 + 0.02 * i, 0.12 + 0.02 * i) | {"n": 150, "excluded_because": ""}


def curve_rows(row):
    for i, budget in enumerate(BUDGETS):
        for matching in ("tokens seen", "tokens predicted"):
            about = {
                "kind": CURVE,
                "at": matching,
                "budget": budget,
                "budget_second": budget,
                "passes": i / 2,
            }
            yield row | about


def answer_rows(corpus):
    for condition in ("no leak", "known length"):
        names = {
            "claim": "C1",
            "condition": condition,
            "corpus": corpus,
            "scope": "document",
            "metric": "bleu",
        }
        names |= {"kind": "difference", "first_arm": "mlm", "second_arm": "clm", "status": "made"}
        names |= {"direction": "first", "size": "outside", "excluded": "", "excluded_because": ""}
        names |= {f"{side}_{key}": value for side in ("first", "second") for key, value in MASKING.items()}
        numbers = {"effect": 2.0, "low": 1.0, "high": 3.0, "margin": 0.5, "p": 0.01, "detectable": 0.5}
        yield names | numbers | {"runs": 5, "n": 150, "unsure": False, "needs": "", "reason": ""}


def training_rows():
    about = {"model": "minilm", "initialisation": "fake encoder", "corpora": "abstracts+plots+speeches"}
    for objective in ("mlm", "clm", "seq2seq"):
        for i, corpus in product(range(5), about["corpora"].split("+")):
            loss, names = 5 + 4 * np.exp(-i / 3), {"objective": objective, "artifact": f"fake-{objective}"}
            names |= {"corpus": corpus, "budget": i * 40_000, "passes": 0.4 * i}
            counts = {
                "step": i * 25,
                "tokens_seen": i * 40_000,
                "tokens_predicted": i * 20_000,
                "flops": i * 1e12,
            }
            losses = {"train_loss": loss, "dev_loss": loss + 0.1 if i % 2 == 0 else np.nan}
            yield about | names | counts | losses | {"tokens_per_second": 1780.0}


def fake_examples(corpora=tuple(CORPORA)) -> list[dict]:
    kept, originals = ["The ", " brown fox ", " & <stops>."], ["quick", "jumps"]
    arms = {"mlm": ["small", 1], "clm": ["old", ["Jumps"]], "unfilled": ["", ""]}
    about = {"strategy": "random", "kept": kept, "originals": originals, "arms": arms, "texts": {}}
    cells = [(corpus, ratio) for corpus in corpora for ratio in (0.15, 0.5)]
    return [
        about | {"corpus": corpus, "ratio": ratio, "document": f"{corpus}-{i}"}
        for i, (corpus, ratio) in enumerate(cells)
    ]


def fake_cards(corpora=tuple(CORPORA)) -> list[dict]:
    sizes = {"documents": 150, "words": 12_000}
    labels = {"pretrain": {f"label {i}": i for i in range(12)}, "test": {"label 3": 1}}
    about = {"files": ["fake.csv"], "splits": dict.fromkeys(("pretrain", "generate", "test"), sizes)}
    about |= {
        "labels": labels,
        "entities": {"pretrain": {}, "test": {}},
        "dropped": {"duplicate": 3, "empty": 1},
    }
    about |= {"licence": "invented", "differs_from_the_paper": "invented for a test"}
    return [{"name": corpus} | about for corpus in corpora]


def fake_about() -> dict:
    return {
        "rules": "Rules 0.",
        "scale": "smoke",
        "command": "make reproduce SCALE=smoke",
        "initialisation": "a fake encoder",
        "budget": "",
        "models": ["clm", "mlm"],
        "versions": {"python": "3.11", "mlm-vs-clm": "0"},
        "artifacts": [{"stage": "corpus", "artifacts": 1, "names": "corpus/0"}],
    }
