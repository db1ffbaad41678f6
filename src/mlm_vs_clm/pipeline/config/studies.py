"""Settings of a study: its cells, its size, and what its page shows."""

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from blankfill.ranges import LARGEST_SEED, count, number

from ...corpora.splits import SplitSizes
from .filling import LikelihoodConfig, MaskingConfig, axis
from .models import TrainingConfig


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

    Beside them a table of arms has the columns that evidence.variants.join_settings adds. `where` keeps rows by a value
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
    sizes: dict[str, SplitSizes] = field(default_factory=dict)
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
