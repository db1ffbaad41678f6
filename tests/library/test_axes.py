"""The table of axes agrees with the settings and with the functions that fill, and wrong arms are refused."""

import subprocess
import sys
from inspect import signature

import pytest

import blankfill
from blankfill.axes import AXIS, MODEL_KINDS, PACE, arguments_of
from blankfill.errors import BlankfillError
from mlm_vs_clm.arms.settings import ARM_AXIS, LATER_AXES, check_arm
from mlm_vs_clm.pipeline.config import ArmConfig


def test_later_axes_are_those_that_stored_ids_rest_on():
    assert {"training", "budget", "right_words"} <= {*LATER_AXES}
    assert not set(LATER_AXES) & ArmConfig(name="mlm", writer="masked").to_settings().keys()
    assert ArmConfig(name="x", writer="masked", passes=8).to_settings()["passes"] == 8


def test_axes_are_the_settings_of_an_arm():
    assert set(ARM_AXIS) | {"name", "writer", "objective", "model"} == set(vars(ArmConfig()))
    assert all(getattr(ArmConfig(), name) == ARM_AXIS[name].default for name in LATER_AXES)
    assert set(PACE) == {
        "order", "per_pass", "passes", "threshold", "entropy_bound", "sweeps", "schedule"
    }  # fmt: skip


@pytest.mark.parametrize("writer", MODEL_KINDS)
def test_functions_take_the_axes_of_their_writer(writer):
    taken = signature(getattr(blankfill, f"fill_{writer}")).parameters
    for name in arguments_of(writer):
        assert AXIS[name].default in (None, taken[name].default)


@pytest.mark.parametrize(
    ("arm", "told"),
    [
        (("causal", "both", "left_to_right"), "arm.context=both"),
        (("infill", "both", "random"), "arm.order=random"),
        (("infill", "both", "left_to_right", "some"), "arm.length=some"),
        (("masked_left", "left", "left_to_right", "free"), "arm.length=free"),
        (("seq2seq", "kept", "random"), "arm.order=random"),
        (("gpt", "both", "random"), "arm.writer=gpt"),
    ],
)
def test_axis_that_a_writer_lacks_is_refused(arm, told):
    with pytest.raises(BlankfillError, match=told):
        check_arm(dict(zip(("writer", "context", "order", "length"), arm, strict=False)))


@pytest.mark.parametrize(
    ("arm", "axes", "told"),
    [
        (("seq2seq", "kept", "left_to_right"), {"temperature": 0.7}, "arm.temperature"),
        (("seq2seq", "kept", "left_to_right"), {"top_k": 5}, "top_k=5"),
        (("seq2seq", "kept", "left_to_right"), {"source": "some"}, "arm.source=some"),
        (("masked", "both", "mask_predict"), {"passes": 4, "schedule": "cosine"}, "arm.schedule=cosine"),
        (("masked", "both", "random"), {"training": "some"}, "arm.training=some"),
        (("causal", "left", "left_to_right"), {"max_length": 0}, "arm.max_length=0"),
        (("causal", "left", "left_to_right"), {"candidates": 4}, "arm.candidates=4 changes nothing"),
        (("lookahead", "both", "left_to_right"), {"candidates": 0}, "arm.candidates=0"),
        (("unigram", "none", "none"), {"temperature": 1.0}, "arm.temperature=1.0 changes nothing"),
        (("bigram_left", "left", "left_to_right"), {"top_p": 0.9}, "arm.top_p=0.9 changes nothing"),
        (("bigram_left", "both", "left_to_right"), {}, "arm.context=both"),
    ],
)
def test_setting_that_would_change_nothing_is_refused(arm, axes, told):
    with pytest.raises(BlankfillError, match=told):
        check_arm(dict(zip(("writer", "context", "order"), arm, strict=True)) | axes)


def test_settings_are_checked_without_torch():
    code = (
        "import sys, blankfill.axes, mlm_vs_clm.arms.baselines, mlm_vs_clm.training.objectives; "
        "from blankfill import Sampling; from mlm_vs_clm.arms.baselines import BASELINES; "
        "sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
