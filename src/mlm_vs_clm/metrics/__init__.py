"""The scores of generated text: MEASURES has all that is known of each, METRICS those that `scoring.metrics` names."""

from .bertscore import note_unknown
from .disclosure import DISCLOSURE
from .diversity import measure_distinct
from .exact_match import EXACT_MATCH, FILL_METRICS, LENGTH_ERROR, LIKELIHOOD, NATS
from .measures import (
    ALONE,
    DESCRIBES,
    ENCODER,
    LANGUAGE_MODEL,
    MEASURES,
    METRICS,
    TAGGER,
    Measure,
    Resources,
    find_scope,
    is_lower_better,
    list_read,
    make_metrics,
)
from .metric import Metric, normalise
from .proxies import PROXIES

__all__ = [
    "ALONE",
    "DESCRIBES",
    "DISCLOSURE",
    "ENCODER",
    "EXACT_MATCH",
    "FILL_METRICS",
    "LANGUAGE_MODEL",
    "LENGTH_ERROR",
    "LIKELIHOOD",
    "MEASURES",
    "METRICS",
    "NATS",
    "PROXIES",
    "TAGGER",
    "Measure",
    "Metric",
    "Resources",
    "find_scope",
    "is_lower_better",
    "list_read",
    "make_metrics",
    "measure_distinct",
    "normalise",
    "note_unknown",
]
