"""Names, order and looks: known names first, others after them in sorted order, and never colour alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import pandas as pd

from ..evidence.tables import at_main_cell
from ..masking import STRATEGIES
from ..tasks import TASKS

LOOKS: dict[
    str, tuple[str, str, Any]
] = {  # Okabe and Ito's palette, then Tol's muted one: safe for colour-blind readers; each arm has its own marker
    "mlm": ("#0072B2", "o", "-"),
    "mlm_leaky": ("#56B4E9", "s", "--"),
    "mlm_left": ("#117733", "<", "--"),
    "infill": ("#CC79A7", "P", "-."),
    "clm": ("#D55E00", "^", "-"),
    "clm_noised": ("#882255", "d", "-"),
    "clm_true_left": ("#332288", ">", "--"),
    "clm_lookahead": ("#AA4499", "X", "-."),
    "clm_general": ("#999933", "p", "--"),
    "seq2seq_kept": ("#E69F00", "D", "-."),
    "clm_kept": ("#661100", "H", ":"),
    "unfilled": ("#000000", "x", ":"),
    "unigram": ("#009E73", "v", "--"),
    "uniform": ("#767676", "+", ":"),
    "oracle": ("#000000", "*", "-"),
}
SERIES = (
    ("#0072B2", "o"),
    ("#D55E00", "s"),
    ("#009E73", "^"),
    ("#E69F00", "D"),
    ("#CC79A7", "P"),
    ("#56B4E9", "v"),
    ("#117733", "<"),
    ("#882255", "d"),
    ("#332288", ">"),
    ("#999933", "p"),
    ("#AA4499", "X"),
    ("#767676", "*"),
)
SPARE_COLOURS = ("#CC79A7", "#009E73", "#0072B2", "#D55E00", "#56B4E9", "#E69F00", "#000000")
SPARE_MARKERS = ("h", "8", "1", "2", "3", "4", "H", "|", "_")
ARMS = tuple(LOOKS)
REFERENCES = {
    "real": "real (upper reference)",
    "shuffled": "shuffled labels (lower reference)",
    "majority": "majority (lower reference)",
}
TRAINED_ON = ("real", *ARMS, "shuffled", "majority")
SCOPES = {"document": "whole document", "fills": "fills only", "utility": "as training data"}
COPYING = {"share_kept": "share of the original kept", "longest_copied_run": "longest copied run (words)"}
METRICS = {
    "exact_match": "exact match",
    "exact_match_content": "exact match, content words",
    "exact_match_stopword": "exact match, stopwords",
    "exact_match_punctuation": "exact match, punctuation",
    "share_content": "share of blanks: content words",
    "share_stopword": "share of blanks: stopwords",
    "share_punctuation": "share of blanks: punctuation",
    "nats_per_character": "nats per character (lower is better)",
    "bleu": "BLEU",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougeL": "ROUGE-L",
    "meteor": "METEOR",
    "bertscore": "BERTScore",
    "mmd": "squared MMD (lower is better)",
    "c2st": "C2ST accuracy (0.5 is best)",
    "nonword_rate": "non-words (share of filled words)",
    "perplexity_unrelated": "perplexity per word (unrelated model)",
    "grammar_errors": "words with a mistake (share, by a tagger)",
    "agreement": "share of blanks filled as by the reference",
    "length_error": "length error (characters per blank, lower is better)",
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
COMPARISONS = (  # of claim C1, in the order of conf/claims.yaml
    "as reported",
    "no leak",
    "known length",
    "without own errors",
    "left context",
    "both contexts",
    "both contexts, look-ahead",
)
ORDER: dict[str, Sequence] = {  # column -> its known values in reading order; – where a reference has none
    "task": tuple(TASKS),
    "arm": (*ARMS, *REFERENCES),
    "trained_on": TRAINED_ON,
    "strategy": ("–", *STRATEGIES),
    "ratio": ("–",),
    "scope": tuple(SCOPES),
    "metric": [*METRICS, *UTILITIES],
    "comparison": COMPARISONS,
}
UNITS = {"bleu": "0–100", "exact_match": "share"}
MAIN_METRICS = {"document": ("rougeL", "bleu", "bertscore"), "fills": ("exact_match",)}


@dataclass(frozen=True)
class Study:
    """What captions and commands name of a study: its scale as on the command line, and the masking of its main cell."""

    scale: str
    main: tuple[str, float]

    def at_main(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of the main cell."""
        return at_main_cell(rows, self.main)

    def describe_main(self) -> str:
        """Return "Random masking at ratio 0.5"."""
        strategy, ratio = self.main
        return f"{strategy.replace('_', ' ').capitalize()} masking at ratio {ratio:g}"


def looks(arms: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return matplotlib's colour, marker and line style per arm; unknown arms take spare ones in sorted order."""
    arms = list(arms)
    unknown = sorted(set(arms) - set(LOOKS))
    chosen = LOOKS | {
        arm: (colour, marker, (0, (4, 1, 1, 1)))
        for arm, colour, marker in zip(unknown, cycle(SPARE_COLOURS), cycle(SPARE_MARKERS), strict=False)
    }
    return {arm: dict(zip(("color", "marker", "linestyle"), chosen[arm], strict=True)) for arm in arms}


def series_looks(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return matplotlib's colour and marker per series that is not an arm, in the order given.

    Markers are hollow where a colour and marker come the second time.
    """
    looks = {}
    for number, name in enumerate(names):
        turn, place = divmod(number, len(SERIES))
        looks[name] = dict(zip(("color", "marker"), SERIES[place], strict=True)) | (
            {"fillstyle": "none"} if turn % 2 else {}
        )
    return looks


def name_metric(metric: str) -> str:
    """Return a metric's name for people: `rougeL_gain` becomes "ROUGE-L, normalised gain"."""
    base = metric.removesuffix("_gain")
    name = (METRICS | UTILITIES | COPYING).get(base, base.replace("_", " "))
    return name if base == metric else f"{name}, normalised gain"


def name_scope(scope: str) -> str:
    """Return a scope's name for people."""
    return SCOPES.get(scope, scope)


def name_measure(scope: str, metric: str) -> str:
    """Return a metric and its scope for people: "BLEU, whole document"."""
    return f"{name_metric(metric)}, {name_scope(scope)}"


def label_axis(metric: str) -> str:
    """Return an axis label with its unit."""
    if metric.endswith("_gain"):
        return f"{name_metric(metric)}\n(0 = unfilled, 1 = original)"
    return f"{name_metric(metric)}\n({unit_of(metric)})" if unit_of(metric) else name_metric(metric)


def unit_of(metric: str) -> str:
    """Return the unit of a metric; nothing where its name has it, or for an unknown metric."""
    name = (METRICS | UTILITIES).get(metric, "(")
    return UNITS.get(metric, "" if "(" in name else "0–1")


def decimals(values: pd.Series) -> int:
    """Return the decimals to print: three for shares, one for percentages and counts."""
    return 1 if values.abs().max() > 2 else 3


def digits_of(cells: pd.DataFrame) -> pd.Series:
    """Return the decimals of each value, which all values of a metric share."""
    if "metric" in cells:
        return cells.groupby("metric")["value"].transform(decimals).astype(int)
    return pd.Series(decimals(cells["value"]), index=cells.index)


def order_metrics(metrics: Iterable[str]) -> list[str]:
    """Return metrics in reading order, without the normalised gains."""
    return ordered((metric for metric in metrics if not metric.endswith("_gain")), METRICS)


def main_qualities(scores: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the main (scope, metric) of each scope: BERTScore of documents, exact match of fills, if measured."""
    known = scores.dropna(subset="value")
    found = []
    for scope in ordered(known["scope"], SCOPES):
        metrics = ordered(known.loc[known["scope"] == scope, "metric"], MAIN_METRICS.get(scope, ()))
        found.append((scope, metrics[0]))
    return found


def ordered(values: Iterable, preferred: Iterable = ()) -> list:
    """Return the distinct values that are present: preferred ones in their order, then the others sorted."""
    present = {value for value in values if pd.notna(value)}
    known = [value for value in dict.fromkeys(preferred) if value in present]
    return known + sorted(present - set(known))
