"""MEASURES: every measure of text with all that is known of it, one entry each, in the order in which they are told.

A measure that texts are scored by has `make`: that of METRICS where `scoring.metrics` names it, that of ALONE always. Of the
others the report, or the filling itself, counts the sums.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from ..documents import WORD_CLASSES
from ..stats import Aggregate, ratio_of_sums
from .bertscore import Encoder, make_bertscore
from .bleu import make_bleu, score_counts
from .disclosure import (
    CANARY_LOSS,
    CANARY_TEXT,
    COPIED,
    MEMBERSHIP,
    NAMES,
    subtract_control,
    subtract_share,
)
from .distance import make_c2st, make_mmd
from .diversity import make_distinct, make_longest_repeat, make_repetition
from .exact_match import NATS
from .meteor import make_meteor
from .metric import Metric
from .proxies import ERRORS, NONWORDS, PERPLEXITY, make_grammar, make_perplexity
from .rouge import make_rouge

HIGHER, LOWER, DESCRIBES = "higher", "lower", "describes"  # which end is the better one; no end is
ORDERS = range(1, 5)  # of n-grams
ENCODER, LANGUAGE_MODEL, TAGGER = "encoder", "language_model", "tagger"  # of Resources
Sums = Mapping[str, tuple[str, ...]]


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


@dataclass(frozen=True)
class Measure:
    """What is known of a measure, wherever it is counted, compared or told.

    title: its name for people. sums: by scope the columns of the frame `documents` that it is a function of; of one column
    it is the mean. better: HIGHER, LOWER or DESCRIBES. unit: beside an axis; "" where the title has it. decimals: of a value
    and of a difference. tolerance: how far a number made on another machine may lie away. aggregate: from sums to
    the measure. lowest, highest: the least and the most that it can be. make: the function that scores texts. reads: the model
    of Resources that it reads. is_alone: it reads no reference, and every cell is scored by it, at all scopes of `sums`. pairs:
    its rows are pairs of texts that no author joins, and not the documents of the cell.
    """

    title: str
    sums: Sums
    better: str = HIGHER
    unit: str = "0–1"
    decimals: int = 3
    tolerance: float = 0.01
    aggregate: Aggregate = field(default=ratio_of_sums, repr=False)
    lowest: float = 0.0
    highest: float = 1.0
    make: Callable[[Resources], Metric] | None = field(default=None, repr=False)
    reads: str = ""
    is_alone: bool = False
    pairs: bool = False


def _share(title: str, above: str, below: str, better: str = HIGHER, unit: str = "0–1") -> Measure:
    return Measure(title, {"fills": (above, below)}, better, unit)


def _mean(title: str, name: str, make: Callable[[Resources], Metric], reads: str = "") -> Measure:
    return Measure(title, {"document": (name,)}, make=make, reads=reads)


def _auc(title: str, name: str) -> Measure:
    return Measure(f"{title} (AUC)", {"document": (name,)}, LOWER, "", pairs=True)


def _distinct(n: int, **scopes: tuple[str, ...]) -> Measure:
    sums = {"document": (f"distinct{n}",)} | scopes
    return Measure(f"distinct-{n}", sums, DESCRIBES, make=lambda resources: make_distinct(n), is_alone=True)


BLEU_SUMS = (
    "tokens",
    "original_tokens",
    *(f"matched_{n}" for n in ORDERS),
    *(f"ngrams_{n}" for n in ORDERS),
)
CLASSES = {"content": "content words", "stopword": "stopwords", "punctuation": "punctuation"}
MEASURES: dict[str, Measure] = {
    "exact_match": _share("exact match", "exact", "blanks", unit="share"),
    **{
        f"exact_match_{name}": _share(f"exact match, {CLASSES[name]}", f"exact_{name}", f"blanks_{name}")
        for name in WORD_CLASSES
    },
    **{
        f"share_{name}": _share(f"share of blanks: {CLASSES[name]}", f"hidden_{name}", "blanks", DESCRIBES)
        for name in WORD_CLASSES
    },
    NATS: Measure(
        "nats per character (lower is better)", {"fills": ("nats", "characters")}, LOWER, "", highest=np.inf
    ),
    "bleu": Measure(
        *("BLEU", {"document": BLEU_SUMS}, HIGHER, "0–100", 1, 0.5, score_counts, 0.0, 100.0),
        make=lambda resources: make_bleu(),
    ),
    "rouge1": _mean("ROUGE-1", "rouge1", lambda resources: make_rouge("rouge1")),
    "rouge2": _mean("ROUGE-2", "rouge2", lambda resources: make_rouge("rouge2")),
    "rougeL": _mean("ROUGE-L", "rougeL", lambda resources: make_rouge("rougeL")),
    "meteor": _mean("METEOR", "meteor", lambda resources: make_meteor(resources.wordnet)),
    "bertscore": _mean("BERTScore", "bertscore", lambda resources: make_bertscore(resources.states), ENCODER),
    "mmd": Measure(
        *("squared MMD (lower is better)", {"document": ("mmd",)}, LOWER, ""),
        lowest=-np.inf,
        highest=np.inf,
        make=lambda resources: make_mmd(resources.states),
        reads=ENCODER,
    ),
    "c2st": Measure(
        *("C2ST accuracy (0.5 is best)", {"document": ("recognised", "texts")}, LOWER, ""),
        make=lambda resources: make_c2st(resources.states),
        reads=ENCODER,
    ),
    NONWORDS: _share("non-words (share of filled words)", "nonwords", "filled_words", LOWER, ""),
    PERPLEXITY: Measure(
        *("perplexity per word (unrelated model)", {"document": ("unrelated_nats", "words")}, LOWER, "", 1),
        aggregate=lambda sums: np.exp(ratio_of_sums(sums)),
        highest=np.inf,
        make=lambda r: make_perplexity(r.language_model, r.language_model_name, r.precision, r.device),
        reads=LANGUAGE_MODEL,
    ),
    ERRORS: Measure(
        *("words with a mistake (share, by a tagger)", {"document": ("mistakes", "words")}, LOWER, ""),
        make=lambda r: make_grammar(r.tagger, r.tagger_name, r.precision, r.device),
        reads=TAGGER,
    ),
    "agreement": _share("share of blanks filled as by the reference", "agreed", "blanks", DESCRIBES),
    "length_error": Measure(
        "length error (characters per blank, lower is better)",
        {"fills": ("characters_off", "blanks")},
        LOWER,
        "",
        highest=np.inf,
    ),
    COPIED: Measure(
        "runs copied beyond the control (share, lower is better)",
        {"document": ("trigrams_read", "trigrams_held_out", "trigrams")},
        *(LOWER, ""),
        aggregate=subtract_control,
        lowest=-1.0,
    ),
    NAMES: Measure(
        "masked names that come back beyond the control (share, lower is better)",
        {"fills": ("names_own", "names", "names_other", "control_names")},
        *(LOWER, ""),
        aggregate=subtract_share,
        lowest=-1.0,
    ),
    MEMBERSHIP: _auc("membership by the loss", MEMBERSHIP),
    CANARY_LOSS: _auc("canaries by the loss", CANARY_LOSS),
    CANARY_TEXT: _auc("canaries by the text", CANARY_TEXT),
    "distinct1": _distinct(1, fills=("distinct1_of_fills",)),
    "distinct2": _distinct(2),
    "distinct3": _distinct(3),
    "repetition": Measure(
        "repetition (share)",
        {"fills": ("repeated_of_fills", "fourgrams_of_fills"), "document": ("repeated", "fourgrams")},
        *(LOWER, ""),
        make=lambda resources: make_repetition(),
        is_alone=True,
    ),
    "longest_repeat": Measure(
        *("longest repeat (words)", {"document": ("longest_repeat",)}, LOWER, "", 1, 0.5),
        highest=np.inf,
        make=lambda resources: make_longest_repeat(),
        is_alone=True,
    ),
}
METRICS: dict[str, Callable[[Resources], Metric]] = {
    name: measure.make for name, measure in MEASURES.items() if measure.make and not measure.is_alone
}
ALONE = tuple(name for name, measure in MEASURES.items() if measure.is_alone)


def make_metrics(resources: Resources) -> dict[str, Metric]:
    """Return every score of METRICS and ALONE by name; models and word lists are loaded at the first text, once per process."""
    return {name: measure.make(resources) for name, measure in MEASURES.items() if measure.make}


def list_read(metrics: Iterable[str]) -> set[str]:
    """Return the models of Resources that metrics read."""
    return {MEASURES[name].reads for name in metrics} - {""}


def find_scope(metric: str) -> str:
    """Return the scope by which a measure is told where only one is: the whole text where it has that."""
    return "document" if "document" in MEASURES[metric].sums else "fills"


def is_lower_better(metric: str) -> bool:
    """Return whether less of a measure is better; False for an unknown one."""
    return metric in MEASURES and MEASURES[metric].better == LOWER
