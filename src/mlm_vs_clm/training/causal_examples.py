"""Examples in which a token is predicted from those before it."""

from dataclasses import replace

import numpy as np

from .noise import (
    IGNORE,
    Example,
    Noise,
    Rng,
    TargetTokens,
    TokenizedDocument,
    choose_masked,
    draw_share,
    find_text,
    go_on,
)


def causal(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Predict every token from those before it: position i is labelled with token i + 1."""
    return {"input_ids": document.ids, "labels": np.append(document.ids[1:], IGNORE)}


def causal_with_errors(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Predict every token of the text from those before it, of which `noise_ratio` of the words are wrong ones.

    A token of these words is drawn by how often it follows the token that is read before it, as an arm that fills from the
    left reads its own fills. Drawn, not the likeliest: with a left-side table the likeliest words repeat themselves far
    more than the fills of `clm` (repeated 4-grams of the filled text .029, `clm` .004, drawn .000; distinct bigrams .76,
    .92, .98), and a network learns which words are always the same.
    """
    if tokens.neighbours is None:
        raise ValueError("objective clm_noised needs the table of neighbours that `prepare` counts")
    chosen = choose_masked(document, replace(noise, ratio=noise.noise_ratio, unit="word", spread=0.0), rng)
    ids, goes_on = document.ids.copy(), go_on(document.word_of)
    for place in np.flatnonzero(chosen):
        ids[place] = tokens.neighbours.draw(ids[place - 1], goes_on[place], rng)
    return causal(document, noise, tokens, rng) | {"input_ids": ids}


def prefix_to_rest(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Read a prefix from both sides, and predict each token after it from those before: `prefix` tokens see each other."""
    first, last = find_text(document)
    prefix = first + round(draw_share(noise.prefix_share, noise.spread, rng) * (last - first))
    example = causal(document, noise, tokens, rng)
    places = np.arange(len(document.ids))
    return example | {
        "labels": np.where(places < prefix - 1, IGNORE, example["labels"]),
        "prefix": np.array(prefix),
    }


def filled_in_the_middle(
    document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng
) -> Example:
    """Move a span to the end: text before, mask, text after, separator, span, separator; PLAIN_SHARE stays as it is.

    The mask says where the span was, and the token that ends a text opens and ends it. Every token is predicted from those
    before it. The last two tokens of the text make room, so that no example is longer than its document.
    """
    first, last = find_text(document)
    if rng.random() < PLAIN_SHARE or last - first < 3:
        return causal(document, noise, tokens, rng)
    start, end = np.sort(rng.integers(first, last - 1, size=2))
    ids, closing = document.ids[: last - 2], document.ids[-1:]
    pieces = (ids[:start], [tokens.mask], ids[end:], closing, ids[start:end], closing)
    moved = np.concatenate(pieces).astype(int)
    return {"input_ids": moved, "labels": np.append(moved[1:], IGNORE)}


PLAIN_SHARE = 0.5


def kept_then_text(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Read the kept words, closed as a text is, and then predict the whole text, token by token."""
    visible, first = document.ids[~choose_masked(document, noise, rng)], find_text(document)[0]
    ids = np.concatenate([visible, document.ids[first:]])
    labels = np.append(ids[1:], IGNORE)
    labels[: len(visible) - 1] = IGNORE
    return {"input_ids": ids, "labels": labels}
