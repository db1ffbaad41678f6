"""The loss of texts under a model: a model that remembers its training texts finds them likelier than held-out ones."""

from collections.abc import Sequence

from ..draws import keyed_rng, name_text
from ..errors import BlankfillError
from ..filler import Filler
from ..networks.checkpoints import model_kind
from ..text import CharSpan, find_words

N_PARTS = 4  # of the words of a text, each hidden from a masked model in turn


def measure_losses(texts: Sequence[str], filler: Filler, seed: int, first: int = 0) -> list[float]:
    """Return the mean loss of each text in nats per token; texts without a word are left out.

    Of each text the first words, `first` many, are read and not counted.

    A causal model predicts every word from those to its left. A masked model predicts a quarter of the words, drawn by
    the seed and the text, from the others, until each was predicted once. A text longer than the model is read in
    windows. Raises BlankfillError for an encoder-decoder, whose texts have no such loss, and DocumentError, with the
    number of the text, for one that cannot be read.
    """
    kind = model_kind(filler.model)
    if kind == "seq2seq":
        raise BlankfillError("membership by the loss needs a masked or causal model: leave the model out")
    read = [(i, text, words) for i, text in enumerate(texts) if (words := find_words(text)[first:])]
    if kind == "causal":
        rounds, settings = [[words for *_, words in read]], {}
    else:
        drawn = [_split(text, words, seed) for _, text, words in read]
        rounds, settings = [[of[i] for of in drawn] for i in range(N_PARTS)], {"order": "parallel"}
    nats, tokens = [0.0] * len(read), [0] * len(read)
    for blanks in rounds:
        scored = filler.score(
            [text for _, text, _ in read], blanks, ids=[str(i) for i, *_ in read], **settings
        )
        for i, likelihood in enumerate(scored if isinstance(scored, list) else [scored]):
            nats[i] += likelihood.nats
            tokens[i] += likelihood.tokens
    return [of / n for of, n in zip(nats, tokens, strict=True)]


def _split(text: str, words: list[CharSpan], seed: int) -> list[list[CharSpan]]:
    """Return the words of a text in N_PARTS parts, drawn by the seed and the text alone."""
    places = keyed_rng(seed, "membership", name_text(text)).permutation(len(words))
    return [[words[i] for i in sorted(places[first::N_PARTS])] for first in range(N_PARTS)]
