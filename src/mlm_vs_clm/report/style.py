"""Names, order and looks: preferred where known, sensible where not, never by colour alone."""

from collections.abc import Iterable

import pandas as pd

BASELINES = ("unfilled", "unigram", "uniform", "oracle")
ARMS = ("mlm", "mlm_leaky", "infill", "clm", "seq2seq_kept", "seq2seq_sentinel", *BASELINES)
REFERENCES = {"real": "real (ceiling)", "shuffled": "shuffled labels (floor)", "majority": "majority (floor)"}
TRAINED_ON = ("real", *ARMS, "shuffled", "majority")
CORPORA = ("abstracts", "plots", "speeches")
STRATEGIES = ("random", "stopwords", "punctuation", "entities", "content_words", "spans")
SCOPES = {"document": "whole document", "fills": "fills alone"}
OBJECTIVES = ("mlm", "clm", "seq2seq", "infill")
COPYING = {"share_kept": "share of the original kept", "longest_copied_run": "longest copied run (words)"}
METRICS = {
    "exact_match": "blanks restored exactly",
    "bleu": "BLEU",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougeL": "ROUGE-L",
    "meteor": "METEOR",
    "bertscore": "BERTScore",
    "distinct1": "distinct-1",
    "distinct2": "distinct-2",
    "distinct3": "distinct-3",
    "repetition": "repetition (share)",
    "longest_repeat": "longest repeat (words)",
}
UTILITIES = {
    "auc": "AUC",
    "micro_f1": "micro-F1",
    "f1": "F1",
    "macro_f1": "macro-F1",
    "lenient_f1": "lenient F1",
    "lenient_macro_f1": "lenient macro-F1",
    "brier": "Brier",
    "c_at_1": "c@1",
    "f05u": "F0.5u",
    "lenient_precision": "lenient precision",
    "lenient_recall": "lenient recall",
}

LOOKS = {  # Okabe and Ito's palette, then Tol's muted one: colour-blind readers can tell them apart; each has its own marker
    "mlm": ("#0072B2", "o", "-"),
    "mlm_leaky": ("#56B4E9", "s", "--"),
    "infill": ("#CC79A7", "P", "-."),
    "clm": ("#D55E00", "^", "-"),
    "seq2seq_kept": ("#E69F00", "D", "-."),
    "unfilled": ("#000000", "x", ":"),
    "unigram": ("#009E73", "v", "--"),
    "uniform": ("#767676", "+", ":"),
    "oracle": ("#000000", "*", "-"),
    "mlm_left": ("#117733", "<", "--"),
    "mlm_parallel": ("#332288", ">", ":"),
    "mlm_confidence": ("#882255", "d", "-."),
    "clm_general": ("#999933", "p", "--"),
}
SPARE_COLOURS = ("#CC79A7", "#009E73", "#0072B2", "#D55E00", "#56B4E9", "#E69F00", "#000000")
SPARE_MARKERS = ("h", "X", "8", "1", "2", "3", "4", "H", "|", "_")


def looks(arms: Iterable[str]) -> dict[str, dict]:
    """Return matplotlib's colour, marker and line style per arm; unknown arms take spare ones in sorted order."""
    arms = list(arms)
    unknown = sorted(set(arms) - set(LOOKS))
    spare = {
        arm: (SPARE_COLOURS[i % len(SPARE_COLOURS)], SPARE_MARKERS[i % len(SPARE_MARKERS)], (0, (4, 1, 1, 1)))
        for i, arm in enumerate(unknown)
    }
    chosen = {arm: (LOOKS | spare)[arm] for arm in arms}
    return {
        arm: {"color": colour, "marker": marker, "linestyle": line}
        for arm, (colour, marker, line) in chosen.items()
    }


def name_metric(metric: str) -> str:
    """Return a metric's name for people: `rougeL_gain` becomes "ROUGE-L, normalised gain"."""
    base = metric.removesuffix("_gain")
    name = (METRICS | UTILITIES | COPYING).get(base, base.replace("_", " "))
    return name if base == metric else f"{name}, normalised gain"


def label_axis(metric: str, values: pd.Series) -> str:
    """Return an axis label with its unit, read off the values: shares end at 1, percentages go beyond."""
    if metric.endswith("_gain"):
        return f"{name_metric(metric)}\n(0 = unfilled, 1 = original)"
    if metric == "exact_match":
        return f"{name_metric(metric)}\n({'%' if decimals(values) == 1 else 'share'})"
    return f"{name_metric(metric)} ({'0–100' if decimals(values) == 1 else '0–1'})"


def decimals(values: pd.Series) -> int:
    """Return the decimals to print: three for shares, one for percentages and counts."""
    largest = values.abs().max()
    return 1 if largest > 2 else 3


def order_metrics(metrics: Iterable[str], kind: str) -> list[str]:
    """Return the metrics of one kind (`overlap`, `gain` or `variety`) in the order in which people read them."""
    return ordered((metric for metric in metrics if kind_of(metric) == kind), preferred_metrics())


def kind_of(metric: str) -> str:
    """Return `gain` for normalised gains, `variety` for distinct-n and repeats, `overlap` for the rest."""
    if metric.endswith("_gain"):
        return "gain"
    return "variety" if metric.startswith(("distinct", "repetition", "longest_repeat")) else "overlap"


def preferred_metrics() -> list[str]:
    """Return the metrics in reading order, gains in the same order after them."""
    return [*METRICS, *(f"{metric}_gain" for metric in METRICS)]


def main_qualities(scores: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the (scope, metric) that stands for each scope: a document metric that is not BLEU's copy count, exact fills."""
    wanted = {"document": ("bertscore", "rougeL", "bleu"), "fills": ("exact_match", "bleu", "rougeL")}
    found = []
    for scope in ordered(scores["scope"], SCOPES):
        metrics = scores.loc[scores["scope"] == scope, "metric"]
        names = ordered(metrics, wanted.get(scope, ()))
        found += [(scope, names[0])] if names else []
    return found


def ordered(values: Iterable, preferred: Iterable) -> list:
    """Return the distinct values that are present: preferred ones in their order, then the others sorted."""
    present = {value for value in values if pd.notna(value)}
    known = [value for value in dict.fromkeys(preferred) if value in present]
    return known + sorted(present - set(known))
