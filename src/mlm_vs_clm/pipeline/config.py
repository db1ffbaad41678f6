"""Every setting of the study: its name, type, default and, of a number, its range. Only the recipes read them.

Hydra composes them and checks their types, `checks.check_numbers` their ranges. Of the numbers by which an arm fills,
the library has the ranges (`fill.ranges`), as callers from Python give them too.
"""

from dataclasses import MISSING as REQUIRED
from dataclasses import Field, asdict, dataclass, field, fields, replace
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING

from blankfill.ranges import LARGEST_SEED, RANGE, Range, count, number
from blankfill.slots.ranges import MOST_TOKENS, RANGES

from ..arms.ngrams import ORDERS
from ..arms.settings import AUTO, LATER_AXES
from ..masking import name_masking


@dataclass
class SizesConfig:
    """Documents in each split; null: from the corpus, at most `scale.documents` to fill. See corpora.splits.Sizes."""

    generate: int | None = count(None, 1)
    dev: int | None = count(None, 1)
    test: int | None = count(None, 1)
    pretrain_words: int | None = count(None, 1)
    min_drawn_words: int = count(1, 1)
    per_group: int = count(1, 1)


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
    window_words: int = count(128, 1)
    min_words: int = count(20, 1)
    gold_entities: bool | None = False
    show_examples: bool = False
    seed: int = count(0, 0, LARGEST_SEED)


def set_settings(config: Any, later: tuple[str, ...]) -> dict:
    """Return all settings, a `later` one only if it differs from its default: results made before it keep their ids."""
    defaults = {setting.name: _default_of(setting) for setting in fields(config)}
    return {k: v for k, v in asdict(config).items() if k not in later or v != defaults[k]}


def _default_of(setting: Field) -> Any:
    return setting.default if setting.default_factory is REQUIRED else setting.default_factory()


LATER_OBJECTIVE = (
    *(
        "spread",
        "left_share",
        "mean_span",
        "permute_sentences",
        "masked_share",
        "schedule",
        "prefix_share",
        "noise_ratio",
    ),
)
LATER_MASKING = ("tags", "types")
LATER_TRAINING = ("patience", "unique_tokens", "dropout")
RUNTIME_TRAINING = ("checkpoint_seconds", "micro_batch_documents")


@dataclass
class TrainingConfig:
    """The budget and the optimiser; see models.training.loop.Training. A token budget of 0 follows from `scale.minutes`."""

    token_budget: int = count(0, 0, MOST_TOKENS)
    budgets: int = count(5, 1, 30)
    batch_documents: int = count(4, 1)
    body_learning_rate: float = number(3e-4, 0)
    head_learning_rate: float = number(1e-3, 0)
    warmup_share: float = number(0.04, 0, 1)
    decay_share: float = number(0.2, 0, 1)
    weight_decay: float = number(0.01, 0)
    max_gradient_norm: float = number(1.0, 0, above=True)
    max_subwords: int = count(256, 8)
    dev_documents: int = count(96, 1)
    checkpoint_seconds: float = number(45.0, 0)
    patience: int = count(0, 0)
    unique_tokens: int = count(0, 0)
    dropout: float = number(0.0, 0, 1, below=True)
    micro_batch_documents: int = count(0, 0)

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
class ObjectiveConfig:
    """What is predicted, and how inputs are corrupted in training."""

    name: str = MISSING
    ratio: float = number(0.5, 0, 1)
    unit: str = "token"
    mask_share: float = number(0.8, 0, 1)
    random_share: float = number(0.1, 0, 1)
    spread: float = number(0.0, 0, 0.5)
    left_share: float = number(0.0, 0, 1)
    mean_span: float | None = number(None, 1, 10_000)
    permute_sentences: bool = False
    masked_share: float = number(0.5, 0, 1)
    schedule: str = "batches"
    prefix_share: float = number(0.5, 0, 1)
    noise_ratio: float = number(0.5, 0, 1)

    def to_settings(self) -> dict:
        """Return the settings in the id; see `set_settings`."""
        return set_settings(self, LATER_OBJECTIVE)


@dataclass
class MaskingConfig:
    """Which words may be masked, and the share of them that is.

    `tags` are the parts of speech that part_of_speech masks, `types` those of the entities that entities masks (none: all).
    """

    strategy: str = MISSING
    ratio: float = number(MISSING, 0, 1, above=True)
    tags: list[str] = field(default_factory=list, kw_only=True)
    types: list[str] = field(default_factory=list, kw_only=True)

    @property
    def label(self) -> str:
        """Return the name of the masking in tables."""
        return name_masking(self.strategy, self.tags, self.types)

    def to_settings(self) -> dict:
        """Return the settings in the id, whatever the order of tags and types; see `set_settings`."""
        chosen = {"tags": sorted({*self.tags}), "types": sorted({*self.types})}
        masking = MaskingConfig(self.strategy, self.ratio, **chosen)
        return set_settings(masking, LATER_MASKING)


def axis(default: Any, name: str, **bounds: Any) -> Any:
    """Return the field of a number by which an arm fills, with its default, and its range of `fill.ranges`."""
    return field(default=default, metadata={RANGE: replace(RANGES[name], **bounds)})


@dataclass
class ArmConfig:
    """A way to fill blanks, along the axes of the study; `objective` is null for a baseline.

    `weight` is the causal share of a product, 0 to 1, or auto: the best on dev documents. `table_order` is the number of
    words in a row of a word table, 0: the best on dev documents.
    """

    name: str = MISSING
    writer: str = MISSING
    objective: str | None = None
    context: str = "none"
    length: str = "none"
    order: str = "none"
    per_pass: int = axis(1, "per_pass")
    temperature: float = axis(0.0, "temperature")
    top_k: int = axis(0, "top_k")
    top_p: float = axis(1.0, "top_p")
    max_new_tokens: int = count(
        0, 0, RANGES["max_new_tokens"].high
    )  # 0: of an arm that fills blanks one by one
    passes: int = axis(0, "passes")
    threshold: float = axis(0.0, "threshold")
    entropy_bound: float = axis(0.0, "entropy_bound")
    sweeps: int = axis(1, "sweeps")
    schedule: str = "equal"
    max_length: int = axis(4, "max_length")
    right_words: int = axis(-1, "right_words")
    candidates: int = axis(8, "candidates")
    lookahead: int = axis(16, "lookahead")
    weight: Any = axis(0.5, "weight", also=(AUTO,))
    source: str = "kept"
    training: str = "domain"
    budget: int = axis(0, "budget")
    table_order: int = count(0, 0, max(ORDERS))

    def to_settings(self) -> dict:
        """Return the settings in the id; see `set_settings`."""
        return set_settings(self, LATER_AXES)


@dataclass
class FinetuningConfig:
    """A network as task model, of `task_model=finetuned`; see training.finetuning.Finetuning.

    `network`: a package member, a folder or a hub id, which no arm starts from; or, with real text, `start` or `trained`:
    what the model of the job starts from, and what it became by its objective. `words` cuts every document (0: none is cut).
    `examples` real documents are drawn by the seed (0: those that are generated from, less a tenth), and at most
    `test_documents` are asked (0: all).
    """

    network: str = "package:minilm"
    sides: str = "own"
    pooling: str = "own"
    learning_rate: float = number(1e-4, 0)
    steps: int = count(60, 1)
    batch_examples: int = count(8, 1)
    upper_layers: int = count(0, 0, 200)
    max_subwords: int = count(256, 8)
    words: int = count(0, 0)
    examples: int = count(0, 0)
    test_documents: int = count(0, 0)


@dataclass
class NetworkCellConfig:
    """Networks that are fine-tuned on a task of a corpus with real text: each of `networks` at each number of `examples`.

    A network is `start`, or the objective of the one that is trained. `sides`, `words` and `steps` are those of `finetuning`
    (`steps` 0: as there).
    """

    corpus: str = MISSING
    task: str = MISSING
    networks: list[str] = MISSING
    examples: list[int] = count(MISSING, 1)
    sides: str = "own"
    words: int = count(0, 0)
    steps: int = count(0, 0)


@dataclass
class CellConfig(MaskingConfig):
    """More arms at one masking, or without one at every masking of the grid, for every corpus or for those of `corpora`.

    `seeds`: those of these arms, without any every seed of the grid. `train`: whether task models are trained on their
    texts. `vary` has values of settings by Hydra key; every combination of them is an arm of its own (see variants.py).
    """

    strategy: str = ""
    ratio: float = number(0.0, 0, 1)  # above 0 beside a strategy
    arms: list[str] = MISSING
    seeds: list[int] = count(list, 0, LARGEST_SEED)
    corpora: list[str] = field(default_factory=list)
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
    which the likelihood of the originals is measured there. `disclosure` names arms of which it is measured in every cell what
    their texts, and at the main cell their models, give away. `networks` are fine-tuned as task models, beside all that.
    """

    corpora: list[str] = MISSING
    maskings: list[MaskingConfig] = MISSING
    arms: list[str] = MISSING
    seeds: list[int] = count(MISSING, 0, LARGEST_SEED)
    also: list[CellConfig] = field(default_factory=list)
    curve: list[str] = field(default_factory=list)
    likelihood: list[str] = field(default_factory=list)
    disclosure: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=lambda: ["bleu", "rougeL"])
    retrain: bool = False
    networks: list[NetworkCellConfig] = field(default_factory=list)


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
    arm whose fills every other arm's are compared with. `starts_from` says in words what the models of both sides were before
    training: a study that has it is told beside the others that answer the claims.
    """

    name: str = MISSING
    models: dict[str, str] = field(default_factory=dict)
    title: str = ""
    question: str = ""
    starts_from: str = ""
    panels: list[PanelConfig] = field(default_factory=list)
    reference: str = ""


@dataclass
class LikelihoodConfig:
    """How the likelihood of the originals is measured: of the first `documents` (0: all), `per_pass` tokens a pass.

    Tokens of one pass count as independent; 1 is exact whatever the order, and 0 takes as many as the arm fills at once.
    """

    documents: int = count(0, 0)
    per_pass: int = count(0, 0, RANGES["per_pass"].high)


# With fewer than 20, no draw lies outside a 95 % interval; with 10,000, its ends vary by a hundredth of its width, and
# more would fill the memory.
RESAMPLES = (20, 10_000)


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
    documents: int = count(150, 1)
    window_words: int = count(128, 1)
    per_pass: int = axis(1, "per_pass")
    max_new_tokens: int = axis(256, "max_new_tokens")
    minutes: float = number(0.0, 0, 100_000)  # two months
    training: TrainingConfig = field(default_factory=TrainingConfig)
    task_seeds: dict[str, int] = count(dict, 1, 1_000)
    resamples: int = count(1000, *RESAMPLES)
    grid: GridConfig = field(default_factory=GridConfig)
    main: MaskingConfig = field(default_factory=lambda: MaskingConfig("random", 0.5))
    likelihood: LikelihoodConfig = field(default_factory=LikelihoodConfig)


@dataclass
class ScoringConfig:
    """The metrics, and the models that they read, which no arm may start from: a package member, a folder or a hub id.

    `encoder`: of BERTScore and of distances, its layer `layer`. `language_model`: a causal one, of perplexity_unrelated.
    """

    metrics: list[str] = field(
        default_factory=lambda: ["bleu", "rouge1", "rouge2", "rougeL", "meteor", "bertscore"]
    )
    encoder: str = MISSING
    layer: int = count(MISSING, 1, 1_000)
    language_model: str = MISSING
    bound: float = number(0.5, 0, 1)


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
