"""Make two tiny models with however many processes there are: `python tiny_together.py <store>`."""

import sys
from pathlib import Path

import torch
from tiny_texts import TEXTS
from tiny_trainings import train_tiny

from mlm_vs_clm.models.objectives import OBJECTIVES
from mlm_vs_clm.models.starts import as_kind, start_from_scratch, train_tokenizer
from mlm_vs_clm.models.training.batches import tokenize
from mlm_vs_clm.models.training.distributed import call_helpers
from mlm_vs_clm.pipeline.artifacts import Recipe, Store
from mlm_vs_clm.pipeline.launch import make_together

SHAPE = {"layers": 1, "width": 32, "heads": 2, "positions": 64}


def make_model(settings, inputs, folder, runtime):
    tokenizer = train_tokenizer(TEXTS, 400)
    kind = OBJECTIVES[settings["objective"]].kind
    model = as_kind(start_from_scratch(SHAPE, tokenizer, 1), kind, tokenizer)
    call_helpers(runtime.device)
    return train_tiny(model, tokenizer, tokenize(TEXTS, tokenizer, 64), folder, settings["objective"])


def make_models(root):
    """Ask for the first model twice: the second time it is stored, and no process may wait for a training."""
    store = Store(root, {"pretrain": make_model})
    for objective in ("mlm", "seq2seq", "mlm"):
        made = make_together(store, Recipe("pretrain", 1, {"objective": objective}))
        assert (made / "model.safetensors").is_file()


if __name__ == "__main__":
    torch.set_num_threads(1)
    make_models(Path(sys.argv[1]))
