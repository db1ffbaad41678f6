"""The one form in which every arm's text is compared, so that no tokenizer's spacing or case is scored."""

from ..documents import split_words


def normalise(text: str) -> str:
    """Return the words of a text, lower-cased and joined by one space; a second pass changes nothing."""
    return " ".join(split_words(text.lower()))
