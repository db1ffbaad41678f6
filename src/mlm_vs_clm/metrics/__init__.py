"""The scores of generated text: MEASURES has all that is known of each, METRICS those that `scoring.metrics` names."""

from .bertscore import note_unknown
from .disclosure import DISCLOSURE
from .diversity import measure_distinct
from .exact_match import EXACT_MATCH, FILL_METRICS, LENGTH_ERROR, LIKELIHOOD, NATS
from .measures import (
    ALONE,
    DESCRIBES,
    MEASURES,
    METRICS,
    Measure,
    Resources,
    find_scope,
    is_lower_better,
    make_metrics,
)
from .metric import Metric, normalise
from .proxies import PROXIES

__all__ = [
    "ALONE",
    "DESCRIBES",
    "DISCLOSURE",
    "EXACT_MATCH",
    "FILL_METRICS",
    "LENGTH_ERROR",
    "LIKELIHOOD",
    "MEASURES",
    "METRICS",
    "NATS",
    "PROXIES",
    "Measure",
    "Metric",
    "Resources",
    "find_scope",
    "is_lower_better",
    "make_metrics",
    "measure_distinct",
    "normalise",
    "note_unknown",
]
