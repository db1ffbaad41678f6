"""Capitals for a model that writes none: a stated rule, the same for every arm, that never sees the original."""

from collections import Counter, defaultdict

from ..blanks import BlankedText, FilledText, put_together
from ..documents import WORD, find_words

ENDS = ".!?"


class Recaser:
    """Writes each word as the pretrain split most often does, and starts sentences with a capital."""

    def __init__(self, texts: list[str]):
        seen: dict[str, Counter] = defaultdict(Counter)
        for text in texts:
            for (start, end), starts in _with_starts(text):
                if not starts:
                    seen[text[start:end].lower()][text[start:end]] += 1
        self.form = {low: min(forms, key=lambda f: (-forms[f], f)) for low, forms in seen.items()}

    def text(self, text: str) -> str:
        """Return a whole text in its likely case; its length does not change."""
        return "".join(self._pieces(text, [True] * len(find_words(text))))

    def fill(self, blanked: BlankedText, filled: FilledText) -> FilledText:
        """Return the same text with its fills, and nothing else, in their likely case."""
        fresh = [False] * len(filled.text)
        for word in blanked.blanks:
            if filled.spans[word]:
                start, end = filled.spans[word]
                fresh[start:end] = [True] * (end - start)
        text = "".join(self._pieces(filled.text, [fresh[start] for start, _ in find_words(filled.text)]))
        fills = [text[slice(*filled.spans[w])] if filled.spans[w] else "" for w in blanked.blanks]
        return put_together(blanked, fills)

    def _pieces(self, text: str, change: list[bool]):
        cursor = 0
        for ((start, end), starts), may in zip(_with_starts(text), change, strict=True):
            word = text[start:end]
            yield text[cursor:start]
            yield self._case(word, starts) if may else word
            cursor = end
        yield text[cursor:]

    def _case(self, word: str, starts: bool) -> str:
        likely = self.form.get(word, word)
        likely = likely[:1].upper() + likely[1:] if starts else likely
        return likely if len(likely) == len(word) else word


def writes_capitals(tokenizer) -> bool:
    """Tell whether a tokenizer keeps capitals apart from small letters."""
    return (
        tokenizer("A", add_special_tokens=False)["input_ids"]
        != tokenizer("a", add_special_tokens=False)["input_ids"]
    )


def _with_starts(text: str):
    """Yield every word's offsets and whether it opens a sentence (first, or after . ! ?)."""
    opens = True
    for match in WORD.finditer(text):
        yield match.span(), opens
        opens = match.group() in ENDS or (opens and not match.group().isalnum())
