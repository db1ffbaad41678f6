"""The scores as metrics of the library `evaluate`, for `.add_batch`, `.compute` and `evaluate.combine`.

Nothing is downloaded and no text is written to disk: predictions and references stay in memory. `evaluate`
only creates an empty folder, under HF_HOME unless `cache_dir` says otherwise.
"""

import datasets
import evaluate

from ..stats import point
from . import MEASURES, Resources, make_metrics
from .metric import normalise


class Score(evaluate.Metric):
    """A family of scores: texts are normalised, scored per document and aggregated as in the study's tables."""

    names: tuple[str, ...] = ()

    def __init__(self, resources: Resources, cache_dir: str | None = None):
        metrics = make_metrics(resources)
        self.metrics = {name: metrics[name] for name in self.names}
        super().__init__(cache_dir=cache_dir, keep_in_memory=True)

    def _info(self) -> evaluate.MetricInfo:
        texts = {name: datasets.Value("string") for name in ("predictions", "references")}
        return evaluate.MetricInfo(
            description="; ".join(self.names),
            citation="",
            inputs_description="predictions and references: lists of as many texts, one reference each",
            features=datasets.Features(texts),
        )

    def _compute(self, predictions: list[str], references: list[str]) -> dict[str, float]:
        candidates, originals = ([normalise(text) for text in texts] for texts in (predictions, references))
        return {
            name: point(metric.statistics(candidates, originals), MEASURES[name].aggregate)
            for name, metric in self.metrics.items()
        }


class Bleu(Score):
    """BLEU, 0-100."""

    names = ("bleu",)


class Rouge(Score):
    """ROUGE-1, ROUGE-2 and ROUGE-L F1, 0-1, the mean over documents."""

    names = ("rouge1", "rouge2", "rougeL")


class Meteor(Score):
    """METEOR, 0-1, the mean over documents."""

    names = ("meteor",)


class BertScore(Score):
    """BERTScore F1, 0-1, the mean over documents with text on both sides."""

    names = ("bertscore",)


class Distance(Score):
    """Squared MMD (0: one distribution) and the accuracy of a classifier two-sample test (0.5: not told apart)."""

    names = ("mmd", "c2st")
