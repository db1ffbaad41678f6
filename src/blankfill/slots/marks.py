"""How a vocabulary tells the start of a word from its middle: by a mark on the tokens of one or the other."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from transformers import PreTrainedTokenizerBase

T = TypeVar("T")

INSIDE = "##"  # before a token that continues a word
STARTS = ("Ġ", "▁")  # before a token that starts one
GOES_ON = "@@"  # behind a token whose word goes on


def once_per_vocabulary(
    find: Callable[[PreTrainedTokenizerBase], T],
) -> Callable[[PreTrainedTokenizerBase], T]:
    """Return a function of a tokenizer that remembers what it returned until the tokenizer gets more tokens."""
    remembered = lru_cache(maxsize=8)(lambda tokenizer, n_tokens: find(tokenizer))
    return wraps(find)(lambda tokenizer: remembered(tokenizer, len(tokenizer)))


@once_per_vocabulary
def count_ids(tokenizer: PreTrainedTokenizerBase) -> int:
    """Return the largest id of a vocabulary plus one: more than its tokens where some ids between have none."""
    return max(tokenizer.get_vocab().values(), default=-1) + 1


def all_tokens(tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Return the tokens of a vocabulary in the order of their ids."""
    named = tokenizer.convert_ids_to_tokens([*range(count_ids(tokenizer))])
    return ["[unused]" if token is None else token for token in named]  # an id without a token


def has_mark(token: str, mark: str) -> bool:
    """Return whether a token has the mark of its vocabulary."""
    return bool(mark) and (token.endswith(mark) if mark == GOES_ON else token.startswith(mark))


@once_per_vocabulary
def word_mark(tokenizer: PreTrainedTokenizerBase) -> str:
    """Return the mark that a vocabulary uses most: `##`, `Ġ`, `▁` or `@@`, or "" if it has none of them."""
    tokens = all_tokens(tokenizer)
    counts = {mark: sum(has_mark(token, mark) for token in tokens) for mark in (INSIDE, *STARTS, GOES_ON)}
    most = max(counts, key=counts.__getitem__)
    return most if counts[most] else ""


def word_sizes(tokens: list[str], mark: str) -> list[int]:
    """Return how many tokens each word has, of tokens that stand in a row; without a mark they are one word."""
    sizes: list[int] = []
    for place, token in enumerate(tokens):
        is_later = has_mark(tokens[place - 1] if mark == GOES_ON else token, mark) == (mark not in STARTS)
        if place and (is_later or not mark):
            sizes[-1] += 1
        else:
            sizes.append(1)
    return sizes
