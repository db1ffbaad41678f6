"""From documents to a checkpoint: one order of data and one token budget, whatever the objective."""

import json
import math
import os
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from safetensors.torch import load_file, save_file
from torch import nn
from tqdm import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerBase, get_linear_schedule_with_warmup

from .artifacts import CHECKPOINT, write_whole
from .batches import Batches, order_batches
from .fill.ledger import forward_flops
from .models import count_parameters, head_parameters, hidden_states, output_layer
from .objectives import IGNORE, OBJECTIVES, Noise, Subwords


@dataclass(frozen=True)
class Training:
    """The budget and the optimiser; `token_budget` counts sub-words seen, padding excluded."""

    token_budget: int
    batch_documents: int
    body_learning_rate: float
    head_learning_rate: float
    warmup_share: float
    weight_decay: float
    max_gradient_norm: float
    max_subwords: int
    evaluations: int
    dev_documents: int
    checkpoint_seconds: float
    precision: str


class PredictedLoss(nn.Module):
    """A model and its loss on the predicted positions only: the output layer never sees the others."""

    def __init__(self, model: PreTrainedModel):
        super().__init__()
        self.model = model

    def forward(self, labels: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
        """Return the mean cross-entropy (nats) over positions whose label is not -100."""
        predicted = labels != IGNORE
        logits = output_layer(self.model)(hidden_states(self.model, inputs)[predicted])
        return nn.functional.cross_entropy(logits.float(), labels[predicted])


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    documents: list[Subwords],
    corpora: list[str],
    dev: list[Subwords],
    objective_name: str,
    noise: Noise,
    training: Training,
    seed: int,
    folder: Path,
    device: str,
    show_progress: bool = True,
    line: int = 0,
) -> dict:
    """Train `model` in place; write the checkpoint, `curves.csv` and `training.json` into `folder`.

    Goes on from `folder/checkpoint` if a killed run left one, to the same bytes. Returns what was measured
    (seconds, tokens/s), which is not part of the result.
    """
    set_seed(seed)
    objective = OBJECTIVES[objective_name]
    lengths = [len(d.ids) for d in documents]
    order = order_batches(lengths, corpora, training.token_budget, training.batch_documents, seed)
    batches = Batches(documents, order, objective, noise, tokenizer, seed)
    dev_order = [list(range(i, min(i + 16, len(dev)))) for i in range(0, len(dev), 16)]
    dev_batches = Batches(dev, dev_order, objective, noise, tokenizer, seed + 1)
    run = Run(model, batches, dev_batches, training, folder, device)
    run.resume()
    run.train(objective_name, show_progress, line)
    model.to("cpu").save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return run.finish(objective_name, noise, seed)


class Run:
    """One training run: the model, its optimiser and its place in the order of data."""

    def __init__(self, model, batches: Batches, dev: Batches, training: Training, folder: Path, device: str):
        self.training, self.folder, self.batches, self.dev = training, folder, batches, dev
        bf16 = training.precision == "bf16"
        self.accelerator = Accelerator(mixed_precision="bf16" if bf16 else "no", cpu=device == "cpu")
        self.sizes = count_parameters(model)
        self.bare = PredictedLoss(model)
        optimizer = torch.optim.AdamW(_parameter_groups(model, training), weight_decay=training.weight_decay)
        warmup = math.ceil(training.warmup_share * len(batches))
        scheduler = get_linear_schedule_with_warmup(optimizer, warmup, len(batches))
        self.wrapped, self.optimizer = self.accelerator.prepare(self.bare, optimizer)
        self.scheduler = scheduler
        self.state = {
            "step": 0,
            "tokens_seen": 0,
            "tokens_predicted": 0,
            "flops": 0,
            "seconds": 0.0,
            "curve": [],
        }

    def train(self, name: str, show_progress: bool, line: int) -> None:
        """Run from the present step to the end, saving a checkpoint every `checkpoint_seconds`."""
        n_steps, marks = len(self.batches), self._evaluation_steps()
        saved = started = time.monotonic()
        before = self.state["seconds"]
        losses = []
        first = self.state["step"]
        if first == 0:
            self._evaluate(None)
        with tqdm(
            total=n_steps, initial=first, desc=f"pretrain {name}", disable=not show_progress, position=line
        ) as bar:
            for step in range(first, n_steps):
                losses.append(self._step(self.batches[step]))
                self.state["tokens_seen"] += self.batches.count_subwords(step)
                bar.update()
                self.state["step"] = step + 1
                self.state["seconds"] = before + time.monotonic() - started
                if step + 1 in marks:
                    self._evaluate(float(np.mean(losses)))
                    bar.set_postfix_str(f"dev loss {self.state['curve'][-1]['dev_loss']:.2f}")
                    losses = []
                    if time.monotonic() - saved > self.training.checkpoint_seconds and step + 1 < n_steps:
                        self.save()
                        saved = time.monotonic()

    def _evaluation_steps(self) -> set[int]:
        n_steps = len(self.batches)
        return {
            math.ceil(n_steps * k / self.training.evaluations)
            for k in range(1, self.training.evaluations + 1)
        }

    def _step(self, batch: dict[str, torch.Tensor]) -> float:
        self.wrapped.train()
        batch = {name: values.to(self.accelerator.device) for name, values in batch.items()}
        loss = self.wrapped(**batch)
        self.accelerator.backward(loss)
        self.accelerator.clip_grad_norm_(self.wrapped.parameters(), self.training.max_gradient_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.scheduler.step()
        self._count(batch)
        return loss.item()

    def _count(self, batch: dict[str, torch.Tensor]) -> None:
        tokens = int(batch["attention_mask"].sum())
        written = int((batch["labels"] != IGNORE).sum())
        read = tokens + (written if "decoder_input_ids" in batch else 0)
        self.state["tokens_predicted"] += written
        self.state["flops"] += 3 * forward_flops(self.sizes, read, written)

    @torch.inference_mode()
    def _evaluate(self, train_loss: float | None) -> None:
        self.wrapped.eval()
        losses, counts = [], []
        for number in range(len(self.dev)):
            batch = {name: values.to(self.accelerator.device) for name, values in self.dev[number].items()}
            with self.accelerator.autocast():
                losses.append(self.bare(**batch).item())
            counts.append(int((batch["labels"] != IGNORE).sum()))
        dev_loss = float(np.average(losses, weights=counts)) if counts else None
        point = {name: self.state[name] for name in ("step", "tokens_seen", "tokens_predicted", "flops")}
        self.state["curve"].append(point | {"train_loss": train_loss, "dev_loss": dev_loss})

    def save(self) -> None:
        """Store model, optimiser and place in the order, as safetensors and JSON, all or nothing."""
        if not self.accelerator.is_main_process:
            return
        beside, place = self.folder / f"{CHECKPOINT}-partial", self.folder / CHECKPOINT
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        optimizer = self.optimizer.state_dict()
        moments = {f"{i}.{k}": v for i, values in optimizer["state"].items() for k, v in values.items()}
        weights = {name: value.contiguous() for name, value in _unshared(self.bare).items()}
        save_file(moments, beside / "optimizer.safetensors")
        save_file(weights, beside / "weights.safetensors")
        state = self.state | {"groups": optimizer["param_groups"], "scheduler": self.scheduler.state_dict()}
        write_whole(beside / "state.json", json.dumps(state))
        shutil.rmtree(place, ignore_errors=True)
        os.replace(beside, place)

    def resume(self) -> None:
        """Go on from the stored checkpoint, if there is one."""
        place = self.folder / CHECKPOINT
        if not (place / "state.json").is_file():
            return
        state = json.loads((place / "state.json").read_text())
        moments: dict[int, dict] = {}
        for name, value in load_file(place / "optimizer.safetensors").items():
            index, key = name.split(".")
            moments.setdefault(int(index), {})[key] = value
        self.bare.load_state_dict(load_file(place / "weights.safetensors"), strict=False)
        self.optimizer.load_state_dict({"state": moments, "param_groups": state.pop("groups")})
        self.scheduler.load_state_dict(state.pop("scheduler"))
        self.state = state

    def finish(self, objective: str, noise: Noise, seed: int) -> dict:
        """Write the curves and the totals; return the measured speed."""
        import pandas as pd

        pd.DataFrame(self.state["curve"]).to_csv(self.folder / "curves.csv", index=False, float_format="%.7g")
        totals = {name: self.state[name] for name in ("step", "tokens_seen", "tokens_predicted", "flops")}
        about = {
            "objective": objective,
            "noise": asdict(noise),
            "seed": seed,
            "parameters": self.sizes,
        } | totals
        write_whole(self.folder / "training.json", json.dumps(about, indent=1))
        seconds = self.state["seconds"]
        return {
            "seconds": round(seconds, 2),
            "tokens_per_second": round(self.state["tokens_seen"] / max(seconds, 1e-9), 1),
            "device": str(self.accelerator.device),
        }


def _parameter_groups(model: PreTrainedModel, training: Training) -> list[dict]:
    head = set(head_parameters(model))
    body = [p for name, p in model.named_parameters() if name not in head]
    new = [p for name, p in model.named_parameters() if name in head]
    return [
        {"params": body, "lr": training.body_learning_rate},
        {"params": new, "lr": training.head_learning_rate},
    ]


def _unshared(module: nn.Module) -> dict[str, torch.Tensor]:
    """Return the parameters of a module once each, as tied ones are one tensor under two names."""
    return {name: parameter.detach() for name, parameter in module.named_parameters()}
