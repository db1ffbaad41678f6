"""From documents to models at several token budgets: one order of data and one schedule, whatever the objective.

The learning rate warms up and stays. For each budget it falls to zero over the last steps before the budget is used up,
on a copy of the model; then the training goes on from before the fall. So one training gives the model of every budget.
"""

import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn
from tqdm import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from blankfill.draws import keyed_rng
from blankfill.memory import MEMORY
from blankfill.networks.attention import attention_of
from blankfill.networks.checkpoints import make_switchable, switch
from blankfill.networks.sizes import count_parameters, forward_flops, head_parameters, position_limit

from ..errors import StudyError
from ..files import write_atomically
from .batches import Batch, Batches, check_room, count_read, find_target_tokens, order_batches
from .budgets import list_budgets
from .checkpoint import load_checkpoint, save_checkpoint, trained_weights
from .loss import PredictedLoss, count_pairs, count_predicted, weigh
from .neighbours import Neighbours
from .objectives import (
    OBJECTIVES,
    Noise,
    TokenizedDocument,
    check_target_tokens,
    describe_noise,
    split_batches,
)
from .pairs import save_head, write_pairs
from .recomputed_attention import NAME as RECOMPUTED
from .starts import add_mask_token

TOTALS = ("step", "tokens_seen", "tokens_predicted", "flops")
DEV_BATCH = 16


@dataclass(frozen=True)
class Training:
    """The budget and the optimiser; `token_budget` counts the tokens of the documents seen, padding excluded.

    `budgets` is the number of budgets at which a model is kept, each half of the next. The learning rate warms up over
    `warmup_share` of the whole budget and falls over the last `decay_share` of each. `patience` stops after so many
    budgets that lowered the dev loss of no corpus; 0 never stops. At most `unique_tokens` of each corpus are read, again and
    again (0: all). `dropout` is the rate of every dropout layer in training. `micro_batch_documents` go through the model at once
    (0: a whole batch): less memory for the same step. `seed` draws the order of the documents and what is masked.
    """

    token_budget: int
    budgets: int
    batch_documents: int
    body_learning_rate: float
    head_learning_rate: float
    warmup_share: float
    decay_share: float
    weight_decay: float
    max_gradient_norm: float
    max_subwords: int
    dev_documents: int
    checkpoint_seconds: float
    precision: str
    patience: int = 0
    unique_tokens: int = 0
    dropout: float = 0.0
    micro_batch_documents: int = 0
    seed: int = 0
    device: str = "cpu"


@dataclass(frozen=True)
class TrainingTexts:
    """The tokenized documents of each corpus: those to learn from, and those that the dev loss is measured on.

    `pairs` are held-out documents whose segments an objective that reads pairs is asked about (none: not asked).
    """

    learned: dict[str, list[TokenizedDocument]]
    dev: dict[str, list[TokenizedDocument]]
    pairs: dict[str, list[TokenizedDocument]] = field(default_factory=dict)


def prepare(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    texts: TrainingTexts,
    objective_name: str,
    noise: Noise,
    training: Training,
    folder: Path,
) -> "Trainer":
    """Return a training of `model` (in place) before its first step; its files go into `folder`.

    A causal model without a mask token gets one, and so does its tokenizer, where the objective needs it.
    Raises StudyError for a tokenizer that lacks a special token the objective needs, a corpus without dev documents,
    a model that cannot be masked and causal where the objective is `hybrid`, and one without segments where it reads pairs.
    """
    objective = OBJECTIVES[objective_name]
    if objective.kind == "causal" and objective.needs_mask:
        add_mask_token(model, tokenizer)
    tokens = find_target_tokens(tokenizer, model)
    check_target_tokens(objective_name, tokens)
    if objective_name == "hybrid":
        make_switchable(model)
    if objective.reads_pairs and getattr(model.config, "type_vocab_size", 1) < 2:
        raise StudyError(
            f"objective {objective_name} needs a model with two segment types, such as BERT's; this one is "
            f"{model.config.model_type}"
        )
    if absent := [name for name, documents in texts.dev.items() if not documents]:
        raise StudyError(
            f"corpus {absent[0]} has no document to measure the dev loss on: raise dev_documents"
        )
    documents = [document for of_corpus in texts.learned.values() for document in of_corpus]
    corpora = [name for name, of_corpus in texts.learned.items() for _ in of_corpus]
    lengths, seed = [len(document.ids) for document in documents], training.seed
    order = order_batches(lengths, corpora, training.token_budget, training.batch_documents, seed)
    if "noise_ratio" in objective.settings:
        read = [documents[i] for i in sorted({i for batch in order for i in batch})]
        tokens = replace(
            tokens, neighbours=Neighbours([(document.ids, document.word_of) for document in read])
        )
    about = (noise, tokens, tokenizer.pad_token_id or 0)
    dev = {
        name: {
            batch_objective: Batches(
                dev_documents, _in_order(len(dev_documents)), batch_objective, *about, seed + 1
            )
            for batch_objective in split_batches(objective_name, noise)
        }
        for name, dev_documents in texts.dev.items()
    }
    batches = Batches(documents, order, objective_name, *about, seed)
    return Trainer(model, tokenizer, batches, corpora, dev, training, folder, texts.pairs)


def _in_order(n_documents: int) -> list[list[int]]:
    numbers = range(n_documents)
    return [list(numbers[i : i + DEV_BATCH]) for i in range(0, n_documents, DEV_BATCH)]


class Trainer:
    """One training: the model, its optimiser and its place in the order of the data."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        batches: Batches,
        corpora: Sequence[str],
        dev: dict[str, dict[str, Batches]],
        training: Training,
        folder: Path,
        pairs: dict[str, list[TokenizedDocument]],
    ):
        self.pairs = pairs
        self.training, self.folder, self.batches, self.dev = training, folder, batches, dev
        self.model, self.tokenizer = model, tokenizer
        self.limit = position_limit(model)
        self.device, self.sizes = torch.device(training.device), count_parameters(model)
        torch.manual_seed(batches.seed)
        judges_pairs = OBJECTIVES[batches.objective].reads_pairs
        self.learner = PredictedLoss(model, judges_pairs).to(self.device)
        _set_dropout(model, training)
        self.optimizer = torch.optim.AdamW(
            _parameter_groups(self.learner, training), weight_decay=training.weight_decay, fused=True
        )
        self.rates = [group["lr"] for group in self.optimizer.param_groups]
        self.ends, self.passes = _count_seen(batches, corpora)
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
        self.write_totals()
        self.write_pairs()
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
            while len(self.state["curve"]) <= len(budgets) and not self._is_out_of_patience():
                budget = budgets[len(self.state["curve"]) - 1]
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
        with attention_of(self.model, RECOMPUTED):
            for step in range(self.state["step"], until):
                started = time.monotonic()
                self._set_rates(step, fall)
                self.losses.append(self._step(step))
                self.state["tokens_seen"] += self.batches.count_tokens(step)
                self.state["step"] = step + 1
                self.state["seconds"] += time.monotonic() - started
                if bar is not None:
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
        """Store the model of a budget, and its place on the curve."""
        self._evaluate(budget)
        switch(self.model, "masked")
        bar.set_postfix({name: f"{loss:.2f}" for name, loss in self.state["curve"][-1]["dev_loss"].items()})
        self.learner.to("cpu")
        self.model.save_pretrained(self.folder / str(budget))
        self.tokenizer.save_pretrained(self.folder / str(budget))
        self.learner.to(self.device)

    def _is_out_of_patience(self) -> bool:
        """Return whether the last `patience` budgets lowered the dev loss of no corpus; 0 never runs out."""
        curve, patience = self.state["curve"], self.training.patience
        if not patience or len(curve) <= patience:
            return False
        best = min(curve, key=lambda point: point["budget"])["dev_loss"]
        last = 0
        for number, point in enumerate(curve):
            if any(loss < best[name] for name, loss in point["dev_loss"].items()):
                last = number
            best = {name: min(best[name], loss) for name, loss in point["dev_loss"].items()}
        return len(curve) - 1 - last >= patience

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

    def _loss(self, batch: Batch) -> torch.Tensor:
        with self._precision():
            return self.learner(**self._on_device(batch))

    def write_pairs(self) -> None:
        """Write `pairs.csv` and the head that tells pairs; nothing of an objective without pairs."""
        if self.learner.judge is not None:
            write_pairs(self.pairs, self.batches, self._judge_pairs, self.folder)
            save_head(self.learner.judge, self.folder)

    def _judge_pairs(self, batch: Batch) -> list[int]:
        self.learner.eval()
        with self._precision(), attention_of(self.model, RECOMPUTED):
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
        dev_loss = {name: self._dev_loss(name) for name in self.dev}
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
            share * self._mean_loss(corpus, self.dev[corpus][batch_objective])
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
                with attention_of(self.model, RECOMPUTED):
                    loss_all += self._loss(batch).item() * weight
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

    def write_totals(self) -> None:
        """Write `curves.csv` (one row per budget and corpus) and `training.json`."""
        curve, objective = self.state["curve"], self.batches.objective
        rows = [
            {name: value for name, value in point.items() if name not in ("dev_loss", "passes")}
            | {"corpus": name, "dev_loss": loss, "passes": point["passes"][name]}
            for point in curve
            for name, loss in point["dev_loss"].items()
        ]
        pd.DataFrame(rows).to_csv(self.folder / "curves.csv", index=False, float_format="%.7g")
        if OBJECTIVES[objective].bounds_text:
            curve = [
                point | {"nats_per_character": self._per_character(point["dev_loss"])} for point in curve
            ]
        about = {
            "objective": objective,
            "noise": describe_noise(objective, self.batches.noise),
            "seed": self.batches.seed,
            "parameters": self.sizes,
            "stopped_early": len(curve) <= self.training.budgets,
            "budgets": curve[1:],
        }
        write_atomically(self.folder / "training.json", json.dumps(about, indent=1))

    def _per_character(self, losses: dict[str, float]) -> dict[str, float]:
        """Return the dev loss of each corpus in nats per character, of an objective whose loss bounds the text."""
        per_character = {}
        for name, loss in losses.items():
            batches = self.dev[name][self.batches.objective]
            n_predicted = sum(weigh(batches[number]) for number in range(len(batches)))
            per_character[name] = (
                loss * n_predicted / sum(document.n_characters for document in batches.documents)
            )
        return per_character

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


def _count_seen(batches: Batches, corpora: Sequence[str]) -> tuple[np.ndarray, dict[str, list[float]]]:
    """Return the tokens seen after each step, and for each corpus how often it was read, from before the first step."""
    lengths = np.array([len(document.ids) for document in batches.documents])
    names = np.array(corpora)
    seen = {
        name: np.cumsum(
            [0, *(sum(lengths[i] for i in batch if names[i] == name) for batch in batches.batches)]
        )
        for name in dict.fromkeys(corpora)
    }
    ends = np.sum(list(seen.values()), axis=0)[1:]
    passes = {name: (tokens / lengths[names == name].sum()).tolist() for name, tokens in seen.items()}
    return ends, passes


def _set_dropout(model: PreTrainedModel, training: Training) -> None:
    """Set the rate of every dropout layer; it is stored nowhere, and evaluation has none.

    Raises StudyError for micro-batches, which would draw otherwise than whole batches do.
    """
    if training.dropout and training.micro_batch_documents:
        raise StudyError(
            "scale.training.micro_batch_documents changes what dropout draws: set it or scale.training.dropout to 0"
        )
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = training.dropout


def _parameter_groups(learner: PredictedLoss, training: Training) -> list[dict]:
    """Return the body's and the heads' parameters, with their learning rates."""
    head, named = set(head_parameters(learner.model)), dict(learner.model.named_parameters())
    judge = [] if learner.judge is None else [*learner.judge.parameters()]
    heads = [p for name, p in named.items() if name in head] + judge
    return [
        {"params": [p for name, p in named.items() if name not in head], "lr": training.body_learning_rate},
        {"params": heads, "lr": training.head_learning_rate},
    ]
