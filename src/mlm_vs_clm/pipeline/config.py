"""Every setting of the study: its name, type and default. Hydra composes them; only the recipes read them."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING

from ..errors import StudyError
from ..fill.axes import LATER_AXES


@dataclass
class SizesConfig:
    """Documents in each split; null: from the corpus, at most `scale.documents` to fill. See corpora.splits.Sizes."""

    generate: int | None = None
    dev: int | None = None
    test: int | None = None
    pretrain_words: int | None = None
    min_drawn_words: int = 1
    per_group: int = 1


@dataclass
class ColumnsConfig:
    """The names of the columns of a user's own table; null: as here."""

    id: str | None = None
    text: str | None = None
    labels: str | None = None
    author: str | None = None
    split: str | None = None


@dataclass
class CorpusConfig:
    """A corpus: its name, its downstream task, and how its documents are cut; `scale.sizes` has their number.

    A user's own corpus has a path, and a reader unless the path implies it; see corpora.readers.
    """

    name: str = MISSING
    task: str = MISSING
    path: str | None = None
    reader: str | None = None
    columns: ColumnsConfig = field(default_factory=ColumnsConfig)
    skip_mistakes: bool = False
    window_words: int = 128
    min_words: int = 20
    gold_entities: bool | None = False
    show_examples: bool = False
    seed: int = 0


@dataclass
class ModelConfig:
    """The initial checkpoint: an encoder with a new output layer, random weights of a shape, or a whole checkpoint.

    `source` is a hub id (at `revision`), a folder, or `package:<name>`; random weights take its shape and its
    tokenizer. `opening` is the token that opens a text where the tokenizer has none for that. `bidirectional` makes
    a masked model of a causal checkpoint. `training` holds what this model changes of `scale.training`, with
    `budget_share` for its share of the token budget.
    """

    name: str = MISSING
    start: str = MISSING
    source: str | None = None
    revision: str | None = None
    opening: str | None = None
    bidirectional: bool = False
    training: dict[str, Any] = field(default_factory=dict)
    shape: dict[str, int] = field(default_factory=dict)
    vocabulary: int | None = None
    corpora: list[str] | None = None
    seed: int = 0


@dataclass
class ObjectiveConfig:
    """What is predicted, and how inputs are corrupted in training."""

    name: str = MISSING
    ratio: float = 0.5
    unit: str = "token"
    mask_share: float = 0.8
    random_share: float = 0.1
    spread: float = 0.0
    left_share: float = 0.0
    mean_span: float | None = None
    permute_sentences: bool = False
    masked_share: float = 0.5
    prefix_share: float = 0.5

    def to_settings(self) -> dict:
        """Return the settings in the id; see `set_settings`."""
        return set_settings(self, LATER_OBJECTIVE)


@dataclass
class MaskingConfig:
    """Which words may be masked, and the share of them that is."""

    strategy: str = MISSING
    ratio: float = MISSING


@dataclass
class ArmConfig:
    """A way to fill blanks, along the axes of the study; `objective` is null for a baseline.

    `weight` is the causal share of a product, 0 to 1, or auto: the best on dev documents.
    """

    name: str = MISSING
    writer: str = MISSING
    objective: str | None = None
    context: str = "none"
    length: str = "none"
    order: str = "none"
    per_pass: int = 1
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    max_new_tokens: int = 0
    passes: int = 0
    threshold: float = 0.0
    entropy_bound: float = 0.0
    sweeps: int = 1
    schedule: str = "equal"
    max_length: int = 4
    candidates: int = 8
    lookahead: int = 16
    weight: Any = 0.5
    source: str = "kept"
    training: str = "domain"
    budget: int = 0

    def to_settings(self) -> dict:
        """Return the settings in the id; see `set_settings`."""
        return set_settings(self, LATER_AXES)


def set_settings(config: Any, later: tuple[str, ...]) -> dict:
    """Return all settings, a `later` one only if it differs from its default: results made before it keep their ids."""
    defaults = {each.name: each.default for each in fields(config)}
    return {k: v for k, v in asdict(config).items() if k not in later or v != defaults[k]}


LATER_OBJECTIVE = ("spread", "left_share", "mean_span", "permute_sentences", "masked_share", "prefix_share")
LATER_TRAINING = ("patience", "unique_tokens", "dropout")
RUNTIME_TRAINING = ("checkpoint_seconds", "micro_batch_documents")


@dataclass
class TrainingConfig:
    """The budget and the optimiser; see models.training.loop.Training. A token budget of 0 follows from `scale.minutes`."""

    token_budget: int = 0
    budgets: int = 5
    batch_documents: int = 4
    body_learning_rate: float = 3e-4
    head_learning_rate: float = 1e-3
    warmup_share: float = 0.04
    decay_share: float = 0.2
    weight_decay: float = 0.01
    max_gradient_norm: float = 1.0
    max_subwords: int = 256
    dev_documents: int = 96
    checkpoint_seconds: float = 45.0
    patience: int = 0
    unique_tokens: int = 0
    dropout: float = 0.0
    micro_batch_documents: int = 0

    def __post_init__(self):
        for name in ("micro_batch_documents", "patience", "unique_tokens"):
            if getattr(self, name) < 0:
                raise StudyError(f"scale.training.{name}={getattr(self, name)}: give 0 (off) or more")
        if not 0 <= self.dropout < 1:
            raise StudyError(f"scale.training.dropout={self.dropout}: give a rate from 0 (off) to below 1")

    def to_settings(self) -> dict:
        """Return the settings in the id: without those that save checkpoints or fit the memory."""
        settings = set_settings(self, LATER_TRAINING)
        return {k: v for k, v in settings.items() if k not in RUNTIME_TRAINING}


@dataclass
class CellConfig(MaskingConfig):
    """More arms at one masking, or without one at every masking of the grid, for every corpus.

    `seeds`: those of these arms, without any every seed of the grid. `train`: whether task models are trained on their
    texts. `vary` has values of settings by Hydra key; every combination of them is an arm of its own (see variants.py).
    """

    strategy: str = ""
    ratio: float = 0.0
    arms: list[str] = MISSING
    seeds: list[int] = field(default_factory=list)
    train: bool = True
    vary: dict[str, list[Any]] = field(default_factory=dict)


@dataclass
class GridConfig:
    """The cells of the study: all combinations of corpora, maskings, arms and seeds, and those of `also`.

    A seed draws other blanks and other words; with `retrain` it also trains other language models, with another new
    output layer and another order of documents. Without, seeds that `also` adds measure the same models on more blanks. The
    main cell is scored by all of `scoring.metrics` (but not at such seeds), other cells by `metrics`, and cells that train no
    task model by exact match and BLEU. `curve` names arms that, with their variants,
    also fill the main cell at every token budget of their training, at the seeds of the grid itself; `likelihood` those of
    which the likelihood of the originals is measured there.
    """

    corpora: list[str] = MISSING
    maskings: list[MaskingConfig] = MISSING
    arms: list[str] = MISSING
    seeds: list[int] = MISSING
    also: list[CellConfig] = field(default_factory=list)
    curve: list[str] = field(default_factory=list)
    likelihood: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=lambda: ["bleu", "rougeL"])
    retrain: bool = False


@dataclass
class PanelConfig:
    """A figure of a study, with its table: `kind` is one of report.panels.KINDS; columns are those of its table.

    Beside them a table of arms has the columns that analysis.variants.join_settings adds. `where` keeps rows by a value
    of a column, or by a list of values (null: rows without one); `line` (of one or several columns, by a space) and
    `facet` split them. A heat map has its second axis in `y`.
    """

    name: str = MISSING
    kind: str = MISSING
    x: str = MISSING
    y: str = "value"
    line: str = ""
    facet: str = ""
    table: str = "scores"
    where: dict[str, Any] = field(default_factory=dict)
    title: str = MISSING
    caption: str = ""


@dataclass
class TrackConfig:
    """The model that each arm or, of arms not named, each objective trains; where neither is named: `model`.

    A study with a question of its own has it with a `title` and its `panels` at the top of its page. `reference` names the
    arm whose fills every other arm's are compared with.
    """

    name: str = MISSING
    models: dict[str, str] = field(default_factory=dict)
    title: str = ""
    question: str = ""
    panels: list[PanelConfig] = field(default_factory=list)
    reference: str = ""


@dataclass
class ScaleConfig:
    """The size of a study; `documents` is the number filled of a corpus whose own file has its `sizes`, and the
    most that is filled of one without.

    `task_seeds` has by task the number of task models, each trained without another tenth of the documents. `main`
    is the masking at which arms are compared; the grid must have it. `minutes` of training, all models together, stand
    for a token budget, which is measured once and kept in the store.
    """

    name: str = MISSING
    sizes: dict[str, SizesConfig] = field(default_factory=dict)
    documents: int = 150
    window_words: int = 128
    per_pass: int = 1
    max_new_tokens: int = 256
    minutes: float = 0.0
    training: TrainingConfig = field(default_factory=TrainingConfig)
    task_seeds: dict[str, int] = field(default_factory=dict)
    resamples: int = 1000
    grid: GridConfig = field(default_factory=GridConfig)
    main: MaskingConfig = field(default_factory=lambda: MaskingConfig("random", 0.5))


@dataclass
class ScoringConfig:
    """The metrics, and the models that they read, which no arm may start from: a package member, a folder or a hub id.

    `encoder`: of BERTScore and of distances, its layer `layer`. `language_model`: a causal one, of perplexity_unrelated.
    """

    metrics: list[str] = field(
        default_factory=lambda: ["bleu", "rouge1", "rouge2", "rougeL", "meteor", "bertscore"]
    )
    encoder: str = MISSING
    layer: int = MISSING
    language_model: str = MISSING
    bound: float = 0.5


@dataclass
class Config:
    """All settings of one job; `second_objective` trains the causal model of an arm that fills with two."""

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
    likelihood: bool = False
    check: bool = False
    seed: int = 0
    precision: str = "auto"
    store: str = "outputs"
    results: str = "results"
    data_dir: str = "data"
    device: str = "auto"
    workers: int = 2
    threads: int = 0


def register() -> None:
    """Register the schema with Hydra as `schema`, the first of the defaults."""
    ConfigStore.instance().store(name="schema", node=Config)
