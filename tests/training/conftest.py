"""Tokenized texts that trainings read."""

import pytest

from mlm_vs_clm.training.batches import tokenize


@pytest.fixture(scope="session")
def documents(texts, tokenizer):
    return tokenize(texts, tokenizer, 64)
