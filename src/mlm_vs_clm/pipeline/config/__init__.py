"""Every setting of the study: its name, type, default and, of a number, its range. Only the recipes read them.

Hydra composes them and checks their types, `checks.check_numbers` their ranges. Of the numbers by which an arm fills,
the library has the ranges (`blankfill.ranges`), as callers from Python give them too.
"""

from dataclasses import dataclass, field

from hydra.core.config_store import ConfigStore

from blankfill.ranges import LARGEST_SEED, count

from .corpora import CorpusConfig
from .filling import ArmConfig, LikelihoodConfig, MaskingConfig, ScoringConfig
from .models import (
    CHANGED,
    RUNTIME_TRAINING,
    SHAPE,
    FinetuningConfig,
    ModelConfig,
    ObjectiveConfig,
    TrainingConfig,
)
from .studies import CellConfig, GridConfig, PanelConfig, ScaleConfig, TrackConfig

__all__ = [
    "CHANGED",
    "RUNTIME_TRAINING",
    "SHAPE",
    "ArmConfig",
    "CellConfig",
    "Config",
    "GridConfig",
    "LikelihoodConfig",
    "MaskingConfig",
    "ModelConfig",
    "ObjectiveConfig",
    "PanelConfig",
    "ScaleConfig",
    "TrainingConfig",
    "register",
]


@dataclass
class Config:
    """All settings of one job; `second_objective` trains the causal model of an arm that fills with two.

    `label_policy` is that of the labels of entities in generated text: projected, or dropped where all words of an entity were
    hidden.
    """

    scale: ScaleConfig = field(default_factory=ScaleConfig)
    track: TrackConfig = field(default_factory=TrackConfig)
    corpus: CorpusConfig = field(default_factory=CorpusConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    second_objective: ObjectiveConfig | None = None
    masking: MaskingConfig = field(default_factory=MaskingConfig)
    arm: ArmConfig = field(default_factory=ArmConfig)
    scoring: ScoringConfig = field(default_factory=ScoringConfig)
    trained_on: str = "generated"
    label_policy: str = "projected"
    task_model: str = "linear"
    finetuning: FinetuningConfig = field(default_factory=FinetuningConfig)
    likelihood: bool = False
    check: bool = False
    seed: int = count(0, 0, LARGEST_SEED)
    precision: str = "auto"
    store: str = "outputs"
    results: str = "results"
    data_dir: str = "data"
    device: str = "auto"
    workers: int = count(2, 1, 1_000)
    threads: int = count(0, 0, 1_000)


def register() -> None:
    """Register the schema with Hydra as `schema`, the first of the defaults."""
    ConfigStore.instance().store(name="schema", node=Config)
