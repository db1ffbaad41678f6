"""The loss of every objective: cross-entropy at the predicted positions, and nowhere else."""

import torch
from torch import nn
from transformers import PreTrainedModel

from blankfill.networks.sizes import HEAD_ROWS, hidden_states, output_layer, split_output_layer
from blankfill.networks.trimming import states_where

from .noise import IGNORE
from .training_attention import precision_of
from .vocabulary_arrays import KeptArrays, OutputProduct, adding_in_place


class PredictedLoss(nn.Module):
    """A model and its loss at the predicted positions only: the output layer never sees the others.

    The loss is the mean cross-entropy (nats) over positions whose label is not -100, by their `weights` where a batch has
    these (batch, length). With `judges_pairs` the model also learns from `is_next` (batch, 1), by a head of its own on the
    first state: BERT's pooler and classifier, which are no part of the model.
    """

    def __init__(self, model: PreTrainedModel, judges_pairs: bool = False):
        super().__init__()
        self.model, width = model, model.config.hidden_size if judges_pairs else 0
        self.kept = KeptArrays()
        self.judge = (
            nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2)) if judges_pairs else None
        )

    def learn(self, labels: torch.Tensor, share: float, n_pairs: int = 1, **inputs: torch.Tensor) -> float:
        """Add the gradients of `share` times the loss, and return that; logits exist for HEAD_ROWS positions at a time.

        `n_pairs` is the number of pairs in the whole batch, of which these are a part; their loss is not in what is returned.
        """
        is_next = inputs.pop("is_next", None)
        with adding_in_place(self.model, self.kept):
            first, states, targets, weights = self._select(labels, inputs)
        cut = states.detach().requires_grad_()
        loss = self._learn_output(cut, targets, weights * share)
        ends, gradients = [states], [cut.grad]
        if self.judge is not None and is_next is not None:
            verdicts = self.judge(first).float()
            missed = nn.functional.cross_entropy(
                verdicts, is_next[:, 0], ignore_index=IGNORE, reduction="sum"
            )
            ends, gradients = [states, missed / n_pairs], [cut.grad, None]
        torch.autograd.backward(ends, gradients)
        return loss

    @torch.inference_mode()
    def judge_pairs(self, **inputs: torch.Tensor) -> list[int]:
        """Return for each pair of a batch 1 where its second segment is told to follow the first, else 0."""
        assert self.judge is not None
        read = {name: values for name, values in inputs.items() if name not in ("labels", "is_next")}
        return self.judge(hidden_states(self.model, read)[:, 0]).argmax(-1).tolist()

    def _learn_output(self, states: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor) -> float:
        """Add the gradients of the output layer, and of the states (n, width) that it reads; return the weighted loss.

        The gradients of the last product, which are as large as the vocabulary, are summed in place, without autograd.
        """
        split = split_output_layer(self.model)
        if split is None:
            return self._learn_whole_output(states, labels, weights)
        before, weight, bias = split
        rows = before(states)
        product = OutputProduct(weight, bias, precision_of(rows), self.kept)
        gradients, loss = torch.empty_like(rows), 0.0
        blocks = (
            rows_or_labels.split(HEAD_ROWS)
            for rows_or_labels in (rows.detach().to(product.table.dtype), gradients, labels, weights)
        )
        for block_rows, gradient, block_labels, block_weights in zip(*blocks, strict=True):
            losses, slopes = differentiate(product(block_rows), block_labels)
            slopes.mul_(block_weights.float()[:, None])
            gradient.copy_(product.learn(block_rows, slopes))
            loss += (losses.double() * block_weights).sum().item()  # a product of vectors would be in bf16
        product.add_gradients()
        rows.backward(gradients)
        return loss

    def _learn_whole_output(self, states: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor) -> float:
        loss = 0.0
        blocks = (rows_or_labels.split(HEAD_ROWS) for rows_or_labels in (states, labels, weights))
        for block_states, block_labels, block_weights in zip(*blocks, strict=True):
            logits = output_layer(self.model)(block_states)
            losses, slopes = differentiate(logits.detach(), block_labels)
            logits.backward(slopes.mul_(block_weights.float()[:, None]).to(logits.dtype))
            loss += (losses.double() * block_weights).sum().item()
        return loss

    def forward(self, labels: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
        """Return the loss, without that of pairs."""
        inputs.pop("is_next", None)
        _, states, targets, weights = self._select(labels, inputs)
        losses = [
            nn.functional.cross_entropy(
                output_layer(self.model)(block_states).float(), block_targets, reduction="none"
            )
            for block_states, block_targets in zip(
                states.split(HEAD_ROWS), targets.split(HEAD_ROWS), strict=True
            )
        ]
        return (torch.cat(losses).double() * weights).sum()

    def _select(
        self, labels: torch.Tensor, inputs: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor | None, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the first states (batch, width; None without pairs), those predicted from (n, width), labels, weights of sum 1."""
        predicted, first = labels != IGNORE, None
        weights = inputs.pop("weights", predicted)[predicted].double()
        if self.judge is None:
            states = states_where(self.model, inputs, predicted)
        else:
            hidden = hidden_states(self.model, inputs)
            first, states = hidden[:, 0], hidden[predicted]
        return first, states, labels[predicted], weights / weights.sum()


def differentiate(logits: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the cross-entropy (nats) of each row of logits (n, vocabulary), and its gradient in them, in float32.

    The gradient overwrites the probabilities, where autograd would hold four copies of them. The loss is computed from
    the largest probability, as that of the label may be too small for float32.
    """
    probabilities, at = logits.softmax(-1, dtype=torch.float32), labels[:, None]
    total = logits.amax(-1).float() - probabilities.amax(-1).log()
    losses = total - logits.gather(1, at)[:, 0]
    probabilities.scatter_add_(1, at, probabilities.new_full(at.shape, -1.0))
    return losses, probabilities


def count_predicted(batch: dict[str, torch.Tensor]) -> int:
    """Return how many positions of a batch, or of a part of one, have a label."""
    return int((batch["labels"] != IGNORE).sum())


def count_pairs(batch: dict[str, torch.Tensor]) -> int:
    """Return how many examples of a batch are pairs of segments."""
    return int((batch["is_next"] != IGNORE).sum()) if "is_next" in batch else 0


def weigh(batch: dict[str, torch.Tensor]) -> float:
    """Return the sum of the weights of the predicted positions of a batch: their number where it has no weights."""
    return batch["weights"].sum().item() if "weights" in batch else count_predicted(batch)
