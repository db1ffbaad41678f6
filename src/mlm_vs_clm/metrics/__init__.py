"""The scores of generated text, and METRICS, the dictionary of those that `scoring.metrics` names."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .bertscore import Encoder, make_bertscore, note_unknown
from .bleu import make_bleu
from .disclosure import DISCLOSURE
from .distance import make_c2st, make_mmd
from .diversity import DIVERSITY, FILL_DIVERSITY, measure_distinct
from .exact_match import EXACT_MATCH, FILL_METRICS, LENGTH_ERROR, LIKELIHOOD, NATS
from .meteor import make_meteor
from .metric import Metric, normalise
from .proxies import ERRORS, PERPLEXITY, PROXIES, make_grammar, make_perplexity
from .rouge import make_rouge

__all__ = [
    "DISCLOSURE",
    "DIVERSITY",
    "EXACT_MATCH",
    "FILL_DIVERSITY",
    "FILL_METRICS",
    "LENGTH_ERROR",
    "LIKELIHOOD",
    "METRICS",
    "NATS",
    "PROXIES",
    "Metric",
    "Resources",
    "make_metrics",
    "measure_distinct",
    "normalise",
    "note_unknown",
]


@dataclass(frozen=True)
class Resources:
    """What the scores read: WordNet's folder (`.../corpora/wordnet`) and models with their names.

    An encoder of texts, a causal language model that no arm starts from, and a grammar tagger, each loaded when first used.
    """

    wordnet: Path
    encoder: str | Path
    encoder_name: str
    layers: int = 5
    precision: str = "bf16"
    device: str = "cpu"
    language_model: Path = Path()
    language_model_name: str = ""
    tagger: Path = Path()
    tagger_name: str = ""

    @cached_property
    def states(self) -> Encoder:
        """The encoder, one for all scores that read it."""
        return Encoder(self.encoder, self.encoder_name, self.layers, self.precision, self.device)


METRICS: dict[str, Callable[[Resources], Metric]] = {
    "bleu": lambda resources: make_bleu(),
    "rouge1": lambda resources: make_rouge("rouge1"),
    "rouge2": lambda resources: make_rouge("rouge2"),
    "rougeL": lambda resources: make_rouge("rougeL"),
    "meteor": lambda resources: make_meteor(resources.wordnet),
    "bertscore": lambda resources: make_bertscore(resources.states),
    "mmd": lambda resources: make_mmd(resources.states),
    "c2st": lambda resources: make_c2st(resources.states),
    PERPLEXITY: lambda r: make_perplexity(r.language_model, r.language_model_name, r.precision, r.device),
    ERRORS: lambda r: make_grammar(r.tagger, r.tagger_name, r.precision, r.device),
}


def make_metrics(resources: Resources) -> dict[str, Metric]:
    """Return every score by name; models and word lists are loaded at the first text, once per process."""
    return {name: make(resources) for name, make in METRICS.items()}
