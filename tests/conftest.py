"""Tiny models and texts that tests share; nothing is downloaded."""

import os
import sys
from functools import cache

import pytest
from tiny_texts import SHAPE, TEXTS

os.environ["HF_HUB_OFFLINE"] = "1"  # no test asks a hub, whatever the Makefile exports for the studies
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session", autouse=True)
def _compose_once():
    from compositions import spare_compositions

    spare_compositions()


@pytest.fixture(autouse=True)
def _one_thread():
    """Threads that a test gave torch would be left to all tests behind it, and wait at each product for a processor."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


@pytest.fixture(scope="session")
def texts():
    return TEXTS


@pytest.fixture(scope="session")
def tokenizer():
    from mlm_vs_clm.training.starts import train_tokenizer

    return train_tokenizer(TEXTS, 400)


@pytest.fixture(scope="module")
def choose():
    """Compose settings, each list of overrides once in a module."""
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    from mlm_vs_clm.pipeline import composing
    from mlm_vs_clm.pipeline.config import register

    register()
    with initialize_config_dir(str(composing.CONF), version_base="1.3"):
        yield cache(lambda *overrides: composing.compose(list(overrides)))
    GlobalHydra.instance().clear()


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
    from mlm_vs_clm.training.starts import start_from_scratch

    return start_from_scratch(SHAPE, tokenizer, seed=1).eval()


@pytest.fixture(scope="session")
def causal_model(start, tokenizer):
    from mlm_vs_clm.training.starts import as_kind

    return as_kind(start, "causal", tokenizer).eval()


@pytest.fixture(scope="session")
def seq2seq_model(start, tokenizer):
    from mlm_vs_clm.training.starts import as_kind

    return as_kind(start, "seq2seq", tokenizer).eval()


@pytest.fixture(scope="session")
def toy(tmp_path_factory, tokenizer):
    """A folder with a toy corpus and an encoder for BERTScore."""
    from tiny_studies import write_toy

    return write_toy(tmp_path_factory.mktemp("toy"), tokenizer)


@pytest.fixture(scope="session")
def finished(toy, tmp_path_factory):
    """A folder with the `store` and `results` of a whole study of the toy corpus; not to be changed."""
    from tiny_studies import GRID, run_here, settings

    folder = tmp_path_factory.mktemp("finished")
    done = run_here("report", *settings(toy, folder), *GRID)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder
