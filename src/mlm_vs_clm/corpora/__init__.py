"""Corpora: read, cut into windows, freed of repeats, split and described."""

from .building import build
from .card import card_markdown
from .sources import SOURCES, CorpusSource
from .splits import Sizes
from .storage import Corpus, load_problems, load_split, save
from .windows import Cutting

__all__ = [
    "SOURCES",
    "Corpus",
    "CorpusSource",
    "Cutting",
    "Sizes",
    "build",
    "card_markdown",
    "load_problems",
    "load_split",
    "save",
]
