"""The axes of an arm: which settings each writer has, which values they take, and which go together.

Imports neither torch nor transformers, so a mistake in the settings is reported before either is loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import BlankfillError
from .ranges import check_number
from .slots.orders import ORDERS, PLANS, SCHEDULES, Pace, check_order
from .slots.ranges import RANGES

# The kind of model that each writer (setting `arm.writer`) fills with, or the kinds of two models.
MODEL_KINDS = {
    "masked": "masked",
    "causal": "causal",
    "infill": "causal",
    "masked_left": "causal",
    "lookahead": "causal",
    "kept": "causal",
    "middle": "causal",
    "seq2seq": "seq2seq",
    "product": "masked and causal",
}


# What an error calls those that decode greedily.
NAMES = {
    "seq2seq": "an encoder-decoder",
    "kept": "context=kept",
    "middle": "context=fim",
    "lookahead": "look-ahead",
}


@dataclass(frozen=True)
class Axis:
    """One setting of an arm.

    `values` has, for each writer with this axis, the values to choose from; one value is fixed, () is any number
    (of its range in `RANGES`). `role` is "text" (what the model sees, how long the fills are), "pace" (in which order,
    how many at a time), "sampling", or in a study "model" (which model fills). An arm without the setting has its
    `default`; None: every arm has it.
    """

    values: dict[str, tuple]
    role: str = "text"
    default: Any = None


MASKED, BY_SLOT, ALL = ("masked",), ("masked", "causal", "infill"), tuple(MODEL_KINDS)
MASKED_LEFT, LOOKAHEAD, PRODUCT = ("masked_left",), ("lookahead",), ("product",)
BY_TOKEN = (*BY_SLOT, *MASKED_LEFT, *PRODUCT)
AXIS: dict[str, Axis] = {
    "context": Axis(
        {"masked": ("both", "leaky", "left"), "causal": ("left", "true_left", "prefix"), "infill": ("both",)}
        | dict.fromkeys(("lookahead", "product"), ("both",))
        | {"masked_left": ("left",), "kept": ("kept",), "middle": ("fim",)}
    ),
    "length": Axis(
        dict.fromkeys(BY_SLOT, ("known", "one", "free"))
        | dict.fromkeys(MASKED_LEFT + LOOKAHEAD + PRODUCT, ("known", "one"))
    ),
    "max_length": Axis(dict.fromkeys(BY_SLOT, ()), default=4),
    "right_words": Axis(dict.fromkeys(MASKED, ()), default=-1),
    "candidates": Axis(dict.fromkeys(LOOKAHEAD, ()), default=8),
    "lookahead": Axis(dict.fromkeys(LOOKAHEAD, ()), default=16),
    "weight": Axis(dict.fromkeys(PRODUCT, ()), default=0.5),
    "source": Axis({"seq2seq": ("kept", "sentinel")}, default="kept"),
    "max_new_tokens": Axis(dict.fromkeys(("seq2seq", "kept", "middle"), ())),
    "order": Axis(dict.fromkeys(ALL, ("left_to_right",)) | {"masked": ORDERS}, "pace"),
    "per_pass": Axis(dict.fromkeys(MASKED, ()), "pace"),
    "passes": Axis(dict.fromkeys(MASKED, ()), "pace", default=0),
    "threshold": Axis(dict.fromkeys(MASKED, ()), "pace", default=0.0),
    "entropy_bound": Axis(dict.fromkeys(MASKED, ()), "pace", default=0.0),
    "sweeps": Axis(dict.fromkeys(MASKED, ()), "pace", default=1),
    "schedule": Axis(dict.fromkeys(MASKED, tuple(SCHEDULES)), "pace", default="equal"),
    "temperature": Axis(dict.fromkeys(BY_TOKEN, ()), "sampling"),
    "top_k": Axis(dict.fromkeys(BY_TOKEN, ()), "sampling"),
    "top_p": Axis(dict.fromkeys(BY_TOKEN, ()), "sampling"),
}
PACE = tuple(name for name, axis in AXIS.items() if axis.role == "pace")
SAMPLING = tuple(name for name, axis in AXIS.items() if axis.role == "sampling")


def arguments_of(*writers: str) -> list[str]:
    """Return the axes that a function which fills takes as arguments: those with more than one value."""
    values = {name: [axis.values[w] for w in writers if w in axis.values] for name, axis in AXIS.items()}
    names = [name for name, axis in AXIS.items() if axis.role in ("text", "pace") and values[name]]
    return [name for name in names if len(set().union(*values[name])) != 1]


def why_no_likelihood(arm: Mapping[str, Any]) -> str:
    """Return why the originals have no likelihood under an arm (`writer` and axes); "" where they have one."""
    if arm["writer"] not in BY_TOKEN:
        return f"{NAMES.get(arm['writer'], arm['writer'])} gives the tokens of a blank no probability of their own"
    if arm.get("length", "known") != "known":
        return f"length {arm['length']} may hold other numbers of tokens than the originals"
    if arm.get("order") in ("gibbs", "mask_predict"):
        return f"order {arm['order']} fills a slot more than once"
    return ""


def check_values(writer: str, settings: Mapping[str, Any], axes: Mapping[str, Axis] = AXIS) -> None:
    """Raise BlankfillError for a value that the writer does not have on one of its axes, and a number outside its range."""
    for name, axis in axes.items():
        values = axis.values.get(writer)
        if values and name in settings and settings[name] not in values:
            if len(values) == 1:
                raise BlankfillError(
                    f"{name}={settings[name]} is not supported here, where it is always {values[0]}"
                )
            raise BlankfillError(f"{name}={settings[name]} is unknown: choose one of {', '.join(values)}")
    for name in ("max_length", "right_words", "candidates", "lookahead", "weight", "max_new_tokens"):
        if name in settings and writer in AXIS[name].values:
            check_number(name, settings[name], RANGES[name])


def check_together(writer: str, settings: Mapping[str, Any], temperature: float) -> None:
    """Raise BlankfillError for settings of a writer, by name, that do not go together."""
    context, length = settings.get("context", "both"), settings.get("length", "known")
    if writer == "causal" and context == "true_left" and length != "known":
        raise BlankfillError("context=true_left reads the originals to the left: it needs length=known")
    if writer != "masked":
        return
    order, pace = settings.get("order", "random"), Pace.of(settings)
    right_words = settings.get("right_words", -1)
    check_order(order, pace, temperature)
    once = [name for name in PLANS if name != "gibbs"]
    if context == "leaky" and (order not in once or length != "known"):
        raise BlankfillError(
            "context=leaky shows originals until their turn comes: it needs length=known and order "
            f"one of {', '.join(once)}"
        )
    if right_words >= 0 and context != "both":
        raise BlankfillError(
            f"right_words={right_words} needs context=both; leave it at -1 with context={context}"
        )
    cut = f"right_words={right_words}" if right_words >= 0 else "context=left" if context == "left" else ""
    if cut and (order != "left_to_right" or pace != Pace() or length == "free"):
        raise BlankfillError(f"{cut} needs order=left_to_right, per_pass=1 and length=known or one")
