"""Examples in which masked tokens are predicted from both sides, or from the left at a mask in their place."""

import numpy as np

from blankfill.networks.layouts import RUNWAY, lay_out_answers, lay_out_masks

from .noise import IGNORE, Example, Noise, Rng, TargetTokens, TokenizedDocument, choose_masked, find_text


def masked(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Mask a share of the text and predict it from both sides; labels elsewhere are -100.

    A `left_share` of the documents end RUNWAY tokens behind a token drawn at random, and those are masked too: what an
    arm reads that fills this token from the left side alone.
    """
    runway = 0
    if noise.left_share and rng.random() < noise.left_share:
        document, runway = _cut_off(document, rng)
    chosen = choose_masked(document, noise, rng)
    chosen[len(chosen) - runway :] = True
    fate = rng.random(len(chosen))
    ids = document.ids.copy()
    ids[chosen & (fate < noise.mask_share)] = tokens.mask
    swapped = chosen & (fate >= noise.mask_share) & (fate < noise.mask_share + noise.random_share)
    ids[swapped] = rng.integers(0, tokens.n_vocabulary, size=int(swapped.sum()))
    return {"input_ids": ids, "labels": np.where(chosen, document.ids, IGNORE)}


def _cut_off(document: TokenizedDocument, rng: Rng) -> tuple[TokenizedDocument, int]:
    """Return the text up to RUNWAY tokens behind a token drawn at random, and how many tokens that are from there."""
    places = np.flatnonzero(document.word_of >= 0)
    if not len(places):
        return document, 0
    cut = int(rng.choice(places))
    end = min(cut + 1 + RUNWAY, len(document.ids))
    return TokenizedDocument(document.ids[:end], document.word_of[:end]), end - cut


def masked_pair(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Mask as `masked` does, and say whether the second segment follows the first; -100 where there is no pair."""
    places = np.arange(len(document.ids))
    return masked(document, noise, tokens, rng) | {
        "token_type_ids": ((places >= document.second) & bool(document.second)).astype(int),
        "is_next": np.array([int(document.is_next) if document.second else IGNORE]),
    }


def pair_sentences(document: TokenizedDocument, other: TokenizedDocument, rng: Rng) -> TokenizedDocument:
    """Return `[CLS] sentences [SEP] sentences [SEP]`, no longer than the document; half of the pairs end as `other` does.

    Either end begins with a sentence and lacks its last token. A document of one sentence, or an `other` of one, makes no
    pair.
    """
    is_next = bool(rng.random() < 0.5)
    source = document if is_next else other
    if not document.sentences or not source.sentences:
        return document
    cut = int(rng.choice(document.sentences))
    start = cut if is_next else int(rng.choice(source.sentences))
    return join_segments(document, cut, source, start, is_next)


def join_segments(
    document: TokenizedDocument, cut: int, source: TokenizedDocument, start: int, is_next: bool
) -> TokenizedDocument:
    """Return `[CLS] document up to cut [SEP] source from start [SEP]`, no longer than the document."""
    end = min(find_text(source)[1] - 1, start + find_text(document)[1] - 1 - cut)
    apart = document.word_of.max() + 1  # words of another segment are other words
    words = source.word_of[start:end] + (0 if is_next else apart)
    return TokenizedDocument(
        np.concatenate([document.ids[:cut], document.ids[-1:], source.ids[start:end], document.ids[-1:]]),
        np.concatenate([document.word_of[:cut], [-1], words, [-1]]),
        second=cut + 1,
        is_next=is_next,
    )


def diffused(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Mask a number of tokens drawn from one to all n, and predict them from both sides, each with weight n / number.

    Over the draws, the weighted sum of their losses is at least the negative log-likelihood of the text; the weights of a
    document add up to n.
    """
    places = np.flatnonzero(document.word_of >= 0)
    n_masked = int(rng.integers(len(places))) + 1 if len(places) else 0
    chosen = np.zeros(len(document.ids), dtype=bool)
    chosen[rng.choice(places, size=n_masked, replace=False)] = True
    return {
        "input_ids": np.where(chosen, tokens.mask, document.ids),
        "labels": np.where(chosen, document.ids, IGNORE),
        "weights": np.where(chosen, len(places) / max(n_masked, 1), 0.0),
    }


def infill(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Read the text with its masks, then predict each masked token at a mask in its place, and read it there.

    Attention is causal over all of it: a mask behind the text is seen by what follows, as any token is, and the text
    sees no answer (see `lay_out_answers`).
    """
    chosen = choose_masked(document, noise, rng)
    sources, is_mask = lay_out_answers(np.flatnonzero(chosen).tolist())
    text, answers = np.where(chosen, tokens.mask, document.ids), document.ids[sources]
    return {
        "input_ids": np.concatenate([text, np.where(is_mask, tokens.mask, answers)]),
        "position_ids": np.concatenate([np.arange(len(text)), sources]),
        "labels": np.concatenate([np.full(len(text), IGNORE), np.where(is_mask, answers, IGNORE)]),
    }


def masked_from_the_left(
    document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng
) -> Example:
    """Read the text from left to right and predict each masked token at a mask in its place, from the left side alone.

    The mask hides no token from what follows: the token itself comes next (see `lay_out_masks`).
    """
    sources, is_mask = lay_out_masks(choose_masked(document, noise, rng))
    ids = document.ids[sources]
    return {
        "input_ids": np.where(is_mask, tokens.mask, ids),
        "position_ids": sources,
        "labels": np.where(is_mask, ids, IGNORE),
    }
