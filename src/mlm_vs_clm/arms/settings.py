"""What an arm of a study may be set to: the axes of the library, those of the baselines, and which model fills.

Imports neither torch nor transformers, so a mistake in the settings is reported before either is loaded.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from blankfill.axes import ALL, AXIS, MODEL_KINDS, SAMPLING, Axis, check_together, check_values
from blankfill.errors import BlankfillError
from blankfill.slots.sampling import Sampling

from ..errors import StudyError
from .baselines import BASELINES, COUNTING, SAMPLED, TABLES, find_baseline
from .roles import find_role

# What the study adds: the values of its baselines, and which model fills.
TRAINED_ON = ("domain", "only", "elsewhere")  # all corpora of the model, the one that is filled, the others
AUTO = "auto"  # the weight of a product that is chosen on dev documents
OF_BASELINES: dict[str, dict[str, tuple]] = {
    "context": {name: (baseline.context,) for name, baseline in BASELINES.items()},
    "length": dict.fromkeys(BASELINES, ("none",)),
    "order": {name: (baseline.order,) for name, baseline in BASELINES.items()},
    "per_pass": dict.fromkeys(TABLES["leaky"], ()),
    "temperature": dict.fromkeys(SAMPLED, ()),
}
ARM_AXIS = {
    name: replace(axis, values=axis.values | OF_BASELINES.get(name, {})) for name, axis in AXIS.items()
} | {
    "training": Axis(
        dict.fromkeys(ALL, (*TRAINED_ON, "general")) | dict.fromkeys(COUNTING, TRAINED_ON),
        "model",
        default="domain",
    ),
    "budget": Axis(dict.fromkeys((*ALL, *COUNTING), ()), "model", default=0),
    "table_order": Axis(
        {name: () for name, baseline in BASELINES.items() if baseline.chooses_order}, "model", default=0
    ),
}
# Axes that an arm's settings name only when set, so that results made before an axis existed keep their ids.
LATER_AXES = tuple(name for name, axis in ARM_AXIS.items() if axis.default is not None)


def check_arm(arm: Mapping[str, Any]) -> None:
    """Raise StudyError for the settings of an arm (`writer` and axes) with which nothing can be filled, or that have no role."""
    writer = arm["writer"]
    if writer not in (*MODEL_KINDS, *BASELINES):
        names = ", ".join([*MODEL_KINDS, *BASELINES])
        raise StudyError(f"arm.writer={writer} is unknown: choose one of {names}")
    if name := arm.get("name"):
        _check_name(name, writer)
    try:
        _check_axes(writer, arm)
    except BlankfillError as error:
        raise StudyError(f"arm.{error}") from None


def _check_name(name: str, writer: str) -> None:
    """Raise StudyError for a name without a role, and for one by which the page takes a baseline for a network or for another."""
    find_role(name)
    if find_baseline(name) is not BASELINES.get(writer):
        raise StudyError(
            f"arm.name={name} does not fit arm.writer={writer}: a baseline is called as its writer, or <writer>_sampled where it "
            "draws, and nothing else is"
        )


def _check_axes(writer: str, arm: Mapping[str, Any]) -> None:
    """Raise BlankfillError, which begins with the name of an axis, for what the library refuses."""
    is_given = arm.get("weight") != AUTO
    check_values(writer, arm if is_given else {**arm, "weight": 0.5}, ARM_AXIS)
    _check_effects(writer, arm)
    Sampling(**{name: arm[name] for name in SAMPLING if name in arm})
    check_together(writer, arm, arm.get("temperature", 0.0))


def _check_effects(writer: str, arm: Mapping[str, Any]) -> None:
    """Raise BlankfillError for an axis that is set and that the writer does not have."""
    off = {name: getattr(Sampling(), name) for name in SAMPLING} | {
        n: ARM_AXIS[n].default for n in LATER_AXES
    }
    for name, value in off.items():
        if writer not in ARM_AXIS[name].values and arm.get(name, value) != value:
            raise BlankfillError(
                f"{name}={arm[name]} changes nothing for writer {writer}: leave it at {value}"
            )
