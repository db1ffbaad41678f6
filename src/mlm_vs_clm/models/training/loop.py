"""From documents to a checkpoint: one order of data and one token budget, whatever the objective."""

import json
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from accelerate.utils import set_seed
from torch import nn
from tqdm import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerBase, get_linear_schedule_with_warmup

from ...draws import keyed_rng
from ...errors import StudyError
from ...files import write_atomically
from ...hardware import MEMORY
from ..kernels.training_attention import NAME as RECOMPUTED
from ..kernels.training_attention import attention_of
from ..objectives import OBJECTIVES, Noise, Subwords, check_marks, describe_noise
from ..sizes import count_parameters, forward_flops, head_parameters
from .batches import Batches, find_marks, order_batches
from .checkpoint import load_checkpoint, save_checkpoint, trained_weights
from .distributed import add_up, add_up_gradients, is_main, join
from .early_stopping import best_evaluation, describe_stopping, is_out_of_patience
from .loss import PredictedLoss, count_predicted


@dataclass(frozen=True)
class Training:
    """The budget and the optimiser; `token_budget` counts sub-words seen, padding excluded, in all processes.

    `lora_rank` trains adapters of that rank, 0 all parameters. `patience` stops after so many evaluations without
    a lower dev loss and keeps the best weights, 0 never. `micro_batch_documents` go through the model at once
    (0: a whole batch), which needs less memory for the same step, as `gradient_checkpointing` does.
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
    lora_rank: int = 0
    lora_alpha: float = 16.0
    patience: int = 0
    micro_batch_documents: int = 0
    gradient_checkpointing: bool = False


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

    Goes on from `folder/checkpoint` if a killed run left one, to the same bytes. With several processes each
    trains on its part of every batch, and the main one writes. Returns what was measured (seconds, tokens/s,
    threads, processes), which is not part of the result. Raises StudyError for a tokenizer that lacks a mark,
    and for patience without dev documents.
    """
    set_seed(seed)
    objective, marks = OBJECTIVES[objective_name], find_marks(tokenizer, model)
    check_marks(objective_name, marks)
    if training.patience and not dev:
        raise StudyError("scale.training.patience needs documents to evaluate on: raise dev_documents")
    lengths = [len(d.ids) for d in documents]
    order = order_batches(lengths, corpora, training.token_budget, training.batch_documents, seed)
    dev_order = [list(range(i, min(i + 16, len(dev)))) for i in range(0, len(dev), 16)]
    about = (objective, noise, marks, tokenizer.pad_token_id or 0)
    run = Run(
        model,
        Batches(documents, order, *about, seed),
        Batches(dev, dev_order, *about, seed + 1),
        training,
        folder,
        device,
    )
    run.resume()
    with attention_of(model, RECOMPUTED):
        run.train(objective_name, show_progress and is_main(), line)
    run.restore_best()
    if is_main():
        run.plain_model().save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        run.write_totals(objective_name, noise, seed)
    return run.measured()


class Run:
    """One training run: the model, its optimiser and its place in the order of data."""

    def __init__(self, model, batches: Batches, dev: Batches, training: Training, folder: Path, device: str):
        self.training, self.folder, self.batches, self.dev = training, folder, batches, dev
        self.place = join(device)
        self.sizes, self.adapted = count_parameters(model), None
        if training.lora_rank:
            from .adapters import add_adapters

            self.adapted = add_adapters(model, training.lora_rank, training.lora_alpha)
        if training.gradient_checkpointing:
            model.activation_checkpointing_enable()
        self.bare = PredictedLoss(model).to(self.place.device)
        self.n_trained = sum(value.numel() for value in trained_weights(self.bare).values())
        self.optimizer = torch.optim.AdamW(
            _parameter_groups(model, training), weight_decay=training.weight_decay, fused=True
        )
        warmup = math.ceil(training.warmup_share * len(batches))
        self.scheduler = get_linear_schedule_with_warmup(self.optimizer, warmup, len(batches))
        self.best: dict[str, torch.Tensor] = {}
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
        before, first, losses = self.state["seconds"], self.state["step"], []
        if first == 0:
            self._evaluate(None)
        with tqdm(
            total=n_steps, initial=first, desc=f"pretrain {name}", disable=not show_progress, position=line
        ) as bar:
            for step in range(first, n_steps):
                losses.append(self._step(step))
                self.state["tokens_seen"] += self.batches.count_subwords(step)
                bar.update()
                self.state["step"] = step + 1
                self.state["seconds"] = before + time.monotonic() - started
                if step + 1 not in marks:
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
        n_steps = len(self.batches)
        return {
            math.ceil(n_steps * k / self.training.evaluations)
            for k in range(1, self.training.evaluations + 1)
        }

    def _step(self, number: int) -> float:
        """Learn from one batch, whichever parts and processes it is read in; return its mean loss.

        Draws within the network (dropout) are keyed by step, so that a resumed run makes the same ones.
        """
        me, n_processes = self.place.process_index, self.place.num_processes
        torch.manual_seed(int(keyed_rng(self.batches.seed, "dropout", number, me).integers(2**63)))
        parts = self.batches.share_out(number, me, n_processes, self.training.micro_batch_documents)
        n_predicted = self._count(parts)
        self.bare.train()
        loss = sum(self._learn(part, n_predicted) for part in parts)
        trained = [p for p in self.bare.parameters() if p.requires_grad]
        add_up_gradients(trained)
        nn.utils.clip_grad_norm_(trained, self.training.max_gradient_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.scheduler.step()
        MEMORY.look()
        return self._total(loss)

    def _learn(self, part: dict[str, torch.Tensor], n_predicted: int) -> float:
        """Add a part's gradients, weighed by its share of the predicted sub-words; return its share of the loss."""
        share = count_predicted(part) / max(n_predicted, 1)
        if not share:
            return 0.0
        with self._precision():
            return self.bare.learn(share=share, **self._on_device(part))

    def _loss(self, part: dict[str, torch.Tensor]) -> torch.Tensor:
        with self._precision():
            return self.bare(**self._on_device(part))

    def _precision(self) -> torch.autocast:
        is_low = self.training.precision == "bf16"
        return torch.autocast(self.place.device.type, torch.bfloat16, enabled=is_low)

    def _on_device(self, part: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {name: values.to(self.place.device) for name, values in part.items()}

    def _count(self, parts: list[dict[str, torch.Tensor]]) -> int:
        """Count a batch in all its parts and processes; return how many sub-words it predicts.

        A forward pass and twice that backward; adapters leave out the gradients of the matrices they adapt.
        """
        written = self._total(sum(count_predicted(part) for part in parts))
        read = self._total(sum(int(part["attention_mask"].sum()) for part in parts))
        if self.batches.objective.kind == "seq2seq":
            read += written
        self.state["tokens_predicted"] += int(written)
        n_passes = 2 if self.training.lora_rank else 3
        self.state["flops"] += n_passes * forward_flops(self.sizes, int(read), int(written))
        return int(written)

    def _total(self, value: float) -> float:
        return add_up(torch.tensor(value, dtype=torch.float64, device=self.place.device)).item()

    @torch.inference_mode()
    def _evaluate(self, train_loss: float | None) -> None:
        self.bare.eval()
        n_all, loss_all = 0, 0.0
        for number in range(self.place.process_index, len(self.dev), self.place.num_processes):
            part = self.dev[number]
            if n_predicted := count_predicted(part):
                n_all += n_predicted
                loss_all += self._loss(part).item() * n_predicted
        n_all, loss_all = self._total(n_all), self._total(loss_all)
        point = {name: self.state[name] for name in ("step", "tokens_seen", "tokens_predicted", "flops")}
        dev_loss = loss_all / n_all if n_all else None
        self.state["curve"].append(point | {"train_loss": train_loss, "dev_loss": dev_loss})
        if self.training.patience and best_evaluation(self.state["curve"]) == len(self.state["curve"]) - 1:
            self.best = {name: value.cpu().clone() for name, value in trained_weights(self.bare).items()}

    def restore_best(self) -> None:
        """Go back to the weights of the lowest dev loss, if they were kept."""
        self.bare.load_state_dict(self.best, strict=False)

    def save(self) -> None:
        """Store a place to go on from."""
        if is_main():
            state = self.state | {"scheduler": self.scheduler.state_dict()}
            save_checkpoint(self.folder, self.bare, self.optimizer, self.best, state)

    def resume(self) -> None:
        """Go on from the stored checkpoint, if there is one."""
        if found := load_checkpoint(self.folder, self.bare, self.optimizer):
            self.state, self.best = found
            self.scheduler.load_state_dict(self.state.pop("scheduler"))

    def plain_model(self) -> PreTrainedModel:
        """Return what is stored: the model on the CPU, without adapters."""
        if self.adapted is None:
            return self.bare.model.to("cpu")
        from .adapters import merge_adapters

        return merge_adapters(self.adapted.to("cpu"))

    def write_totals(self, objective: str, noise: Noise, seed: int) -> None:
        """Write `curves.csv` and `training.json`."""
        pd.DataFrame(self.state["curve"]).to_csv(self.folder / "curves.csv", index=False, float_format="%.7g")
        about = {
            "objective": objective,
            "noise": describe_noise(objective, noise),
            "seed": seed,
            "parameters": self.sizes,
        }
        about |= {name: self.state[name] for name in ("step", "tokens_seen", "tokens_predicted", "flops")}
        if self.training.lora_rank:
            rank, alpha = self.training.lora_rank, self.training.lora_alpha
            about["lora"] = {"rank": rank, "alpha": alpha, "parameters_trained": self.n_trained}
        if self.training.patience:
            is_whole = self.state["step"] == len(self.batches)
            about |= describe_stopping(self.state["curve"], self.training.patience, is_whole)
        write_atomically(self.folder / "training.json", json.dumps(about, indent=1))

    def measured(self) -> dict:
        """Return speed and means: on the CPU the number of threads and of processes moves the last bits."""
        seconds = self.state["seconds"]
        return {
            "seconds": round(seconds, 2),
            "tokens_per_second": round(self.state["tokens_seen"] / max(seconds, 1e-9), 1),
            "device": str(self.place.device),
            "threads": torch.get_num_threads(),
            "processes": self.place.num_processes,
            "micro_batch_documents": self.training.micro_batch_documents,
        }


def _parameter_groups(model: PreTrainedModel, training: Training) -> list[dict]:
    """Return the body's and the head's parameters that are trained, with their learning rates."""
    head = set(head_parameters(model))
    trained = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    return [
        {"params": [p for name, p in trained if name not in head], "lr": training.body_learning_rate},
        {"params": [p for name, p in trained if name in head], "lr": training.head_learning_rate},
    ]
