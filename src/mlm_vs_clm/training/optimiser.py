"""What is learned at which rate, and the dropout of a training."""

from torch import nn
from transformers import PreTrainedModel

from blankfill.networks.sizes import head_parameters

from ..errors import StudyError
from .loss import PredictedLoss
from .settings import Training


def set_dropout(model: PreTrainedModel, training: Training) -> None:
    """Set the rate of every dropout layer; it is stored nowhere, and evaluation has none.

    Raises StudyError for micro-batches, which would draw otherwise than whole batches do, and for a network without such
    layers, whose dropout is a number of its code (Llama, BART).
    """
    if training.dropout and training.micro_batch_documents:
        raise StudyError(
            "scale.training.micro_batch_documents changes what dropout draws: set it or scale.training.dropout to 0"
        )
    layers = [module for module in model.modules() if isinstance(module, nn.Dropout)]
    if training.dropout and not layers:
        raise StudyError(
            f"scale.training.dropout={training.dropout:g} changes nothing, as {model.config.model_type} has no dropout layers: "
            "set it to 0"
        )
    for layer in layers:
        layer.p = training.dropout


def group_parameters(learner: PredictedLoss, training: Training) -> list[dict]:
    """Return the body's and the heads' parameters, with their learning rates."""
    head, named = set(head_parameters(learner.model)), dict(learner.model.named_parameters())
    judge = [] if learner.judge is None else [*learner.judge.parameters()]
    heads = [p for name, p in named.items() if name in head] + judge
    return [
        {"params": [p for name, p in named.items() if name not in head], "lr": training.body_learning_rate},
        {"params": heads, "lr": training.head_learning_rate},
    ]
