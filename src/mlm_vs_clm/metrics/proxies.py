"""Proxies of coherence and grammar, lower is better: what a word list, a language model and a grammar tagger say of a text.

They do not replace the judgement of readers: fluent text without content scores well on all of them.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..hardware import PRECISIONS, torch_dtype
from .meteor import hash_wordnet, read_wordnet
from .metric import PRE_SPLIT, Metric, normalise, share_statistics

NONWORDS, PERPLEXITY, ERRORS = "nonword_rate", "perplexity_unrelated", "grammar_errors"
PROXIES = (NONWORDS, PERPLEXITY, ERRORS)
WINDOW = 1024  # tokens that a language model reads at once
# How tags begin that leave a word, or change its case alone: texts are lower-cased.
NO_MISTAKE = ("$KEEP", "$CASE")


def make_nonwords(texts: Iterable[str], wordnet: Path) -> Metric:
    """Return the share (0-1) of filled words that stand neither in `texts` nor, in any inflection, in WordNet.

    Words without a letter do not count. StudyError: no WordNet.
    """
    vocabulary = {word for text in texts for word in normalise(text).split()}
    reader = read_wordnet(wordnet).reader
    is_word = lru_cache(maxsize=None)(lambda word: word in vocabulary or reader.morphy(word) is not None)
    return Metric(
        lambda fills: count_nonwords(fills, is_word),
        lambda: (
            f"non-words of filled words|pooled|pretrain splits and wordnet-sha256:{hash_wordnet(wordnet)}|{PRE_SPLIT}|scale:0-1"
        ),
    )


def count_nonwords(fills: list[list[str]], is_word: Callable[[str], bool]) -> np.ndarray:
    """Return (n documents, 2): filled words that are no words, and filled words with a letter; NaN where there is none."""
    words_of = (
        [word for word in normalise(" ".join(of_document)).split() if any(map(str.isalpha, word))]
        for of_document in fills
    )
    return share_statistics((sum(not is_word(word) for word in words), len(words)) for words in words_of)


def make_perplexity(folder: Path, name: str, precision: str, device: str) -> Metric:
    """Return the perplexity per word under the causal model of a folder: a word of many tokens counts once."""
    count = _per_word(lambda text: measure_nats(text, *load_language_model(folder, precision, device)))
    signature = f"perplexity per word|pooled|model:{name}|{PRECISIONS[precision]}|{PRE_SPLIT}"
    return Metric(count, lambda: signature)


def make_grammar(folder: Path, name: str, precision: str, device: str) -> Metric:
    """Return the share (0-1) of words that the grammar tagger of a folder would change; see training.onnx.read_tagger."""
    count = _per_word(lambda text: count_mistakes(text.split(), *load_tagger(folder, precision, device)))
    signature = f"words with a mistake|pooled|tagger:{name}|{PRECISIONS[precision]}|{PRE_SPLIT}|scale:0-1"
    return Metric(count, lambda: signature)


def _per_word(count: Callable[[str], float]) -> Callable[[list[str], list[str]], np.ndarray]:
    """Return statistics (n documents, 2): what is counted in a text, and its words; NaN for an empty one."""

    def compute(candidates: list[str], references: list[str]) -> np.ndarray:
        return share_statistics((count(text), len(text.split())) if text else (0, 0) for text in candidates)

    return compute


@lru_cache(maxsize=1)
def load_language_model(folder: Path, precision: str, device: str) -> tuple:
    """Return the tokenizer and the causal model of a checkpoint."""
    from blankfill.networks.checkpoints import load_model, load_tokenizer

    model: Any = load_model(folder, "causal", torch_dtype(precision))
    return load_tokenizer(folder), model.to(device)


def measure_nats(text: str, tokenizer, model) -> float:
    """Return minus the log-likelihood (nats) of the tokens of a text, but for the first of each window."""
    import torch

    ids = torch.tensor(
        tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True), device=model.device
    )
    nats = 0.0
    for window in ids.split(WINDOW):
        with torch.inference_mode():
            logits = model(input_ids=window[None]).logits[0, :-1].float()
        nats += float(torch.nn.functional.cross_entropy(logits, window[1:], reduction="sum"))
    return nats


@lru_cache(maxsize=1)
def load_tagger(folder: Path, precision: str, device: str) -> tuple:
    """Return the tokenizer and the model of a grammar tagger."""
    from ..training.onnx import read_tagger

    model, tokenizer = read_tagger(folder)
    return tokenizer, model.eval().to(device, torch_dtype(precision))


def count_mistakes(words: list[str], tokenizer, model) -> int:
    """Return how many words the tagger would change; a text that is too long is halved until its parts fit."""
    import torch

    limit, is_one = tokenizer.model_max_length, len(words) == 1
    encoded = tokenizer(
        words, is_split_into_words=True, truncation=is_one, max_length=limit, return_tensors="pt"
    )
    if encoded["input_ids"].shape[1] > limit:
        halves = words[: len(words) // 2], words[len(words) // 2 :]
        return sum(count_mistakes(half, tokenizer, model) for half in halves)
    with torch.inference_mode():
        tags = model(**encoded.to(model.device)).logits[0].argmax(dim=-1).tolist()
    places = reversed(list(zip(encoded.word_ids(0), tags, strict=True)))
    first = {word: model.config.id2label[tag] for word, tag in places if word is not None}
    return sum(not tag.startswith(NO_MISTAKE) for tag in first.values())  # by the first token of each word
