"""Corpora: read, cut into windows, freed of repeats, split and described."""

from mlm_vs_clm.corpora.building import build
from mlm_vs_clm.corpora.card import card_markdown
from mlm_vs_clm.corpora.formats import READERS
from mlm_vs_clm.corpora.sources import LICENSED, SOURCES, Source
from mlm_vs_clm.corpora.splits import Sizes
from mlm_vs_clm.corpora.storage import Corpus, load_problems, load_split, save

__all__ = [
    "LICENSED",
    "READERS",
    "SOURCES",
    "Corpus",
    "Sizes",
    "Source",
    "build",
    "card_markdown",
    "load_problems",
    "load_split",
    "save",
]
