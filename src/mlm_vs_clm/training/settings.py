"""The settings of trainings with their ranges, each written once, and the texts that a training reads."""

from dataclasses import dataclass, field

from blankfill.ranges import count, number

from .noise import TokenizedDocument

OWN, BOTH = "own", "both"
MOST_TOKENS = 10**9  # of a training: the order of its documents has to fit into memory


@dataclass
class TrainingSettings:
    """The budget and the optimiser; `token_budget` counts the tokens of the documents seen, padding excluded.

    A token budget of 0 follows from `scale.minutes`. `budgets` is the number of budgets at which a model is kept, each half of
    the next. The learning rate warms up over `warmup_share` of the whole budget and falls over the last `decay_share` of each.
    `patience` stops after so many budgets that lowered the dev loss of no corpus; 0 never stops. At most `unique_tokens` of
    each corpus are read, again and again (0: all). `dropout` is the rate of every dropout layer in training.
    `micro_batch_documents` go through the model at once (0: a whole batch): less memory for the same step. Each corpus has
    `canaries` planted, `canary_copies` of each; see training.canaries.
    """

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
    checkpoint_seconds: float = number(90.0, 0)
    patience: int = count(0, 0)
    unique_tokens: int = count(0, 0)
    dropout: float = number(0.0, 0, 1, below=True)
    canaries: int = count(0, 0, 100_000)
    canary_copies: int = count(4, 1, 1_000)
    micro_batch_documents: int = count(0, 0)


@dataclass
class Training(TrainingSettings):
    """A training on a device; `seed` draws the order of the documents and what is masked."""

    precision: str = "fp32"
    seed: int = 0
    device: str = "cpu"


@dataclass
class Finetuning:
    """How a network is fine-tuned: AdamW for `steps` batches of `batch_examples`, whatever the number of examples.

    The rate of the body rises to `learning_rate` and falls to zero; that of the head is fixed. `upper_layers` of the body are
    trained (0: all), embeddings never, as few examples hold few of the tokens. `sides`: OWN, as the network was trained, or
    BOTH, which opens the right side to a causal one. `pooling` is OWN or a key of finetuning.POOL. Texts are cut at
    `max_subwords` tokens, beside those that open and close the texts of a causal network.
    """

    sides: str = OWN
    pooling: str = OWN
    learning_rate: float = number(1e-4, 0)
    steps: int = count(60, 1)
    batch_examples: int = count(8, 1)
    upper_layers: int = count(0, 0, 200)
    max_subwords: int = count(256, 8)


@dataclass(frozen=True)
class TrainingTexts:
    """The tokenized documents of each corpus: those to learn from, and those that the dev loss is measured on.

    `pairs` are held-out documents whose segments an objective that reads pairs is asked about (none: not asked).
    """

    learned: dict[str, list[TokenizedDocument]]
    dev: dict[str, list[TokenizedDocument]]
    pairs: dict[str, list[TokenizedDocument]] = field(default_factory=dict)
