"""Two processes of `torchrun` train one model: the same steps as one process, written once, and no one waits for ever."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from tiny_together import make_models

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.pipeline.launch import check_launcher

TESTS = Path(__file__).parent


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Return the stores of one process and of two, which were told to make the same models."""
    root = tmp_path_factory.mktemp("stores")
    make_models(root / "one")
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    command = [sys.executable, *launcher, str(TESTS / "tiny_together.py"), str(root / "two")]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return root / "one", root / "two"


def test_two_processes_take_the_same_steps_as_one(stores):
    alone, together = (sorted(store.glob("pretrain/*")) for store in stores)
    assert [folder.name for folder in alone] == [folder.name for folder in together] and len(alone) == 2
    for one, two in zip(alone, together, strict=True):
        assert sorted(path.name for path in one.iterdir()) == sorted(path.name for path in two.iterdir())
        assert (one / "training.json").read_text() == (two / "training.json").read_text()
        curves = [pd.read_csv(folder / "curves.csv") for folder in (one, two)]
        for column in ("train_loss", "dev_loss"):
            assert curves[1][column].tolist() == pytest.approx(
                curves[0][column].tolist(), abs=1e-5, nan_ok=True
            )


def test_the_record_says_how_many_processes_there_were(stores):
    for store, n_processes in zip(stores, (1, 2), strict=True):
        for record in store.glob("pretrain/*/artifact.json"):
            assert json.loads(record.read_text())["measured"]["processes"] == n_processes


def test_a_launcher_is_for_training_alone(monkeypatch):
    check_launcher("score")
    monkeypatch.setenv("WORLD_SIZE", "2")
    check_launcher("pretrain")
    with pytest.raises(StudyError, match="2 processes were launched, and score is for one"):
        check_launcher("score")
    with pytest.raises(StudyError, match="2 processes were launched for a sweep"):
        check_launcher("pretrain", is_sweep=True)


def test_a_launcher_that_starts_one_process_for_two_is_told(monkeypatch):
    monkeypatch.setenv("ACCELERATE_USE_CPU", "True")
    check_launcher("pretrain")
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    with pytest.raises(StudyError, match="use torchrun --nproc_per_node <processes> experiments/pretrain.py"):
        check_launcher("pretrain")
