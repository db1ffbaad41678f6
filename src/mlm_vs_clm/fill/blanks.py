"""A text with blanks in it, as pieces to tokenize and to put together again."""

from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from ..errors import StudyError

Span = tuple[int, int]


@dataclass(frozen=True)
class BlankedText:
    """A text, the character offsets of its words, and which words are blanks."""

    id: str
    text: str
    words: list[Span]
    blanks: list[int]

    def kept_words(self) -> list[int]:
        """Return the indices of the words that stay."""
        hidden = set(self.blanks)
        return [i for i in range(len(self.words)) if i not in hidden]

    def originals(self) -> list[str]:
        """Return the words that the blanks hide."""
        return [self.text[slice(*self.words[i])] for i in self.blanks]


@dataclass(frozen=True)
class FilledText:
    """What an arm wrote: the text, the fill of each blank, and where each word stands in it (None: nowhere)."""

    id: str
    text: str
    fills: list[str]
    spans: list[Span | None]


@dataclass
class Row:
    """A blanked text as sub-words `[CLS] ... [SEP]`, with the slots that its blanks take."""

    id: str
    ids: list[int]
    slots: list[int]
    blank_of: list[int]
    inside: list[bool]

    def slots_of(self, blank: int) -> list[int]:
        """Return the slot numbers (not places) that belong to one blank."""
        return [number for number, owner in enumerate(self.blank_of) if owner == blank]


def put_together(blanked: BlankedText, fills: list[str]) -> FilledText:
    """Write the fills into the blanks; every character outside them stays as it was.

    An empty fill leaves its word without a place in the new text.
    """
    pieces, spans, place, cursor = [], [], 0, 0
    fill_of = dict(zip(blanked.blanks, fills, strict=True))
    for number, (start, end) in enumerate(blanked.words):
        word = fill_of.get(number, blanked.text[start:end])
        pieces += [blanked.text[cursor:start], word]
        place += start - cursor
        spans.append((place, place + len(word)) if word else None)
        place, cursor = place + len(word), end
    pieces.append(blanked.text[cursor:])
    return FilledText(blanked.id, "".join(pieces), list(fills), spans)


def to_rows(
    blanked: list[BlankedText],
    tokenizer: PreTrainedTokenizerBase,
    max_subwords: int,
    lengths: list[list[int]] | None = None,
) -> list[Row]:
    """Tokenize texts piece by piece, so that no sub-word reaches across the border of a blank.

    A blank takes as many slots as `lengths` says (a count for each blank of each text), by default as many as its
    original has sub-words (`length: known`), at least one. Where the count is the original's, its sub-words stand
    in the slots, else unknown marks; the caller hides them. Raises StudyError if a text does not fit the model.
    """
    pieces = [_cut(text) for text in blanked]
    flat = [piece for row in pieces for piece, _ in row]
    encoded = iter(tokenizer(flat, add_special_tokens=False)["input_ids"] if flat else [])
    rows = []
    for number, (text, row) in enumerate(zip(blanked, pieces, strict=True)):
        made = Row(text.id, [tokenizer.cls_token_id], [], [], [])
        for (_, blank), ids in zip(row, encoded, strict=False):
            if blank is None:
                made.ids += ids
            else:
                n_slots = lengths[number][blank] if lengths else max(1, len(ids))
                _append_blank(made, blank, ids if len(ids) == n_slots else [tokenizer.unk_token_id] * n_slots)
        made.ids.append(tokenizer.sep_token_id)
        if len(made.ids) > max_subwords:
            raise StudyError(
                f"document {text.id}: {len(made.ids)} sub-words do not fit the model's {max_subwords}; "
                "cut the corpus into shorter windows (corpus.window_words)"
            )
        rows.append(made)
    return rows


def _append_blank(row: Row, blank: int, ids: list[int]) -> None:
    row.slots += range(len(row.ids), len(row.ids) + len(ids))
    row.blank_of += [blank] * len(ids)
    row.inside += [place > 0 for place in range(len(ids))]
    row.ids += ids


def _cut(blanked: BlankedText) -> list[tuple[str, int | None]]:
    """Return pieces (text, number of the blank or None); the space before a blank goes with it."""
    pieces, cursor = [], 0
    for number, word in enumerate(blanked.blanks):
        start, end = blanked.words[word]
        before = blanked.text[cursor:start]
        if before.strip():
            pieces.append((before.rstrip() if before[-1:].isspace() else before, None))
        pieces.append((" " * before[-1:].isspace() + blanked.text[start:end], number))
        cursor = end
    if blanked.text[cursor:].strip():
        pieces.append((blanked.text[cursor:], None))
    return pieces
