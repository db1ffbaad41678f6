"""A checkpoint to resume from: weights and optimiser as safetensors, the rest as JSON, all or nothing."""

import json
import os
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from ..files import CHECKPOINT, write_atomically

Weights = dict[str, torch.Tensor]


def trained_weights(module: nn.Module) -> Weights:
    """Return the parameters that are trained, once each, as tied ones are one tensor under two names."""
    return {name: value.detach() for name, value in module.named_parameters() if value.requires_grad}


def save_checkpoint(folder: Path, module: nn.Module, optimizer: torch.optim.Optimizer, state: dict) -> None:
    """Store weights, optimiser and state under `folder/checkpoint`."""
    beside, place = folder / f"{CHECKPOINT}-partial", folder / CHECKPOINT
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    stored = optimizer.state_dict()
    moments = {f"{i}.{k}": v for i, values in stored["state"].items() for k, v in values.items()}
    save_file(moments, beside / "optimizer.safetensors")
    save_file({k: v.contiguous() for k, v in trained_weights(module).items()}, beside / "weights.safetensors")
    write_atomically(beside / "state.json", json.dumps(state | {"groups": stored["param_groups"]}))
    _exchange(beside, place)


def _exchange(beside: Path, place: Path) -> None:
    """Put the new folder in place by renames alone: a kill leaves a whole checkpoint or none."""
    old = place.with_name(f"{CHECKPOINT}-old")
    shutil.rmtree(old, ignore_errors=True)
    if place.exists():
        os.replace(place, old)
    os.replace(beside, place)
    shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(folder: Path, module: nn.Module, optimizer: torch.optim.Optimizer) -> dict | None:
    """Load a stored checkpoint into module and optimiser; return its state, None if there is none."""
    place = folder / CHECKPOINT
    if not (place / "state.json").is_file():
        return None
    state = json.loads((place / "state.json").read_text())
    moments: dict[int, dict] = {}
    for name, value in load_file(place / "optimizer.safetensors").items():
        index, key = name.split(".")
        moments.setdefault(int(index), {})[key] = value
    module.load_state_dict(load_file(place / "weights.safetensors"), strict=False)
    optimizer.load_state_dict({"state": moments, "param_groups": state.pop("groups")})
    return state
