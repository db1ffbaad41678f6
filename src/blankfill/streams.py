"""Streams of texts: they are taken a part at a time, and a bar says how many are done."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .errors import BlankfillError
from .text import BlankedText

FIRST = 8  # texts after which a stream gives its first results
Item = tuple[BlankedText, str | None]  # and why its blanks are wrong


def cut_stream(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    """Yield texts in parts of about `most` characters, the first of few texts.

    An error while they are read is raised after the part before it was yielded.
    """
    part: list[Item] = []
    n_characters, is_first, reading = 0, True, iter(items)
    while True:
        try:
            item = next(reading, None)
        except BlankfillError:
            yield part
            raise
        if item is None:
            break
        part.append(item)
        n_characters += len(item[0].text)
        if n_characters > most or is_first and len(part) == FIRST:
            yield part
            part, n_characters, is_first = [], 0, False
    if part:
        yield part


@contextmanager
def show_progress(is_shown: bool, total: int | None) -> Iterator[Callable[[int], Any]]:
    """Give a function that takes how many more texts are done; a bar on stderr shows them (of `total`, None: unknown)."""
    if not is_shown:
        yield lambda n: None
        return
    from transformers.utils import logging

    with logging.tqdm(total=total, unit=" texts") as bar:
        yield bar.update
