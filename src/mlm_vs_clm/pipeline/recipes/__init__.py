"""What each result is made from: settings in, recipes out. The one place where stages are connected."""

from .corpora import check_corpus, corpus
from .reports import correlate, report
from .scores import disclosure, score
from .tasks import CONTROLS, FINETUNED, OF_TEST, START, TRAINED, UNDERSTANDING, downstream
from .texts import corrupt, generate, has_gold_entities, models
from .trainings import UNIT_TOKENS, budget, budgets_of, pretrain, start
from .versions import VERSIONS

__all__ = [
    "CONTROLS",
    "FINETUNED",
    "OF_TEST",
    "START",
    "TRAINED",
    "UNDERSTANDING",
    "UNIT_TOKENS",
    "VERSIONS",
    "budget",
    "budgets_of",
    "check_corpus",
    "correlate",
    "corpus",
    "corrupt",
    "disclosure",
    "downstream",
    "generate",
    "has_gold_entities",
    "models",
    "pretrain",
    "report",
    "score",
    "start",
]
