"""From documents to models at several token budgets: one order of data and one schedule, whatever the objective.

The learning rate warms up and stays. For each budget it falls to zero over the last steps before the budget is used up,
on a copy of the model; then the training goes on from before the fall. So one training gives the model of every budget.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from tqdm import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from blankfill.draws import keyed_rng
from blankfill.memory import MEMORY
from blankfill.networks.attention import attention_of
from blankfill.networks.checkpoints import switch
from blankfill.networks.sizes import count_parameters, forward_flops, position_limit

from ..errors import StudyError
from .batches import Batch, Batches, TrainingBatches, check_room, count_read
from .budgets import is_out_of_patience, list_budgets
from .checkpoint import load_checkpoint, save_checkpoint, trained_weights
from .curves import count_seen, write_curves
from .loss import PredictedLoss, count_pairs, count_predicted, weigh
from .objectives import OBJECTIVES, split_batches
from .optimiser import group_parameters, set_dropout
from .pairs import save_head, write_pairs
from .settings import Training
from .training_attention import NAME as LEARNING

TOTALS = ("step", "tokens_seen", "tokens_predicted", "flops")


class Trainer:
    """One training: the model, its optimiser and its place in the order of the data."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        reading: TrainingBatches,
        training: Training,
        folder: Path,
    ):
        batches = reading.learned
        self.training, self.folder, self.reading, self.batches = training, folder, reading, batches
        self.model, self.tokenizer = model, tokenizer
        self.limit = position_limit(model)
        self.device, self.sizes = torch.device(training.device), count_parameters(model)
        torch.manual_seed(batches.seed)
        judges_pairs = OBJECTIVES[batches.objective].reads_pairs
        self.learner = PredictedLoss(model, judges_pairs).to(self.device)
        set_dropout(model, training)
        self.optimizer = torch.optim.AdamW(
            group_parameters(self.learner, training), weight_decay=training.weight_decay, fused=True
        )
        self.rates = [group["lr"] for group in self.optimizer.param_groups]
        self.ends, self.passes = count_seen(reading)
        self.warmup = math.ceil(training.warmup_share * len(batches))
        self.losses: list[float] = []
        self.state: dict[str, Any] = dict.fromkeys(TOTALS, 0) | {"seconds": 0.0, "curve": []}

    def train(self, show_progress: bool = True, line: int = 0) -> dict:
        """Train to the last budget; write the model of each, `curves.csv` and `training.json`, of pairs `pairs.csv`.

        Saves a checkpoint every `checkpoint_seconds`, and goes on from one that a killed training left, to the same
        bytes. Returns what was measured (seconds, tokens/s, threads), which is not part of the result.
        """
        self.resume()
        self._take_steps(show_progress, line)
        write_curves(self.state["curve"], self.reading, self.sizes, self.training.budgets, self.folder)
        return self.measured()

    def _take_steps(self, show_progress: bool, line: int) -> None:
        budgets = list_budgets(self.training.token_budget, self.training.budgets)
        self.saved = time.monotonic()
        if not self.state["curve"]:
            self._evaluate(0)
        with tqdm(
            total=len(self.batches),
            initial=self.state["step"],
            desc=f"pretrain {self.batches.objective}",
            disable=not show_progress,
            position=line,
        ) as bar:
            while len(curve := self.state["curve"]) <= len(budgets):
                if is_out_of_patience(curve, self.training.patience):
                    break
                budget = budgets[len(curve) - 1]
                falls, ends = (self._step_at(budget * share) for share in (1 - self.training.decay_share, 1))
                self.advance(falls, None, bar)
                is_last = budget == budgets[-1]
                with self._on_a_copy(not is_last):
                    self.advance(ends, (falls, ends), bar if is_last else None)
                    self._keep(budget, bar)
                if not is_last:
                    self.save()

    def _step_at(self, tokens: float) -> int:
        """Return after how many steps so many tokens were seen."""
        return min(int(np.searchsorted(self.ends, tokens)) + 1, len(self.batches))

    def advance(self, until: int, fall: tuple[int, int] | None = None, bar: tqdm | None = None) -> None:
        """Take steps up to step `until`; the learning rate falls between the two steps of `fall`."""
        with attention_of(self.model, LEARNING):
            for step in range(self.state["step"], until):
                started = time.monotonic()
                self._set_rates(step, fall)
                self.losses.append(self._step(step))
                self.state["tokens_seen"] += self.batches.count_tokens(step)
                self.state["step"] = step + 1
                self.state["seconds"] += time.monotonic() - started
                if bar is None:
                    continue
                bar.update()
                if time.monotonic() - self.saved > self.training.checkpoint_seconds:
                    self.save()

    def _set_rates(self, step: int, fall: tuple[int, int] | None) -> None:
        share = min(1.0, (step + 1) / max(self.warmup, 1))
        if fall:
            share *= (fall[1] - step) / (fall[1] - fall[0])
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * share

    @contextmanager
    def _on_a_copy(self, is_wanted: bool) -> Iterator[None]:
        """Put weights, optimiser and totals back afterwards; the seconds and the curve stay."""
        if not is_wanted:
            yield
            return
        weights = {name: value.clone() for name, value in trained_weights(self.learner).items()}
        optimizer, totals = deepcopy(self.optimizer.state_dict()), {name: self.state[name] for name in TOTALS}
        yield
        self.learner.load_state_dict(weights, strict=False)
        self.optimizer.load_state_dict(optimizer)
        self.state |= totals

    def _keep(self, budget: int, bar: tqdm) -> None:
        """Store the model of a budget, its place on the curve, and in place of those before what it says of pairs."""
        self._evaluate(budget)
        switch(self.model, "masked")
        bar.set_postfix({name: f"{loss:.2f}" for name, loss in self.state["curve"][-1]["dev_loss"].items()})
        self.write_pairs()
        self.learner.to("cpu")
        self.model.save_pretrained(self.folder / str(budget))
        self.tokenizer.save_pretrained(self.folder / str(budget))
        self.learner.to(self.device)

    def _step(self, number: int) -> float:
        """Learn from one batch, in micro-batches; return its mean loss.

        Draws within the network (dropout) are keyed by step, so that a resumed training makes the same ones.
        """
        torch.manual_seed(int(keyed_rng(self.batches.seed, "dropout", number, 0).integers(2**63)))
        micro_batches = self.batches.split(number, self.training.micro_batch_documents)
        self._count(micro_batches)
        weight = sum(weigh(batch) for batch in micro_batches)
        n_pairs = sum(map(count_pairs, micro_batches))
        switch(self.model, self.batches.objective_at(number).kind)
        self.learner.train()
        loss = sum(self._learn(batch, weigh(batch) / max(weight, 1), n_pairs) for batch in micro_batches)
        self._refuse_not_finite("training loss", loss, number + 1)
        norm = nn.utils.clip_grad_norm_(self.learner.parameters(), self.training.max_gradient_norm)
        self._refuse_not_finite("gradient", norm.item(), number + 1)
        self.optimizer.step()
        self.optimizer.zero_grad()
        MEMORY.release_if_grown()
        return loss

    def _refuse_not_finite(self, quantity: str, value: float, step: int) -> None:
        """Raise StudyError where a loss or gradient is infinite or no number: from there on nothing would be learned."""
        if math.isfinite(value):
            return
        rates = f"{self.training.body_learning_rate:g} and {self.training.head_learning_rate:g}"
        advice = f"lower scale.training.body_learning_rate and head_learning_rate (now {rates})"
        if step == 0:
            advice = "the weights that it starts from are damaged, choose another model"
        raise StudyError(
            f"training with objective {self.batches.objective} stopped at step {step} of {len(self.batches)}: "
            f"its {quantity} is not finite: {advice}"
        )

    def _learn(self, batch: Batch, share: float, n_pairs: int) -> float:
        """Add the gradients of a micro-batch, weighted by its share of the predictions; return its share of the loss."""
        if not share:
            return 0.0
        with self._precision():
            return self.learner.learn(share=share, n_pairs=max(n_pairs, 1), **self._on_device(batch))

    def write_pairs(self) -> None:
        """Write `pairs.csv` and the head that tells pairs; nothing of an objective without pairs."""
        if self.learner.judge is not None:
            write_pairs(self.reading.pairs, self.batches, self._judge_pairs, self.folder)
            save_head(self.learner.judge, self.folder)

    def _judge_pairs(self, batch: Batch) -> list[int]:
        self.learner.eval()
        with self._precision(), attention_of(self.model, LEARNING):
            return self.learner.judge_pairs(**self._on_device(batch))

    def _precision(self) -> torch.autocast:
        is_low = self.training.precision == "bf16"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=is_low)

    def _on_device(self, batch: Batch) -> Batch:
        check_room(batch, self.limit, self.batches.objective)
        return {name: values.to(self.device) for name, values in batch.items()}

    def _count(self, micro_batches: list[Batch]) -> None:
        """Count a batch. A backward pass costs twice a forward one."""
        predicted = sum(count_predicted(batch) for batch in micro_batches)
        read = sum(count_read(batch) for batch in micro_batches)
        if OBJECTIVES[self.batches.objective].kind == "seq2seq":
            read += predicted
        self.state["tokens_predicted"] += predicted
        self.state["flops"] += 3 * forward_flops(self.sizes, read, predicted)

    def _evaluate(self, budget: int) -> None:
        """Add a point to the curve: the mean training loss since the last one, and the dev loss of each corpus."""
        train_loss, self.losses = (float(np.mean(self.losses)) if self.losses else None), []
        dev_loss = {name: self._dev_loss(name) for name in self.reading.dev}
        for name, loss in dev_loss.items():
            self._refuse_not_finite(f"dev loss on {name}", loss, self.state["step"])
        self.state["curve"].append(
            {"budget": budget}
            | {name: self.state[name] for name in TOTALS}
            | {"train_loss": train_loss}
            | {"dev_loss": dev_loss}
            | {"passes": {name: seen[self.state["step"]] for name, seen in self.passes.items()}}
        )

    def _dev_loss(self, corpus: str) -> float:
        """Return the loss on the dev documents of a corpus; of `hybrid`, the mean of both by their shares of the batches."""
        shares = split_batches(self.batches.objective, self.batches.noise)
        return sum(
            share * self._mean_loss(corpus, self.reading.dev[corpus][batch_objective])
            for batch_objective, share in shares.items()
        )

    @torch.inference_mode()
    def _mean_loss(self, corpus: str, batches: Batches) -> float:
        """Return the cross-entropy (nats per predicted token, by their weights) of dev batches."""
        self.learner.eval()
        weight_all, loss_all = 0.0, 0.0
        for number in range(len(batches)):
            switch(self.model, batches.objective_at(number).kind)
            batch = batches[number]
            if weight := weigh(batch):
                weight_all += weight
                with attention_of(self.model, LEARNING), self._precision():
                    loss = self.learner(**self._on_device(batch))
                loss_all += loss.item() * weight
        if not weight_all:
            raise StudyError(
                f"nothing is predicted in the dev documents of {corpus}: raise objective.ratio or "
                "scale.training.dev_documents"
            )
        return loss_all / weight_all

    def save(self) -> None:
        """Store a checkpoint to resume from."""
        save_checkpoint(self.folder, self.learner, self.optimizer, self.state | {"losses": self.losses})
        self.saved = time.monotonic()

    def resume(self) -> None:
        """Resume from the stored checkpoint, if there is one."""
        if checkpoint := load_checkpoint(self.folder, self.learner, self.optimizer):
            self.state = checkpoint
            self.losses = self.state.pop("losses")

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
