"""Model folders that a person copied, cut, mixed up or was sent: refused in one line, or the same network as whole."""

import json
import shutil

import pytest
import torch
from refusals import assert_refused
from safetensors.torch import load_file, save_file
from tiny_models import roberta

from blankfill.networks.checkpoints import load_model, load_tokenizer
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.hardware import PRECISIONS
from mlm_vs_clm.metrics.bertscore import Encoder, note_unknown
from mlm_vs_clm.training.sources import start_from_checkpoint

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
FP32 = next(name for name, dtype in PRECISIONS.items() if dtype == "float32")


@pytest.fixture(scope="module")
def whole(tokenizers, tmp_path_factory):
    """Return a folder with one file of weights, and one with several."""
    folders, tokenizer = tmp_path_factory.mktemp("whole"), tokenizers["roberta"]
    torch.manual_seed(0)
    model = roberta(tokenizer)
    for name, size in (("single", "1GB"), ("shards", "20KB")):
        model.save_pretrained(folders / name, max_shard_size=size)
        tokenizer.save_pretrained(folders / name)
    return folders


@pytest.fixture
def folder(whole, tmp_path):
    """Return a copy of the folder with one file of weights."""
    return shutil.copytree(whole / "single", tmp_path / "model")


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def embed(folder):
    return Encoder(folder, "tiny", 1, FP32, "cpu").embed(["The old captain sailed."])


def refused_by_all(folder, match):
    for read in (load_model, lambda path, kind: start_from_checkpoint(path, kind, 0)):
        assert_refused(match, read, folder, "masked")
    assert_refused(match, embed, folder)


def list_elsewhere(folder, name_of):
    index = json.loads((folder / INDEX).read_text())
    shard = sorted(index["weight_map"].values())[0]
    moved = {name: name_of(file) if file == shard else file for name, file in index["weight_map"].items()}
    edit(folder / INDEX, weight_map=moved)
    return folder / shard


def pickle(folder):
    (folder / WEIGHTS).unlink()
    torch.save({}, folder / "pytorch_model.bin")


def lose_shard(folder):
    (folder / WEIGHTS).unlink()
    index = {"metadata": {}, "weight_map": {"a": "model-00001-of-00002.safetensors"}}
    (folder / INDEX).write_text(json.dumps(index))


POINTER = "version https://git-lfs.github.com/spec/v1\n"
FAULTS = {
    "pointer": lambda f: (f / WEIGHTS).write_text(f"{POINTER}oid x\nsize 9\n"),
    "cut": lambda f: (f / WEIGHTS).write_bytes((f / WEIGHTS).read_bytes()[:-100]),
    "empty": lambda f: (f / WEIGHTS).write_bytes(b""),
    "pickled": pickle,
    "no shard": lose_shard,
    "wider": lambda f: edit(f / "config.json", hidden_size=32),
    "fewer layers": lambda f: edit(f / "config.json", num_hidden_layers=1),
    "no settings": lambda f: (f / "config.json").unlink(),
    "broken settings": lambda f: (f / "config.json").write_text("{"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_weights_that_do_not_fit_are_refused_in_one_line(folder, fault):
    FAULTS[fault](folder)
    assert_refused(str(folder), load_model, folder, "masked")


def test_a_file_is_no_model_folder(folder):
    assert_refused(r"config\.json is a file: give the folder", load_model, folder / "config.json", "masked")


@pytest.mark.parametrize("text", [None, "", "{", "[]"])
def test_a_tokenizer_is_not_made_up(folder, text):
    for path in [*folder.glob("vocab*"), *folder.glob("merges*"), *folder.glob("token*")]:
        path.unlink()
    if text is not None:
        (folder / "tokenizer.json").write_text(text)
    assert_refused(str(folder), load_tokenizer, folder)


def test_a_tokenizer_with_far_fewer_tokens_is_refused(folder):
    edit(folder / "config.json", vocab_size=30522)
    assert_refused("do not belong together", load_tokenizer, folder)


def test_weights_outside_the_folder_are_not_read(whole, tmp_path):
    """Whole weights lie there: what an index names leads nowhere else, up, absolute, below or round about."""
    folder = shutil.copytree(whole / "shards", tmp_path / "model")
    names = {
        "up": lambda file: f"../{file}",
        "absolute": lambda file: str(tmp_path / file),
        "round": lambda file: f"../{folder.name}/{file}",
        "below": lambda file: f"below/{file}",
    }
    kept = (folder / INDEX).read_bytes()
    for name_of in names.values():
        (folder / INDEX).write_bytes(kept)
        shard = list_elsewhere(folder, name_of)
        (folder / "below").mkdir(exist_ok=True)
        for place in (tmp_path, folder / "below"):
            shutil.copy(shard, place)
        refused_by_all(folder, "index.json lists .*weights are read from the folder itself only")


def test_weights_in_several_files_are_the_same_network(whole):
    single, shards = (load_model(whole / name, "masked").state_dict() for name in ("single", "shards"))
    assert all(torch.equal(single[name], shards[name]) for name in single)


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.bool, torch.complex64])
def test_weights_of_a_type_that_is_no_weight_are_refused(dtype, folder):
    weights = {name: value.to(dtype) for name, value in load_file(folder / WEIGHTS).items()}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    refused_by_all(folder, r"model\.safetensors: .* is stored as \w+, which no weight is")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_weights_of_another_precision_are_read(dtype, folder):
    weights = {name: value.to(dtype) for name, value in load_file(folder / WEIGHTS).items()}
    weights["roberta.embeddings.position_ids"] = torch.arange(3)[None]  # as older checkpoints have
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    state = load_model(folder, "masked").state_dict()
    name = "roberta.embeddings.word_embeddings.weight"
    assert torch.equal(state[name], weights[name].float())


@pytest.mark.parametrize("name", ["vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads"])
@pytest.mark.parametrize("number", [-1, 0, 10**9, "2", 2.5, None, 3])
def test_sizes_that_no_network_has_are_refused(name, number, folder):
    edit(folder / "config.json", **{name: number})
    if (name, number) == ("num_hidden_layers", 3):  # an encoder is cut to fewer
        assert_refused("lacks 8 weights", load_model, folder, "masked")
    else:
        refused_by_all(folder, "config.json|cannot be loaded|weights|do not belong together|cannot be read")


@pytest.mark.parametrize(
    "name", [WEIGHTS, "config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"]
)
def test_a_folder_where_a_file_is_needed_is_told(name, folder):
    (folder / name).unlink(missing_ok=True)
    (folder / name).mkdir()
    with pytest.raises(StudyError, match=f"{name} is a folder|holds no {name}|holds no tokenizer"):
        start_from_checkpoint(folder, "masked", 0)


def test_a_token_beyond_the_embeddings_is_refused(folder):
    """As many tokens as the model, but one id in a gap far above."""
    read = json.loads((folder / "tokenizer.json").read_text())
    read["model"]["vocab"][[*read["model"]["vocab"]][300]] = 1_000_000
    (folder / "tokenizer.json").write_text(json.dumps(read))
    assert_refused("a token of id 1,000,000 and the model 400 tokens", load_tokenizer, folder)
    assert_refused("a token of id 1,000,000", start_from_checkpoint, folder, "masked", 0)


@pytest.mark.parametrize("limit", ["x", -1, 0, 2, None, [512]])
def test_an_encoder_that_can_read_no_text_is_told(limit, folder):
    edit(folder / "tokenizer_config.json", model_max_length=limit)
    if limit is None:
        embed(folder)  # the library's default: no limit of its own
    else:
        assert_refused("leave no room for 12 tokens|cannot be read", embed, folder)


def test_an_encoder_with_numbers_that_are_none_is_told(folder):
    weights = load_file(folder / WEIGHTS)
    weights["roberta.embeddings.word_embeddings.weight"][:] = float("nan")
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    assert_refused("encoder tiny gives no finite numbers", embed, folder)


def test_an_encoder_that_only_says_it_has_a_decoder_is_told(folder):
    edit(folder / "config.json", is_encoder_decoder=True)
    assert_refused("roberta has no encoder of its own", embed, folder)


@pytest.mark.parametrize("text", ["", "{}", '{"model": 3}', POINTER])
def test_the_check_of_a_corpus_tells_a_tokenizer_that_is_damaged(text, folder):
    (folder / "tokenizer.json").write_text(text)
    with pytest.raises(StudyError, match="tokenizer.json cannot be read as a tokenizer"):
        note_unknown(folder, "tiny", ["The old captain."])
