"""What is learned at which rate, and the dropout of a training."""

from torch import nn
from transformers import PreTrainedModel

from blankfill.networks.sizes import head_parameters

from ..errors import StudyError
from .loss import PredictedLoss
from .settings import Training


def set_dropout(model: PreTrainedModel, training: Training) -> None:
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


def group_parameters(learner: PredictedLoss, training: Training) -> list[dict]:
    """Return the body's and the heads' parameters, with their learning rates."""
    head, named = set(head_parameters(learner.model)), dict(learner.model.named_parameters())
    judge = [] if learner.judge is None else [*learner.judge.parameters()]
    heads = [p for name, p in named.items() if name in head] + judge
    return [
        {"params": [p for name, p in named.items() if name not in head], "lr": training.body_learning_rate},
        {"params": heads, "lr": training.head_learning_rate},
    ]
