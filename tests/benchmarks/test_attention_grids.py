"""The figure of what each objective sees is what the network's attention is given in training, and is committed."""

from argparse import Namespace
from dataclasses import replace

import pytest
import torch
from tiny_texts import SHAPE

from benchmarks import attention_grids
from blankfill.networks import attention
from blankfill.networks.checkpoints import make_switchable, switch
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.training import training_attention
from mlm_vs_clm.training.batches import Batches, find_target_tokens, tokenize
from mlm_vs_clm.training.loss import PredictedLoss
from mlm_vs_clm.training.noise import IGNORE, Neighbours, TrainedObjective
from mlm_vs_clm.training.objectives import OBJECTIVES, split_batches
from mlm_vs_clm.training.starts import as_kind, start_from_scratch


@pytest.fixture
def received(monkeypatch):
    """What each call of the attention may see, (queries, keys)."""
    found, attend = [], training_attention.Recomputed.apply

    def look(query, key, value, mask, is_causal, scaling):
        visible = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool)
        if mask is not None:
            visible = mask[0, 0].expand_as(visible)
        found.append((visible.tril() if is_causal else visible).numpy())
        return attend(query, key, value, mask, is_causal, scaling)

    monkeypatch.setattr(training_attention.Recomputed, "apply", look)
    return found


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_grid_is_what_the_attention_receives(name, received, texts, tokenizer):
    """Of an encoder-decoder: the encoder's own part, the decoder's own, and the encoder seen from the decoder."""
    model = as_kind(start_from_scratch(SHAPE, tokenizer, 1), OBJECTIVES[name].kind, tokenizer)
    if name == "hybrid":
        make_switchable(model)
    document = tokenize(texts, tokenizer, 64)[3]
    neighbours = Neighbours([document])
    marks = replace(find_target_tokens(tokenizer, model), neighbours=neighbours)
    objective = TrainedObjective(name, attention_grids.NOISE)
    n_kinds = len(split_batches(name, attention_grids.NOISE))
    batches = Batches([document], [[0]] * n_kinds, objective, marks, 0, 0)
    for number in range(n_kinds):
        kind, batch = batches.objective_at(number).kind, batches[number]
        switch(model, kind)
        received.clear()
        with attention.attention_of(model, training_attention.NAME):
            PredictedLoss(model)(**batch)
        visible, n = attention_grids.read_grid(batch, kind).visible, batch["input_ids"].shape[1]
        parts = [visible, visible]  # two layers
        if (
            kind == "masked" or batch["attention_mask"].dim() == 4
        ):  # the last reads from predicted places alone
            parts[1] = visible[batch["labels"][0].numpy() != IGNORE]
        if kind == "seq2seq":
            parts = [visible[:n, :n], visible[n:, n:], visible[n:, :n]]
        assert [part.tolist() for part in parts] == [each.tolist() for each in received]


def test_the_committed_figures_are_of_these_objectives(tmp_path):
    attention_grids.run(Namespace(target=tmp_path))
    for name in ("attention", *(f"attention-{name}" for name in attention_grids.ALONE)):
        assert (tmp_path / f"{name}.svg").read_text() == (ROOT / "docs" / f"{name}.svg").read_text()
