"""A stored model, and texts with blanks that every way of filling has to get through."""

import pytest
from tiny_models import blank

from blankfill.draws import keyed_rng
from blankfill.text import find_words
from mlm_vs_clm.documents import Document
from mlm_vs_clm.masking import mask_words


@pytest.fixture(scope="session")
def folder(start, tokenizer, tmp_path_factory):
    """The folder of a masked model with its tokenizer; not to be changed."""
    place = tmp_path_factory.mktemp("model")
    start.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def blanked(texts):
    """Random halves, no blanks, all blanks, neighbours, odd characters and odd spaces."""
    halves = [mask_words(Document(f"t{i}", t), "random", 0.5, keyed_rng(i)) for i, t in enumerate(texts[:4])]
    odd = "  Naïve café — “ﬁve” 東京\t😀 tests\n\nwith\u00a0odd  spaces! "
    return [
        *(blank(t, half.blanks, half.id) for t, half in zip(texts, halves, strict=False)),
        blank(texts[0], [], "none"),
        blank(texts[1], list(range(len(find_words(texts[1])))), "all"),
        blank(texts[2], [3, 4, 5], "neighbours"),
        blank(odd, list(range(0, len(find_words(odd)), 2)), "odd"),
        blank(odd, list(range(len(find_words(odd)))), "odd all"),
        blank("", [], "empty"),
    ]
