"""A network fine-tuned as the model of a task: its body, an output layer on the states that the field reads, and the loop.

A network that sees both sides is read at its first token or by the mean of its states, one that sees the left side at its
last token, where it has read all of the text. Of a word, the former is read at the first sub-word, the latter at the last.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from blankfill.draws import keyed_rng
from blankfill.networks.checkpoints import load_model, load_tokenizer, make_switchable, switch
from blankfill.networks.sizes import position_limit
from blankfill.text import find_words

from ..errors import StudyError
from ..examples import LABELS, WORDS, Example, Head
from .batches import Batch, make_groups, missing_tokens, pad_examples
from .settings import BOTH, OWN, Finetuning

HEAD_RATE, WARMUP, WEIGHT_DECAY, MAX_NORM = 1e-3, 0.1, 0.01, 1.0
TEST_BATCH = 32
SIDES = (OWN, BOTH)
POOLING_OF = {"masked": "mean", "causal": "last"}  # of each kind of network, unless a setting names another


@dataclass(frozen=True)
class Encoded:
    """The tokens of an example, and the token that stands for each word of its text (-1: it was cut off)."""

    ids: list[int]
    places: list[int]


class Finetuner:
    """A stored network as the `Learner` of tasks: every call trains it anew from its weights.

    `kind`: "masked" or "causal". Raises StudyError for another kind, for unknown sides or pooling, and for a masked
    network whose sides are to be opened.
    """

    def __init__(self, folder: Path, kind: str, how: Finetuning, device: str = "cpu"):
        if kind not in POOLING_OF:
            raise StudyError(f"task_model=finetuned takes a masked or a causal network, this one is {kind}")
        for name, choices in (("sides", SIDES), ("pooling", (OWN, *POOL))):
            if (value := getattr(how, name)) not in choices:
                raise StudyError(f"finetuning.{name}={value} is unknown: choose one of {', '.join(choices)}")
        if kind == "masked" and how.sides == BOTH:
            raise StudyError(
                "finetuning.sides=both: a masked network sees both sides already, leave it at own"
            )
        self.folder, self.kind, self.how, self.device = folder, kind, how, device
        self.tokenizer = load_tokenizer(folder)
        self.opening, self.closing = missing_tokens(self.tokenizer) if kind == "causal" else ([], [])
        self.reads_left = kind == "causal" and how.sides == OWN
        seen = "causal" if self.reads_left else "masked"
        self.pooling = POOLING_OF[seen] if how.pooling == OWN else how.pooling

    def __call__(
        self, head: Head, train: Sequence[Example], sets: Sequence[Sequence[Example]], seed: int
    ) -> list[list[np.ndarray]]:
        """Return the probabilities of every example of each set, after training on `train`; see `Learner`."""
        torch.manual_seed(seed)
        model = HeadedNetwork(self.load_body(), head, self.pooling).to(self.device)
        learned, *asked = ([self.encode(example) for example in examples] for examples in (train, *sets))
        self._refuse_long(model.body, chain(learned, *asked))
        self._train(model, learned, [torch.as_tensor(example.target) for example in train], seed)
        return [self._answer(model, encodings) for encodings in asked]

    def _refuse_long(self, body: PreTrainedModel, encodings: Iterable[Encoded]) -> None:
        """Raise StudyError for texts with more tokens than the network has positions."""
        longest, limit = max((len(encoding.ids) for encoding in encodings), default=0), position_limit(body)
        if limit and longest > limit:
            raise StudyError(
                f"finetuning.max_subwords={self.how.max_subwords}: a text has {longest} tokens with those that open and "
                f"close it, and the network {limit} positions: lower it"
            )

    def load_body(self) -> Any:
        """Return the network without its language-modelling head, with the parameters that are trained marked as such."""
        model = load_model(self.folder, self.kind)
        if self.kind == "causal" and self.how.sides == BOTH:
            model.config.is_causal = False  # for decoders that are no BERT, as `see_both_sides` does
            make_switchable(model)
            switch(model, "masked")
        body: Any = model.base_model
        if body is model:
            raise StudyError(
                f"finetuning: a network of type {model.config.model_type} has no body without its head"
            )
        mark_trained(body, self.how.upper_layers)
        return body

    def encode(self, example: Example) -> Encoded:
        """Return the tokens of a text or a pair, opened and closed as the network's own texts are."""
        tokenizer, limit = self.tokenizer, self.how.max_subwords
        words = find_words(example.text)
        texts = [example.text, *[example.second] * bool(example.second)]
        if example.second and tokenizer.sep_token_id is None:
            texts = ["\n".join(self._cut_pair(texts, limit - tokenizer.num_special_tokens_to_add() - 1))]
        encoding = tokenizer(*texts, truncation=True, max_length=limit, split_special_tokens=True)
        places = []
        for start, end in words:
            place = encoding.char_to_token(0, end - 1 if self.reads_left else start)
            places.append(-1 if place is None else place + len(self.opening))
        return Encoded([*self.opening, *encoding["input_ids"], *self.closing], places)

    def _cut_pair(self, texts: list[str], room: int) -> list[str]:
        """Return two texts cut to `room` tokens together, the longer one first."""
        encodings = self.tokenizer(texts, add_special_tokens=False, split_special_tokens=True)
        first, second = (len(ids) for ids in encodings["input_ids"])
        kept = min(first, max(room - second, room // 2))
        ends = [
            encodings.token_to_chars(number, n - 1).end if n < have else len(text)
            for number, (text, n, have) in enumerate(
                zip(texts, (kept, min(second, room - kept)), (first, second), strict=True)
            )
        ]
        return [text[:end] for text, end in zip(texts, ends, strict=True)]

    def _train(
        self, model: "HeadedNetwork", learned: list[Encoded], targets: list[torch.Tensor], seed: int
    ) -> None:
        head = list(model.output.parameters())
        body = [value for value in model.body.parameters() if value.requires_grad]
        groups = [
            {"params": body, "lr": self.how.learning_rate, "peak": self.how.learning_rate},
            {"params": head, "lr": HEAD_RATE, "peak": HEAD_RATE},
        ]
        optimizer = torch.optim.AdamW(groups, weight_decay=WEIGHT_DECAY, fused=True)
        model.train()
        for step, chosen in enumerate(
            draw_batches(len(learned), self.how.batch_examples, self.how.steps, seed)
        ):
            share = min((step + 1) / max(1, WARMUP * self.how.steps), 1.0) * (1 - step / self.how.steps)
            for group in optimizer.param_groups:
                group["lr"] = group["peak"] * share
            batch = self._collate([learned[i] for i in chosen])
            loss = model.measure_loss(batch, [targets[i] for i in chosen])
            if not math.isfinite(loss.item()):
                raise StudyError(
                    f"fine-tuning stopped at step {step + 1}: its loss is not finite: lower finetuning.learning_rate "
                    f"(now {self.how.learning_rate:g})"
                )
            loss.backward()
            nn.utils.clip_grad_norm_([*body, *head], MAX_NORM)
            optimizer.step()
            optimizer.zero_grad()

    @torch.inference_mode()
    def _answer(self, model: "HeadedNetwork", encodings: list[Encoded]) -> list[np.ndarray]:
        model.eval()
        order = sorted(range(len(encodings)), key=lambda i: len(encodings[i].ids))
        answers: dict[int, np.ndarray] = {}
        for chosen in make_groups(order, TEST_BATCH):
            probabilities = model.answer(self._collate([encodings[i] for i in chosen]))
            answers |= dict(zip(chosen, probabilities, strict=True))
        return [answers[i] for i in range(len(encodings))]

    def _collate(self, encodings: list[Encoded]) -> Batch:
        """Return input_ids and attention_mask (batch, length), and the tokens of words as `rows` and `places` (n words,)."""
        examples = [{"input_ids": np.array(encoding.ids, dtype=int)} for encoding in encodings]
        pairs = [(row, place) for row, encoding in enumerate(encodings) for place in encoding.places]
        rows, places = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
        batch = pad_examples(examples, self.tokenizer.pad_token_id or 0) | {"rows": rows, "places": places}
        return {name: values.to(self.device) for name, values in batch.items()}


class HeadedNetwork(nn.Module):
    """The body of a network with one linear output layer."""

    def __init__(self, body: Any, head: Head, pooling: str):
        super().__init__()
        self.body, self.head, self.pooling = body, head, pooling
        self.output = nn.Linear(body.config.hidden_size, head.n_outputs)

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return logits: (words of all examples, outputs) of a head of words, those cut off left out; else (batch, outputs)."""
        seen = batch["attention_mask"]
        states = self.body(input_ids=batch["input_ids"], attention_mask=seen).last_hidden_state
        if self.head.kind == WORDS:
            is_there = batch["places"] >= 0
            return self.output(states[batch["rows"][is_there], batch["places"][is_there]])
        return self.output(POOL[self.pooling](states, seen))

    def measure_loss(self, batch: Batch, targets: list[torch.Tensor]) -> torch.Tensor:
        """Return the mean cross-entropy: over words, over labels (binary), or over examples."""
        logits, gold = self(batch), torch.cat(targets).to(batch["input_ids"].device)
        if self.head.kind == LABELS:
            return nn.functional.binary_cross_entropy_with_logits(logits, gold.reshape(logits.shape).float())
        return nn.functional.cross_entropy(
            logits, gold[batch["places"] >= 0] if self.head.kind == WORDS else gold
        )

    def answer(self, batch: Batch) -> list[np.ndarray]:
        """Return the probabilities of each example; a word that was cut off has its first class."""
        logits = self(batch).float()
        probabilities = (logits.sigmoid() if self.head.kind == LABELS else logits.softmax(-1)).cpu()
        if self.head.kind != WORDS:
            return list(probabilities.numpy())
        words = torch.eye(self.head.n_outputs)[torch.zeros(len(batch["places"]), dtype=torch.long)]
        words[batch["places"].cpu() >= 0] = probabilities
        n_words = torch.bincount(batch["rows"].cpu(), minlength=len(batch["input_ids"]))
        return [of_example.numpy() for of_example in words.split(n_words.tolist())]


# From states (batch, length, width) and which of them are no padding (batch, length) to one state per text.
POOL: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "first": lambda states, seen: states[:, 0],
    "last": lambda states, seen: states[torch.arange(len(states)), seen.sum(1) - 1],
    "mean": lambda states, seen: (states * seen[..., None]).sum(1) / seen.sum(1, keepdim=True),
}


def mark_trained(body: PreTrainedModel, upper_layers: int) -> None:
    """Let the upper layers of a body be trained (0: all), and what follows them; its embeddings stay as they are.

    Raises StudyError where it has fewer layers.
    """
    frozen: list[Any] = [body.get_input_embeddings()]
    if upper_layers:
        n_layers = body.config.num_hidden_layers
        stacks = (module for module in body.modules() if isinstance(module, nn.ModuleList))
        # ALBERT has one for all.
        layers = next((list(stack) for stack in stacks if len(stack) == n_layers), [])
        if upper_layers > len(layers):
            raise StudyError(
                f"finetuning.upper_layers={upper_layers}: the network has {len(layers)} with weights of their own; "
                "give fewer, or 0 for all"
            )
        frozen += layers[: n_layers - upper_layers]
        if hasattr(body, "embeddings"):
            frozen.append(body.embeddings)
    for module in frozen:
        module.requires_grad_(False)


def draw_batches(n_examples: int, size: int, steps: int, seed: int) -> Iterator[list[int]]:
    """Yield the numbers of the examples of each step; every pass over them has another order."""
    size, n_passes = min(size, n_examples), 0
    waiting: list[int] = []
    for _ in range(steps):
        while len(waiting) < size:
            waiting += keyed_rng("fine-tuning", seed, n_passes).permutation(n_examples).tolist()
            n_passes += 1
        yield waiting[:size]
        waiting = waiting[size:]
