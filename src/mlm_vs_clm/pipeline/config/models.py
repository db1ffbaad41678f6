"""Settings of models: where they start, their objective, and how they are trained and fine-tuned."""

from dataclasses import dataclass, field, fields
from typing import Any

from omegaconf import MISSING

from blankfill.ranges import LARGEST_SEED, RANGE, Range, count, number

from ...training.noise import OWN, Noise
from ...training.settings import Finetuning, TrainingSettings
from .identity import set_settings

LATER_TRAINING = ("patience", "unique_tokens", "dropout", "canaries", "canary_copies")
RUNTIME_TRAINING = ("checkpoint_seconds", "micro_batch_documents")


@dataclass
class TrainingConfig(TrainingSettings):
    """The settings of a training in a scale; see training.settings.TrainingSettings."""

    def to_settings(self) -> dict:
        """Return the settings in the id: without those that save checkpoints or fit the memory."""
        settings = set_settings(self, LATER_TRAINING)
        return {k: v for k, v in settings.items() if k not in RUNTIME_TRAINING}


# Of what a model changes of `scale.training`, and of the shape of a new one.
CHANGED = {setting.name: setting.metadata[RANGE] for setting in fields(TrainingConfig)} | {
    "budget_share": Range(0, 100, above=True)
}
SHAPE = {
    "layers": Range(1, 200, whole=True),
    "width": Range(1, 20_000, whole=True),
    "heads": Range(1, 1_000, whole=True),
    "positions": Range(8, 1_000_000, whole=True),
}


@dataclass
class ModelConfig:
    """The initial checkpoint: an encoder with a new output layer, random weights of a shape, or a whole checkpoint.

    `source` is a hub id (at `revision`), a folder, or `package:<name>`; random weights take its shape and its tokenizer.
    `opening` is the token that opens a text where the tokenizer has none for that. `bidirectional` makes a masked model of a
    causal checkpoint. Of an encoder the lower `layers` are taken, 0: all. `training` holds what this model changes of
    `scale.training`, with `budget_share` for its share of the token budget (2: twice as many).
    """

    name: str = MISSING
    start: str = MISSING
    source: str | None = None
    revision: str | None = None
    opening: str | None = None
    bidirectional: bool = False
    layers: int = count(0, 0, 200)
    training: dict[str, Any] = field(default_factory=dict, metadata={RANGE: CHANGED})
    shape: dict[str, int] = field(default_factory=dict, metadata={RANGE: SHAPE})
    vocabulary: int | None = count(None, 6, 1_000_000)  # five special tokens, and one to write with
    corpora: list[str] | None = None
    seed: int = count(0, 0, LARGEST_SEED)


@dataclass
class ObjectiveConfig(Noise):
    """What is predicted, and how inputs are corrupted in training; see training.noise.Noise."""

    name: str = MISSING
    # None: not set, so that a length without effect is refused.
    mean_span: float | None = number(None, 1, 10_000)  # type: ignore[assignment]

    def to_settings(self) -> dict:
        """Return the settings in the id; see `set_settings`."""
        return set_settings(self, OWN)


@dataclass
class FinetuningConfig(Finetuning):
    """A network as task model, of `task_model=finetuned`; see training.settings.Finetuning.

    `network`: a package member, a folder or a hub id, which no arm starts from; or, with real text, `start` or `trained`:
    what the model of the job starts from, and what it became by its objective. `words` cuts every document (0: none is cut).
    `examples` real documents are drawn by the seed (0: those that are generated from, less a tenth), and at most
    `test_documents` are asked (0: all).
    """

    network: str = "package:minilm"
    words: int = count(0, 0)
    examples: int = count(0, 0)
    test_documents: int = count(0, 0)
