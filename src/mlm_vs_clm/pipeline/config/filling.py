"""Settings of texts: which words are hidden, how an arm fills them, and how the result is measured."""

from dataclasses import dataclass, field, replace
from typing import Any

from omegaconf import MISSING

from blankfill.ranges import RANGE, count, number
from blankfill.slots.ranges import RANGES

from ...arms.ngrams import ORDERS
from ...arms.settings import AUTO, LATER_AXES
from ...masking import RATIO, name_masking
from ...training.settings import MOST_TOKENS
from .identity import set_settings

LATER_MASKING = ("tags", "types")


@dataclass
class MaskingConfig:
    """Which words may be masked, and the share of them that is.

    `tags` are the parts of speech that part_of_speech masks, `types` those of the entities that entities masks (none: all).
    """

    strategy: str = MISSING
    ratio: float = field(default=MISSING, metadata={RANGE: RATIO})
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
    """Return the field of a number by which an arm fills, with its default, and its range of `blankfill.ranges`."""
    return field(default=default, metadata={RANGE: replace(RANGES[name], **bounds)})


@dataclass
class ArmConfig:
    """A way to fill blanks, along the axes of the study; `objective` is null for a baseline.

    `weight` is the causal share of a product, 0 to 1, or auto: the best on dev documents. `table_order` is the number of
    words in a row of a word table, 0: the best on dev documents. `model`: that of conf/model which the arm fills with, whatever
    the others of its study start from; empty: theirs.
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
    # 0: of an arm that fills blanks one by one.
    max_new_tokens: int = count(0, 0, RANGES["max_new_tokens"].high)
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
    budget: int = count(0, 0, MOST_TOKENS)
    table_order: int = count(0, 0, max(ORDERS))
    model: str = ""

    def to_settings(self) -> dict:
        """Return the settings in the id; see `set_settings`. The weights of `model` are an input, which the id has too."""
        settings = set_settings(self, LATER_AXES)
        return {name: value for name, value in settings.items() if name != "model"}


@dataclass
class LikelihoodConfig:
    """How the likelihood of the originals is measured: of the first `documents` (0: all), `per_pass` tokens a pass.

    Tokens of one pass count as independent; 1 is exact whatever the order, and 0 takes as many as the arm fills at once.
    """

    documents: int = count(0, 0)
    per_pass: int = count(0, 0, RANGES["per_pass"].high)


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
