"""How blanks are filled: masked, causal and encoder-decoder models, and the baselines no model wrote."""

from ..blanks import BlankedText, DocumentError, FilledText
from .api import Filled, fill, fill_what_fits
from .baselines import BASELINES, WordCounts
from .causal import fill_causal
from .infill import fill_infill
from .ledger import Ledger
from .masked import fill_masked
from .orders import ORDERS
from .sampling import Sampling
from .seq2seq import fill_seq2seq

__all__ = [
    "BASELINES",
    "ORDERS",
    "BlankedText",
    "DocumentError",
    "Filled",
    "FilledText",
    "Ledger",
    "Sampling",
    "WordCounts",
    "fill",
    "fill_causal",
    "fill_infill",
    "fill_masked",
    "fill_seq2seq",
    "fill_what_fits",
]
