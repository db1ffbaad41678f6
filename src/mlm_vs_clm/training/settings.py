"""The settings of a training, and the texts that it reads."""

from dataclasses import dataclass, field

from .noise import TokenizedDocument


@dataclass(frozen=True)
class Training:
    """The budget and the optimiser; `token_budget` counts the tokens of the documents seen, padding excluded.

    `budgets` is the number of budgets at which a model is kept, each half of the next. The learning rate warms up over
    `warmup_share` of the whole budget and falls over the last `decay_share` of each. `patience` stops after so many
    budgets that lowered the dev loss of no corpus; 0 never stops. At most `unique_tokens` of each corpus are read, again and
    again (0: all). `dropout` is the rate of every dropout layer in training. `micro_batch_documents` go through the model at once
    (0: a whole batch): less memory for the same step. `seed` draws the order of the documents and what is masked.
    """

    token_budget: int
    budgets: int
    batch_documents: int
    body_learning_rate: float
    head_learning_rate: float
    warmup_share: float
    decay_share: float
    weight_decay: float
    max_gradient_norm: float
    max_subwords: int
    dev_documents: int
    checkpoint_seconds: float
    precision: str
    patience: int = 0
    unique_tokens: int = 0
    dropout: float = 0.0
    micro_batch_documents: int = 0
    seed: int = 0
    device: str = "cpu"


@dataclass(frozen=True)
class TrainingTexts:
    """The tokenized documents of each corpus: those to learn from, and those that the dev loss is measured on.

    `pairs` are held-out documents whose segments an objective that reads pairs is asked about (none: not asked).
    """

    learned: dict[str, list[TokenizedDocument]]
    dev: dict[str, list[TokenizedDocument]]
    pairs: dict[str, list[TokenizedDocument]] = field(default_factory=dict)
