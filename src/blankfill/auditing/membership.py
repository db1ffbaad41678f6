"""The loss of texts under a model: a model that remembers its training texts finds them likelier than held-out ones."""

import hashlib
from collections.abc import Sequence

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..draws import keyed_rng
from ..errors import BlankfillError
from ..likelihood import score
from ..networks.checkpoints import model_kind
from ..networks.sizes import position_limit
from ..text import CharSpan, find_words

N_PARTS = 4  # of the words of a text, each hidden from a masked model in turn
MARGIN = 8  # tokens, for the marks that open and close a text


def measure_losses(
    texts: Sequence[str], model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, seed: int
) -> list[float]:
    """Return the mean loss of each text in nats per token; texts without a word are left out.

    A causal model predicts every word from those to its left. A masked model predicts a quarter of the words, drawn by
    the seed, from the others, until each was predicted once. A text that the model cannot read whole is cut after the
    words that it can read. Raises BlankfillError for an encoder-decoder, whose texts have no such loss.
    """
    kind = model_kind(model)
    if kind == "seq2seq":
        raise BlankfillError("membership by the loss needs a masked or causal model: leave the model out")
    cut = [cut_to_fit(text, model, tokenizer) for text in texts]
    read = [(text, words) for text in cut if (words := find_words(text))]
    if kind == "causal":
        parts, settings = [[words for _, words in read]], {}
    else:
        drawn = [_split(text, words, seed) for text, words in read]
        parts, settings = [[of[i] for of in drawn] for i in range(N_PARTS)], {"order": "parallel"}
    nats, tokens = [0.0] * len(read), [0] * len(read)
    for blanks in parts:
        for i, likelihood in enumerate(
            score([text for text, _ in read], blanks, model, tokenizer, **settings)
        ):
            nats[i] += likelihood.nats
            tokens[i] += likelihood.tokens
    return [of / n for of, n in zip(nats, tokens, strict=True)]


def _split(text: str, words: list[CharSpan], seed: int) -> list[list[CharSpan]]:
    """Return the words of a text in N_PARTS parts, drawn by the seed and the text alone."""
    name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    places = keyed_rng(seed, "membership", name).permutation(len(words))
    return [[words[i] for i in sorted(places[first::N_PARTS])] for first in range(N_PARTS)]


def cut_to_fit(text: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> str:
    """Return as many words from the start of a text as the model has places for."""
    limit = position_limit(model)
    words = find_words(text)

    def fits(n_words: int) -> bool:
        ids = tokenizer(text[: words[n_words - 1][1]], add_special_tokens=False, verbose=False)["input_ids"]
        return len(ids) + MARGIN <= limit

    if not words or limit is None or fits(len(words)):
        return text
    low, high = 1, len(words)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return text[: words[low - 1][1]]
