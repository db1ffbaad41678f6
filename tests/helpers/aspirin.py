"""One document with entities, and what it becomes when some of its words are filled."""

from blankfill.text import BlankedText, assemble_text, find_words
from mlm_vs_clm.documents import Document, Entity

TEXT = "Aspirin reduced high fever\nin naïve 🐀 rats."
DOCUMENT = Document(
    "d/1", TEXT, entities=(Entity(0, 7, "Chemical"), Entity(16, 26, "Disease"), Entity(16, 29, "Other Kind"))
)
WORDS = find_words(TEXT)


def fill(fills):
    """Fill the words Aspirin, high and fever."""
    return assemble_text(BlankedText("d/1", TEXT, WORDS, [0, 2, 3]), fills)
