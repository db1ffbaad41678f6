"""Where the words of a document went in a text that was written freely."""

from difflib import SequenceMatcher

from ..blanks import BlankedText, FilledText, Span
from ..documents import find_words


def align(blanked: BlankedText, text: str) -> FilledText:
    """Find the kept words again in `text` and read the fills off the gaps between them.

    Kept words are matched in order, without regard to case. The words written in a gap are dealt in order to the
    words missing there, one each; the last one takes what is left over; a word that gets none has no span.
    """
    kept = blanked.kept_words()
    written = find_words(text)
    matched = _match(
        [blanked.text[slice(*blanked.words[i])] for i in kept], [text[slice(*w)] for w in written]
    )
    place_of = {kept[i]: place for i, place in matched.items()}
    spans: list[Span | None] = [None] * len(blanked.words)
    for word, place in place_of.items():
        spans[word] = written[place]
    for missing, places in _gaps(len(blanked.words), place_of, len(written)):
        for word, (first, last) in _deal(missing, places):
            spans[word] = (written[first][0], written[last][1])
    fills = [text[slice(*spans[word])] if spans[word] else "" for word in blanked.blanks]
    return FilledText(blanked.id, text, fills, spans)


def deal_answers(answer: str, n_blanks: int) -> list[str]:
    """Deal the words of one answer to the blanks of its run: one each, the last takes the rest; "" if none is left."""
    words = find_words(answer)
    fills = [""] * n_blanks
    for blank, (first, last) in _deal(list(range(n_blanks)), list(range(len(words)))):
        fills[blank] = answer[words[first][0] : words[last][1]]
    return fills


def _match(kept: list[str], written: list[str]) -> dict[int, int]:
    matcher = SequenceMatcher(None, [w.lower() for w in kept], [w.lower() for w in written], autojunk=False)
    return {a + k: b + k for a, b, size in matcher.get_matching_blocks() for k in range(size)}


def _gaps(n_words: int, place_of: dict[int, int], n_written: int):
    """Yield (words without a place, places without a word) of each stretch between two matched words."""
    missing, last = [], -1
    for word in range(n_words + 1):
        if word < n_words and word not in place_of:
            missing.append(word)
            continue
        place = place_of.get(word, n_written)
        if missing:
            yield missing, list(range(last + 1, place))
        missing, last = [], place


def _deal(missing: list[int], places: list[int]):
    """Yield (word, (first place, last place)) for every missing word that gets something."""
    for turn, word in enumerate(missing[: len(places)]):
        is_last = turn == len(missing) - 1
        yield word, (places[turn], places[-1] if is_last else places[turn])
