"""A model folder that is not whole, or not of one model, ends in one line that names it."""

import json
import shutil

import pytest
import torch
from tiny_models import SMALL, roberta_like
from tiny_texts import TEXTS
from transformers import RobertaConfig, RobertaForMaskedLM

from blankfill.networks.checkpoints import load_model, load_tokenizer
from mlm_vs_clm.errors import StudyError


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder, tokenizer = tmp_path_factory.mktemp("whole"), roberta_like(TEXTS)
    RobertaForMaskedLM(RobertaConfig(vocab_size=len(tokenizer), **SMALL)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "model")


def _set(folder, **settings):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def _pickle(folder):
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")


def _lose_shard(folder):
    (folder / "model.safetensors").unlink()
    index = {"metadata": {}, "weight_map": {"a": "model-00001-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


WEIGHTS = "model.safetensors"
FAULTS = {
    "pointer": lambda f: (f / WEIGHTS).write_text(
        "version https://git-lfs.github.com/spec/v1\noid x\nsize 9\n"
    ),
    "cut": lambda f: (f / WEIGHTS).write_bytes((f / WEIGHTS).read_bytes()[:-100]),
    "empty": lambda f: (f / WEIGHTS).write_bytes(b""),
    "pickled": _pickle,
    "no shard": _lose_shard,
    "wider": lambda f: _set(f, hidden_size=32),
    "fewer layers": lambda f: _set(f, num_hidden_layers=1),
    "more layers": lambda f: _set(f, num_hidden_layers=3),
    "no settings": lambda f: (f / "config.json").unlink(),
    "broken settings": lambda f: (f / "config.json").write_text("{"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_weights_that_do_not_fit_are_refused_in_one_line(folder, fault):
    FAULTS[fault](folder)
    with pytest.raises(StudyError, match=str(folder)) as error:
        load_model(folder, "masked")
    assert "\n" not in str(error.value)


def test_a_whole_folder_is_read(folder):
    assert load_model(folder, "masked") and load_tokenizer(folder)


def test_a_file_is_no_model_folder(folder):
    with pytest.raises(StudyError, match=r"config\.json is a file: give the folder"):
        load_model(folder / "config.json", "masked")


@pytest.mark.parametrize("text", [None, "", "{", "[]"])
def test_a_tokenizer_is_not_made_up(folder, text):
    for path in [*folder.glob("vocab*"), *folder.glob("merges*"), *folder.glob("token*")]:
        path.unlink()
    if text is not None:
        (folder / "tokenizer.json").write_text(text)
    with pytest.raises(StudyError, match=str(folder)):
        load_tokenizer(folder)


def test_a_tokenizer_with_far_fewer_tokens_is_refused(folder):
    _set(folder, vocab_size=30522)
    with pytest.raises(StudyError, match="do not belong together"):
        load_tokenizer(folder)
