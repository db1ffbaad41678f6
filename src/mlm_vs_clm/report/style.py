"""Names, order and looks: known names first, others after them in sorted order, and never colour alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import pandas as pd

from ..arms.baselines import MATCHED_TABLES, base_of
from ..arms.roles import CAUSAL, CONTROL, MASKED, TABLE, find_role, load_roles
from ..evidence.tables import at_main_cell, main_cell
from ..masking import STRATEGIES
from ..metrics import MEASURES
from ..tasks import TASKS

OWN = "own"  # the scale of a user's own texts
OWN_TRACKS = ("own_masked", "own_causal")  # of a user's own model
# Safe for colour-blind readers.
COLOURS = {MASKED: "#0072B2", CAUSAL: "#D55E00", TABLE: "#00795A", CONTROL: "#000000"}
MARKERS = {  # arms of one family differ in their marker; those with the first line style are the main ones
    "mlm": "o",
    "mlm_leaky": "s",
    "mlm_left": "<",
    "infill": "P",
    "clm": "^",
    "clm_noised": "d",
    "clm_true_left": ">",
    "clm_lookahead": "X",
    "clm_general": "p",
    "clm_smollm2": "h",
    "seq2seq_kept": "D",
    "clm_kept": "H",
    "unfilled": "x",
    "unigram": "v",
    "uniform": "+",
    "oracle": "*",
}
SOLID = ("mlm", "clm", "infill", *MATCHED_TABLES)
TONES = ("#1b1b1b", "#6b6b6b", "#a0a0a0")  # of series that are no arms
SPARE_MARKERS = ("o", "s", "^", "D", "P", "v", "<", "d", ">", "p", "X", "*", "h", "8", "H")
OTHER_MARKERS = ("8", "1", "2", "3", "4", "|", "_")  # of arms that MARKERS does not name
ARMS = tuple(MARKERS)
REFERENCES = {
    "real": "real (upper reference)",
    "shuffled": "shuffled labels (lower reference)",
    "majority": "majority (lower reference)",
}
TRAINED_ON = ("real", *ARMS, "shuffled", "majority")
SCOPES = {"document": "whole document", "fills": "fills only", "utility": "as training data"}
SCOPES |= {"understanding": "as a fine-tuned network"}
COPYING = {"share_kept": "share of the original kept", "longest_copied_run": "longest copied run (words)"}
METRICS = {name: measure.title for name, measure in MEASURES.items()}
UTILITIES = {
    "auc": "AUC",
    "accuracy": "accuracy",
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
MAIN_MEASURES = (("fills", "exact_match"), ("document", "bleu"))


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


def read_study(tables: Mapping[str, pd.DataFrame]) -> Study:
    """Return what captions and commands name of a study; raises StudyError where the table `study` has no row."""
    main, study = main_cell(tables), tables["study"].iloc[0]
    scale, track = study["scale"], study["track"]
    settings = [scale, *[f"track={track}"] * (track != "matched")]
    settings += ["corpus.path=<texts>"] * (scale == OWN) + ["model.source=<model>"] * (track in OWN_TRACKS)
    return Study(" ".join(settings), main)


def looks(arms: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return matplotlib's colour, marker and line style per arm: the colour of its family, a marker of its own."""
    arms, spare = list(arms), cycle(OTHER_MARKERS)
    return {
        arm: {
            "color": COLOURS[find_role(arm).family],
            "marker": MARKERS.get(arm) or next(spare),
            "linestyle": "-" if arm in SOLID else "--",
        }
        for arm in arms
    }


def series_looks(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return matplotlib's colour and marker per series, in the order given: of the family where its first word is an arm.

    Markers are hollow where they come the second time.
    """
    looks = {}
    for number, name in enumerate(names):
        is_arm = base_of(name) in load_roles()
        colour = COLOURS[find_role(name).family] if is_arm else TONES[number % len(TONES)]
        turn, place = divmod(number, len(SPARE_MARKERS))
        looks[name] = {"color": colour, "marker": SPARE_MARKERS[place]} | (
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
    if metric in MEASURES:
        return MEASURES[metric].unit
    return "0–1" if metric in UTILITIES else ""


def decimals_of(metric: str) -> int:
    """Return the decimals of a value or a difference of a metric; three for one that is not of text."""
    return MEASURES[metric].decimals if metric in MEASURES else 3


def decimals(values: pd.Series) -> int:
    """Return the decimals of numbers that are no metric's: three for shares, one for percentages and counts."""
    return 1 if values.abs().max() > 2 else 3


def digits_of(cells: pd.DataFrame) -> pd.Series:
    """Return the decimals of each value, which all values of a metric share."""
    if "metric" in cells:
        return cells.groupby("metric")["value"].transform(decimals).astype(int)
    return pd.Series(decimals(cells["value"]), index=cells.index)


def main_quality(scores: pd.DataFrame) -> tuple[str, str]:
    """Return the (scope, metric) by which figures show quality: the first of MAIN_MEASURES that was measured, else any."""
    defined = scores.dropna(subset="value")
    measured = [*zip(defined["scope"], defined["metric"], strict=True)]
    return ordered(measured, MAIN_MEASURES)[0]


def ordered(values: Iterable, preferred: Iterable = ()) -> list:
    """Return the distinct values that are present: preferred ones in their order, then the others sorted."""
    present = {value for value in values if pd.notna(value)}
    first = [value for value in dict.fromkeys(preferred) if value in present]
    return first + sorted(present - set(first))
