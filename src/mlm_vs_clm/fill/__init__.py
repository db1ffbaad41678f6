"""How blanks are filled: masked, causal and encoder-decoder models, and the baselines no model wrote."""

from .baselines import BASELINES, WordCounts
from .blanks import BlankedText, FilledText
from .causal import fill_causal
from .ledger import Ledger
from .masked import fill_masked
from .orders import ORDERS
from .sampling import Sampling
from .seq2seq import fill_seq2seq

__all__ = [
    "BASELINES",
    "ORDERS",
    "BlankedText",
    "FilledText",
    "Ledger",
    "Sampling",
    "WordCounts",
    "fill_causal",
    "fill_masked",
    "fill_seq2seq",
]
