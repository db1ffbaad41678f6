"""From documents to a checkpoint: one order of data and one token budget, whatever the objective."""

import json
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn
from tqdm import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerBase, get_linear_schedule_with_warmup

from ...draws import keyed_rng
from ...errors import StudyError
from ...files import write_atomically
from ...hardware import MEMORY
from ..kernels.training_attention import NAME as RECOMPUTED
from ..kernels.training_attention import attention_of
from ..objectives import OBJECTIVES, Noise, TokenizedDocument, check_target_tokens, describe_noise
from ..sizes import count_parameters, forward_flops, head_parameters
from .batches import Batch, Batches, find_target_tokens, order_batches
from .checkpoint import load_checkpoint, save_checkpoint, trained_weights
from .loss import PredictedLoss, count_predicted

TOTALS = ("step", "tokens_seen", "tokens_predicted", "flops")


@dataclass(frozen=True)
class Training:
    """The budget and the optimiser; `token_budget` counts the tokens seen, padding excluded.

    `patience` stops after so many evaluations without a lower dev loss and keeps the best weights; 0 never stops.
    `micro_batch_documents` go through the model at once (0: a whole batch): less memory for the same step.
    """

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
    patience: int = 0
    micro_batch_documents: int = 0


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    documents: list[TokenizedDocument],
    corpora: list[str],
    dev: list[TokenizedDocument],
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

    Resumes from `folder/checkpoint` if a killed training left one, to the same bytes. Returns what was measured
    (seconds, tokens/s, threads), which is not part of the result. Raises StudyError for a tokenizer that lacks a
    special token the objective needs, and for patience without dev documents.
    """
    objective, tokens = OBJECTIVES[objective_name], find_target_tokens(tokenizer, model)
    check_target_tokens(objective_name, tokens)
    if training.patience and not dev:
        raise StudyError("scale.training.patience needs documents to evaluate on: raise dev_documents")
    lengths = [len(d.ids) for d in documents]
    order = order_batches(lengths, corpora, training.token_budget, training.batch_documents, seed)
    dev_order = [list(range(i, min(i + 16, len(dev)))) for i in range(0, len(dev), 16)]
    about = (objective, noise, tokens, tokenizer.pad_token_id or 0)
    trainer = Trainer(
        model,
        Batches(documents, order, *about, seed),
        Batches(dev, dev_order, *about, seed + 1),
        training,
        folder,
        device,
    )
    trainer.resume()
    with attention_of(model, RECOMPUTED):
        trainer.train(objective_name, show_progress, line)
    trainer.restore_best()
    trainer.learner.to("cpu")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    trainer.write_totals(objective_name, noise, seed)
    return trainer.measured()


class Trainer:
    """One training: the model, its optimiser and its place in the order of the data."""

    def __init__(
        self,
        model: PreTrainedModel,
        batches: Batches,
        dev: Batches,
        training: Training,
        folder: Path,
        device: str,
    ):
        self.training, self.folder, self.batches, self.dev = training, folder, batches, dev
        self.device, self.sizes = torch.device(device), count_parameters(model)
        self.learner = PredictedLoss(model).to(self.device)
        self.optimizer = torch.optim.AdamW(
            _parameter_groups(model, training), weight_decay=training.weight_decay, fused=True
        )
        warmup = math.ceil(training.warmup_share * len(batches))
        self.scheduler = get_linear_schedule_with_warmup(self.optimizer, warmup, len(batches))
        self.best: dict[str, torch.Tensor] = {}
        self.state: dict[str, Any] = dict.fromkeys(TOTALS, 0) | {"seconds": 0.0, "curve": []}

    def train(self, name: str, show_progress: bool, line: int) -> None:
        """Train from the present step to the end, saving a checkpoint every `checkpoint_seconds`."""
        n_steps, evaluated = len(self.batches), self._evaluation_steps()
        saved = started = time.monotonic()
        before, first, losses = self.state["seconds"], self.state["step"], []
        if first == 0:
            self._evaluate(None)
        with tqdm(
            total=n_steps, initial=first, desc=f"pretrain {name}", disable=not show_progress, position=line
        ) as bar:
            for step in range(first, n_steps):
                losses.append(self._step(step))
                self.state["tokens_seen"] += self.batches.count_tokens(step)
                bar.update()
                self.state["step"] = step + 1
                self.state["seconds"] = before + time.monotonic() - started
                if step + 1 not in evaluated:
                    continue
                self._evaluate(float(np.mean(losses)))
                bar.set_postfix(dev_loss=self.state["curve"][-1]["dev_loss"])
                losses = []
                if is_out_of_patience(self.state["curve"], self.training.patience):
                    break
                if time.monotonic() - saved > self.training.checkpoint_seconds and step + 1 < n_steps:
                    self.save()
                    saved = time.monotonic()

    def _evaluation_steps(self) -> set[int]:
        n_steps, n_times = len(self.batches), self.training.evaluations
        return {math.ceil(n_steps * k / n_times) for k in range(1, n_times + 1)}

    def _step(self, number: int) -> float:
        """Learn from one batch, in micro-batches; return its mean loss.

        Draws within the network (dropout) are keyed by step, so that a resumed training makes the same ones.
        """
        torch.manual_seed(int(keyed_rng(self.batches.seed, "dropout", number, 0).integers(2**63)))
        micro_batches = self.batches.split(number, self.training.micro_batch_documents)
        n_predicted = self._count(micro_batches)
        self.learner.train()
        loss = sum(self._learn(part, n_predicted) for part in micro_batches)
        nn.utils.clip_grad_norm_(self.learner.parameters(), self.training.max_gradient_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.scheduler.step()
        MEMORY.release_if_grown()
        return loss

    def _learn(self, part: Batch, n_predicted: int) -> float:
        """Add the gradients of a micro-batch, weighted by its share of the predicted tokens; return its share of the loss."""
        share = count_predicted(part) / max(n_predicted, 1)
        if not share:
            return 0.0
        with self._precision():
            return self.learner.learn(share=share, **self._on_device(part))

    def _loss(self, part: Batch) -> torch.Tensor:
        with self._precision():
            return self.learner(**self._on_device(part))

    def _precision(self) -> torch.autocast:
        is_low = self.training.precision == "bf16"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=is_low)

    def _on_device(self, part: Batch) -> Batch:
        return {name: values.to(self.device) for name, values in part.items()}

    def _count(self, micro_batches: list[Batch]) -> int:
        """Count a batch; return how many tokens it predicts. A backward pass costs twice a forward one."""
        predicted = sum(count_predicted(part) for part in micro_batches)
        read = sum(int(part["attention_mask"].sum()) for part in micro_batches)
        if self.batches.objective.kind == "seq2seq":
            read += predicted
        self.state["tokens_predicted"] += predicted
        self.state["flops"] += 3 * forward_flops(self.sizes, read, predicted)
        return predicted

    @torch.inference_mode()
    def _evaluate(self, train_loss: float | None) -> None:
        self.learner.eval()
        n_all, loss_all = 0, 0.0
        for number in range(len(self.dev)):
            part = self.dev[number]
            if n_predicted := count_predicted(part):
                n_all += n_predicted
                loss_all += self._loss(part).item() * n_predicted
        dev_loss = loss_all / n_all if n_all else None
        curve = self.state["curve"]
        curve.append(
            {name: self.state[name] for name in TOTALS} | {"train_loss": train_loss, "dev_loss": dev_loss}
        )
        if self.training.patience and best_evaluation(curve) == len(curve) - 1:
            self.best = {name: value.cpu().clone() for name, value in trained_weights(self.learner).items()}

    def restore_best(self) -> None:
        """Restore the weights of the lowest dev loss, if they were kept."""
        self.learner.load_state_dict(self.best, strict=False)

    def save(self) -> None:
        """Store a checkpoint to resume from."""
        state = self.state | {"scheduler": self.scheduler.state_dict()}
        save_checkpoint(self.folder, self.learner, self.optimizer, self.best, state)

    def resume(self) -> None:
        """Resume from the stored checkpoint, if there is one."""
        if found := load_checkpoint(self.folder, self.learner, self.optimizer):
            self.state, self.best = found
            self.scheduler.load_state_dict(self.state.pop("scheduler"))

    def write_totals(self, objective: str, noise: Noise, seed: int) -> None:
        """Write `curves.csv` and `training.json`."""
        pd.DataFrame(self.state["curve"]).to_csv(self.folder / "curves.csv", index=False, float_format="%.7g")
        about = {
            "objective": objective,
            "noise": describe_noise(objective, noise),
            "seed": seed,
            "parameters": self.sizes,
        }
        about |= {name: self.state[name] for name in TOTALS}
        if self.training.patience:
            is_whole = self.state["step"] == len(self.batches)
            about |= describe_stopping(self.state["curve"], self.training.patience, is_whole)
        write_atomically(self.folder / "training.json", json.dumps(about, indent=1))

    def measured(self) -> dict:
        """Return speed and means: on the CPU the number of threads changes the last bits."""
        seconds = self.state["seconds"]
        return {
            "seconds": round(seconds, 2),
            "tokens_per_second": round(self.state["tokens_seen"] / max(seconds, 1e-9), 1),
            "device": str(self.device),
            "threads": torch.get_num_threads(),
            "micro_batch_documents": self.training.micro_batch_documents,
        }


def _parameter_groups(model: PreTrainedModel, training: Training) -> list[dict]:
    """Return the body's and the head's parameters, with their learning rates."""
    head, named = set(head_parameters(model)), dict(model.named_parameters())
    return [
        {"params": [p for name, p in named.items() if name not in head], "lr": training.body_learning_rate},
        {"params": [p for name, p in named.items() if name in head], "lr": training.head_learning_rate},
    ]


def best_evaluation(curve: list[dict]) -> int:
    """Return the number of the evaluation with the lowest `dev_loss`, the first of equals.

    Raises StudyError where one is missing, as nothing was predicted in the dev documents.
    """
    losses = [point["dev_loss"] for point in curve]
    if None in losses:
        raise StudyError(
            "scale.training.patience needs a dev loss, and nothing is predicted in the dev documents: raise "
            "scale.training.dev_documents, or set patience=0"
        )
    return losses.index(min(losses))


def is_out_of_patience(curve: list[dict], patience: int) -> bool:
    """Tell whether the last `patience` evaluations brought no lower dev loss; 0 never runs out."""
    return bool(patience) and len(curve) - 1 - best_evaluation(curve) >= patience


def describe_stopping(curve: list[dict], patience: int, is_whole: bool) -> dict:
    """Return what is recorded: the patience, whether the budget was used up, and the evaluation that was kept."""
    best = curve[best_evaluation(curve)]
    kept = {name: best[name] for name in ("step", "dev_loss")}
    return {"patience": patience, "stopped_early": not is_whole, "best": kept}
