"""Which documents are read together: those of similar size, so that little of a batch is padding."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def batch_by_size(
    documents: Iterable[T],
    size: Callable[[T], int],
    batch_tokens: int,
    most: Callable[[T], int] | None = None,
) -> Iterator[list[T]]:
    """Yield documents of similar size together, the longest first, at most `batch_tokens` tokens per batch.

    `most` is how many tokens a document takes at most, by default its size: a batch takes as many for each.
    """
    most = most or size
    batch: list[T] = []
    longest = 0
    for document in sorted(documents, key=lambda document: (-size(document), -most(document))):
        longest = max(longest, most(document))
        if batch and (len(batch) + 1) * longest > batch_tokens:
            yield batch
            batch, longest = [], most(document)
        batch.append(document)
    if batch:
        yield batch
