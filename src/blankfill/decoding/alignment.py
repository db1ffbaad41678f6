"""Where the words of a document are in a text that was generated freely."""

from collections.abc import Iterator
from difflib import SequenceMatcher

from ..text import BlankedText, CharSpan, FilledText, find_words, fold_case


def align(blanked: BlankedText, text: str) -> FilledText:
    """Find the kept words again in `text` and read the fills off the gaps between them.

    Kept words are matched in order, ignoring case. The words generated in a gap are assigned in order to the words
    missing there, one each; the last one gets the rest; a word that gets none has no span.
    """
    generated = find_words(text)  # their numbers are called places, those of the words of the document words
    place_of = _match(blanked, [text[slice(*span)] for span in generated])
    spans: list[CharSpan | None] = [None] * len(blanked.words)
    for word, place in place_of.items():
        spans[word] = generated[place]
    for missing, places in _gaps(len(blanked.words), place_of, len(generated)):
        for word, (first, last) in _assign(missing, places):
            spans[word] = (generated[first][0], generated[last][1])
    fills = [text[slice(*span)] if (span := spans[word]) else "" for word in blanked.blanks]
    return FilledText(blanked.id, text, fills, spans)


def split_answer(answer: str, n_blanks: int) -> list[str]:
    """Return the words of one answer by blank of its group: one each, the last gets the rest; "" if none is left."""
    words = find_words(answer)
    fills = [""] * n_blanks
    for blank, (first, last) in _assign(list(range(n_blanks)), list(range(len(words)))):
        fills[blank] = answer[words[first][0] : words[last][1]]
    return fills


def _match(blanked: BlankedText, generated: list[str]) -> dict[int, int]:
    """Return the place in `generated` of each kept word that is found there."""
    kept = blanked.kept_words()
    before = [fold_case(blanked.text[slice(*blanked.words[word])]) for word in kept]
    matcher = SequenceMatcher(None, before, [fold_case(word) for word in generated], autojunk=False)
    return {
        word: place
        for start, place_of_start, size in matcher.get_matching_blocks()
        for place, word in enumerate(kept[start : start + size], place_of_start)
    }


def _gaps(n_words: int, place_of: dict[int, int], n_places: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield (words without a place, places without a word) of each gap between two matched words."""
    missing: list[int] = []
    next_place = 0
    for word in range(n_words + 1):
        if word < n_words and word not in place_of:
            missing.append(word)
            continue
        place = place_of.get(word, n_places)  # behind the last word is the end
        if missing:
            yield missing, list(range(next_place, place))
        missing, next_place = [], place + 1


def _assign(missing: list[int], places: list[int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield (word, (first place, last place)) for every missing word that gets a place."""
    for turn, word in enumerate(missing[: len(places)]):
        is_last = turn == len(missing) - 1
        yield word, (places[turn], places[-1] if is_last else places[turn])
