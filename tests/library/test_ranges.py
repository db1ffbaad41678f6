"""Numbers by which blanks are filled: none that is no number, and the ends of every range fill every blank."""

import math
from copy import deepcopy

import pytest
import torch
from tiny_models import SMALL
from transformers import LlamaConfig, LlamaForCausalLM

from blankfill import fill
from blankfill.errors import BlankfillError
from blankfill.networks.probe import choose_way
from blankfill.slots.ranges import RANGES

BROKEN = (float("nan"), float("inf"), -float("inf"), -1, "many", True)


@pytest.mark.parametrize("name", RANGES)
def test_a_number_that_is_none_is_refused_by_whoever_takes_it(name, start, causal_model, tokenizer):
    model, axes = start, {"length": "one"}
    if name in ("candidates", "lookahead"):
        model, axes = causal_model, {"length": "one", "context": "both", "candidates": 2}
    elif name == "max_new_tokens":
        model, axes = causal_model, {"context": "kept"}
    elif name == "weight":
        axes |= {"second": causal_model}
    elif name == "budget":
        return  # of the study alone
    for value in (value for value in BROKEN if value not in RANGES[name]):
        with pytest.raises(BlankfillError, match=f"{name}={value}(: give | must be between)"):
            fill(["Take ___ now"], "___", model, tokenizer, **axes | {name: value})


@pytest.mark.parametrize("counts", [*BROKEN, 0, 1.5, 10**12])
def test_a_number_of_tokens_is_a_whole_number(counts, start, tokenizer):
    with pytest.raises(
        BlankfillError, match="0: (1 blanks need as many token counts, each|each is a whole number)"
    ):
        fill(["Take ___ now"], "___", start, tokenizer, counts=[[counts]])


@pytest.mark.parametrize(
    "extremes",
    [
        {"temperature": 1_000, "top_k": 10**12},
        {"temperature": 1e-6, "top_p": 1e-300},
        {"order": "entropy", "entropy_bound": 10**12},
        {"order": "gibbs", "temperature": 1.0, "per_pass": 10**12},
        {"order": "confidence", "passes": 1_000},
        {"order": "mask_predict", "passes": 1_000},
        {"length": "free", "max_length": 100},
    ],
)
def test_the_ends_of_the_ranges_fill_every_blank(extremes, start, tokenizer):
    made = fill(["Take ___ now and ___ then"], "___", start, tokenizer, **{"length": "one"} | extremes)
    assert all(one.strip() for one in made.fills[0]) and not made.skipped


def test_a_temperature_that_would_overflow_is_refused(start, tokenizer):
    with pytest.raises(BlankfillError, match="too close to 0"):
        fill(["Take ___ now"], "___", start, tokenizer, length="one", temperature=1e-320)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_weight_that_attention_hides_is_refused(start, value):
    model = deepcopy(start)
    with torch.no_grad():
        model.bert.encoder.layer[0].attention.self.query.weight[0, 0] = value
    with pytest.raises(BlankfillError, match="weights of BertForMaskedLM are not finite .*query.weight"):
        choose_way(model, {"plain": lambda network: torch.ones(1, 3)})


def test_rotary_positions_that_depend_on_the_length_are_read_the_plain_way():
    ways = {"fast": lambda network: torch.ones(1, 3), "plain": lambda network: torch.ones(1, 3)}
    for kind, way in (("default", "fast"), ("dynamic", "plain")):
        rope = {"rope_type": kind, "factor": 4.0, "rope_theta": 1e4}
        model = LlamaForCausalLM(LlamaConfig(**SMALL, vocab_size=20, rope_parameters=rope)).eval()
        assert choose_way(model, ways) == way
