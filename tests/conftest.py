"""Tiny models and texts that tests share; nothing is downloaded."""

import os

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "2")

TEXTS = [
    "The old captain sailed the small boat across the cold bay, and nobody saw him again.",
    "A young doctor gave the patient two tablets; the fever fell within an hour.",
    "Mr. Speaker, the people of this state deserve better roads, better schools and lower taxes.",
    "When the storm came, the crew (all seven) hid below deck. The captain stayed at the wheel!",
    "The doctor said: take one tablet a day, and call me if the pain returns.",
    "Better schools make better towns. The state knows this, the people know this.",
]


@pytest.fixture(scope="session")
def texts():
    return TEXTS


@pytest.fixture(scope="session")
def tokenizer():
    from mlm_vs_clm.models import train_tokenizer

    return train_tokenizer(TEXTS, 400)


@pytest.fixture(scope="module")
def tokenizers(texts, tokenizer):
    from tiny_models import make_tokenizers

    return make_tokenizers(texts, tokenizer)


@pytest.fixture(scope="module")
def networks(tokenizers):
    from tiny_models import make_networks

    return make_networks(tokenizers)


@pytest.fixture(scope="session")
def start(tokenizer):
    from mlm_vs_clm.models import start_from_scratch

    return start_from_scratch(
        {"layers": 2, "width": 32, "heads": 2, "positions": 128}, tokenizer, seed=1
    ).eval()


@pytest.fixture(scope="session")
def causal_model(start, tokenizer):
    from mlm_vs_clm.models import as_kind

    return as_kind(start, "causal", tokenizer).eval()


@pytest.fixture(scope="session")
def seq2seq_model(start, tokenizer):
    from mlm_vs_clm.models import as_kind

    return as_kind(start, "seq2seq", tokenizer).eval()
