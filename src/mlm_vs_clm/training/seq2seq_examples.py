"""Examples of encoder-decoder models: the text is generated, or the answers behind their sentinels."""

import numpy as np

from .noise import IGNORE, Example, Noise, Rng, TargetTokens, TokenizedDocument, choose_masked, find_text
from .spans import Stretch, draw_poisson_spans, draw_spans, find_runs, replace_spans, shuffle_sentences


def kept_to_text(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Read the kept words alone, without masks, and generate the whole text."""
    chosen = choose_masked(document, noise, rng)
    return {"input_ids": document.ids[~chosen]} | _generate(document.ids, tokens)


def masked_words(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Mask as `kept_to_text` does, with a mask or sentinel for each run: the input that the arm will see."""
    return _answer_spans(document, find_runs(choose_masked(document, noise, rng)), tokens)


def masked_spans(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Mask random spans with a sentinel for each, as T5 was trained."""
    first, last = find_text(document)
    most = len(tokens.sentinels) - 1 if tokens.sentinels else None
    spans = draw_spans(last - first, noise.ratio, noise.mean_span, most, rng)
    return _answer_spans(document, [(first + start, length) for start, length in spans], tokens)


def denoised(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Mask spans of Poisson lengths with one mask each, as BART was trained, and generate the whole text.

    With `permute_sentences` the model reads the sentences in a random order.
    """
    first, last = find_text(document)
    text = document.ids[first:last]
    if noise.permute_sentences:
        text = shuffle_sentences(text, [place - first for place in document.sentences], rng)
    spans = draw_poisson_spans(len(text), noise.ratio, noise.mean_span, rng)
    read = replace_spans(text, spans, [tokens.mask] * len(spans))
    ids = np.concatenate([document.ids[:first], read, document.ids[last:]])
    return {"input_ids": ids} | _generate(document.ids, tokens)


def _answer_spans(document: TokenizedDocument, spans: list[Stretch], tokens: TargetTokens) -> Example:
    """Put sentinels for spans; the target is the answers, each after its sentinel, or, with masks alone, the text.

    The last answer is closed by one more sentinel, as in T5. Spans without a sentinel are not masked.
    """
    if not tokens.sentinels:
        read = replace_spans(document.ids, spans, [tokens.mask] * len(spans))
        return {"input_ids": read} | _generate(document.ids, tokens)
    spans = spans[: len(tokens.sentinels) - 1]
    used = list(tokens.sentinels[: len(spans)])
    read = replace_spans(document.ids, spans, used)
    answers = [
        piece
        for sentinel, (start, length) in zip(used, spans, strict=True)
        for piece in ([sentinel], document.ids[start : start + length])
    ]
    target = np.concatenate([*answers, [tokens.sentinels[len(spans)]], document.ids[-1:]])
    return {"input_ids": read} | _generate(target, tokens)


def _generate(target: np.ndarray, tokens: TargetTokens) -> Example:
    """Return what a decoder reads and predicts to generate `target`; a leading start token is not predicted."""
    target = target[1:] if len(target) and target[0] == tokens.start else target
    return {
        "decoder_input_ids": np.concatenate([[tokens.start], target]).astype(int),
        "labels": np.append(target, IGNORE),
    }
