"""Streams of texts: they are taken a part at a time, and a bar says how many are done."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .errors import BlankfillError
from .text import BlankedText

FIRST, MOST = 8, 256  # texts of the first part of a stream, and of the largest: each has twice those before
Item = tuple[BlankedText, str | None]  # and why its blanks are wrong


def cut_stream(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    """Yield texts in parts, the first of few texts; none has more than about `most` characters.

    An error while they are read is raised after the part before it was yielded.
    """
    chunk: list[Item] = []
    n_characters, n_texts, reading = 0, FIRST, iter(items)
    while True:
        try:
            item = next(reading, None)
        except BlankfillError:
            yield chunk
            raise
        if item is None:
            break
        chunk.append(item)
        n_characters += len(item[0].text)
        if n_characters > most or len(chunk) == n_texts:
            yield chunk
            chunk, n_characters, n_texts = [], 0, min(MOST, 2 * n_texts)
    if chunk:
        yield chunk


@contextmanager
def show_progress(is_shown: bool, total: int | None) -> Iterator[Callable[[int], Any]]:
    """Give a function that takes how many more texts are done; a bar on stderr shows them (of `total`, None: unknown)."""
    if not is_shown:
        yield lambda n: None
        return
    from transformers.utils import logging

    with logging.tqdm(total=total, unit=" texts") as bar:
        yield bar.update
