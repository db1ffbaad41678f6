"""Checkpoints from a folder: every class is taken, trained, saved, reloaded and fills; every wrong one is one line."""

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper, save
from refusals import assert_refused
from tiny_models import NETWORKS
from tiny_trainings import NOISE, TRAINING, train_tiny
from transformers import DistilBertConfig, DistilBertForTokenClassification

from blankfill import fill
from blankfill.draws import keyed_rng
from blankfill.networks.checkpoints import load_model, load_tokenizer, model_kind
from mlm_vs_clm.corpora.packages import locate
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.pipeline.artifacts import RECORD, Runtime
from mlm_vs_clm.pipeline.model_stages import make_start, refuse_unknown_corpus
from mlm_vs_clm.training.batches import find_target_tokens, pad_examples, tokenize
from mlm_vs_clm.training.budgets import choose_budget
from mlm_vs_clm.training.loss import PredictedLoss
from mlm_vs_clm.training.objectives import OBJECTIVES
from mlm_vs_clm.training.onnx import read_distilbert, read_tagger, read_weights
from mlm_vs_clm.training.sources import (
    load_start,
    read_start_info,
    refuse_new_head,
    start_from_checkpoint,
    start_from_encoder,
)
from mlm_vs_clm.training.starts import train_tokenizer

OBJECTIVE = {"masked": "mlm", "causal": "clm", "seq2seq": "seq2seq"}


@pytest.fixture(scope="module")
def folders(networks, tmp_path_factory):
    """Return a checkpoint folder for every class, as a user would have one."""
    made = {}
    for name, (model, tokens) in networks.items():
        made[name] = tmp_path_factory.mktemp(name)
        model.save_pretrained(made[name])
        tokens.save_pretrained(made[name])
    return made


def shapes(state):
    return {name: value.shape for name, value in state.items()}


def make(source, kind, folder, **settings):
    settings = {"start": "checkpoint", "source": str(source), "kind": kind, "seed": 0} | settings
    folder.mkdir(exist_ok=True)
    make_start(settings, {}, folder, Runtime(show_progress=False))
    return folder


@pytest.mark.parametrize("name", NETWORKS)
def test_every_class_is_taken_learns_is_stored_and_fills(name, folders, texts, tmp_path):
    """The loss on a few texts falls, and the stored model has it again."""
    kind, folder = NETWORKS[name][2], tmp_path / "trained"
    start = make(folders[name], kind, tmp_path / "start")
    tokenizer = load_tokenizer(start)
    assert tokenizer.pad_token_id is not None and not read_start_info(start).has_new_head
    before = load_model(folders[name], kind).state_dict()
    model = load_start(start, kind, tokenizer)
    assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())
    documents = tokenize(texts, tokenizer, 64, kind)
    way = replace(TRAINING, token_budget=4000, budgets=1, body_learning_rate=1e-2)
    train_tiny(model, tokenizer, documents, folder, OBJECTIVE[kind], way)
    files = {path.suffix for path in folder.rglob("*")}
    assert ".safetensors" in files and not files & {".bin", ".pt", ".pkl"}
    curve = pd.read_csv(folder / "curves.csv").query("corpus == 'a'")["dev_loss"].tolist()
    assert curve[-1] < curve[0]
    best, _ = choose_budget(folder, "a")
    trained, tokenizer = load_model(best, kind), load_tokenizer(best)
    moved = trained.state_dict()
    assert moved.keys() == before.keys() and any(not torch.equal(before[key], moved[key]) for key in before)
    objective, marks = OBJECTIVES[OBJECTIVE[kind]], find_target_tokens(tokenizer, trained)
    noisy = [
        objective.make_example(document, NOISE, marks, keyed_rng(1, "noise", 0, i))
        for i, document in enumerate(documents[:2])
    ]
    with torch.no_grad():
        loss = PredictedLoss(trained)(**pad_examples(noisy, tokenizer.pad_token_id))
    assert loss.item() == pytest.approx(curve[-1], rel=1e-4)
    axes = {"source": "kept", "max_new_tokens": 8} if kind == "seq2seq" else {}
    filled = fill([texts[0]], [[(4, 7)]], trained, tokenizer, **axes)
    assert kind == "seq2seq" or (filled.fills[0][0] and filled.texts[0].startswith("The "))


def test_an_encoder_without_output_layer_gets_a_new_one_by_its_seed(folders, tmp_path):
    load_model(folders["roberta"], "masked").roberta.save_pretrained(tmp_path / "encoder")
    load_tokenizer(folders["roberta"]).save_pretrained(tmp_path / "encoder")
    drawn = [make(tmp_path / "encoder", "masked", tmp_path / str(i), seed=i // 2) for i in range(3)]
    assert read_start_info(drawn[0]).has_new_head
    heads = [load_model(folder, "masked").lm_head.dense.weight for folder in drawn]
    assert torch.equal(heads[0], heads[1]) and not torch.equal(heads[0], heads[2])
    assert_refused("arm mlm_general .* no language-modelling head", refuse_new_head, drawn[0], "mlm_general")


@pytest.mark.parametrize(("name", "kind"), [("gpt2", "masked"), ("bert", "seq2seq"), ("t5", "causal")])
def test_a_checkpoint_of_another_kind_is_one_line(name, kind, folders, tmp_path):
    told_kinds = f"{name} checkpoint is not a {kind} model|where a {kind} one is needed"
    assert_refused(told_kinds, make, folders[name], kind, tmp_path)


def test_a_source_that_cannot_be_read_is_one_line(folders, tmp_path):
    (tmp_path / "empty").mkdir()
    assert_refused("no/such-model .* give the path", start_from_checkpoint, "no/such-model", "masked", 0)
    assert_refused("safetensors only", start_from_checkpoint, tmp_path / "empty", "masked", 0)
    assert_refused("does not exist", locate, "./nowhere", Path("data"))
    assert_refused("does not exist", locate, "~no-such-user/model", Path("data"))
    assert_refused("package:gpt9 is unknown", locate, "package:gpt9", Path("data"))
    (tmp_path / "model.gguf").write_bytes(b"GGUF but no more")
    assert_refused("GGUF", start_from_checkpoint, tmp_path / "model.gguf", "causal", 0)


def test_pickled_weights_are_never_read(folders, tmp_path):
    model, tokenizer = load_model(folders["bert"], "masked"), load_tokenizer(folders["bert"])
    model.config.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    assert_refused("safetensors only", start_from_checkpoint, tmp_path, "masked", 0)


def test_a_folder_that_changed_is_told(folders, tmp_path):
    assert_refused("changed while it was read", make, folders["bert"], "masked", tmp_path, sha256="0" * 64)


def test_a_text_opens_with_the_mark_that_is_asked_for(folders, tmp_path):
    start = make(folders["llama"], "causal", tmp_path, opening="</s>")
    tokenizer = load_tokenizer(start)
    assert tokenize(["a"], tokenizer, 8, "causal")[0].ids[0] == tokenizer.convert_tokens_to_ids("</s>")
    assert json.loads((start / "start.json").read_text())["kind"] == "causal"
    with pytest.raises(StudyError, match="model.opening=<text> is no token of"):
        make(folders["llama"], "causal", tmp_path, opening="<text>")


def test_a_causal_checkpoint_becomes_a_masked_model_that_sees_both_sides(folders, texts, tmp_path):
    start = make(folders["llama"], "masked", tmp_path / "start", bidirectional=True)
    tokenizer = load_tokenizer(start)
    documents = tokenize(texts, tokenizer, 64, "masked")
    train_tiny(load_start(start, "masked", tokenizer), tokenizer, documents, tmp_path / "trained", "mlm")
    trained, _ = choose_budget(tmp_path / "trained", "a")
    model = load_model(trained, "masked")
    ids = torch.tensor([[5, tokenizer.mask_token_id, 6], [5, tokenizer.mask_token_id, 7]])
    seen = torch.tensor([[1, 1, 1], [1, 1, 0]])
    for mask in (None, torch.ones_like(seen)):
        logits = model(input_ids=ids, attention_mask=mask).logits[:, 1]
        assert not torch.allclose(logits[0], logits[1])
    with torch.no_grad():
        alone = model(input_ids=ids[1:, :2]).logits
        padded = model(input_ids=ids, attention_mask=seen).logits
    torch.testing.assert_close(alone[0], padded[1, :2])
    filled = fill([texts[0]], [[(4, 7)]], model, tokenizer, order="left_to_right")
    assert filled.fills[0][0] and filled.ledger.passes
    assert_refused("a masked checkpoint .* where a causal one", load_model, trained, "causal")


def write_graph(path, matrices, tables, norms):
    """Write an int8 graph as onnx.quantize leaves it: matrices renamed, transposed and scaled; tables by name."""
    tensors, nodes = [], []

    def add(stem, value, zero):
        whole = np.clip(np.round(value / 0.01) + zero, *((0, 255) if zero else (-128, 127)))
        kind = np.uint8 if zero else np.int8
        for ending, array in (
            ("quantized", whole.astype(kind)),
            ("scale", np.float32(0.01)),
            ("zero_point", kind(zero)),
        ):
            tensors.append(numpy_helper.from_array(np.asarray(array), f"{stem}_{ending}"))

    for number, (module, weight) in enumerate(matrices.items()):
        add(f"onnx::MatMul_{number}", weight.T, 0)
        inputs = ["x", f"onnx::MatMul_{number}_DequantizeLinear_Output"]
        nodes.append(helper.make_node("MatMul", inputs, [f"y{number}"], f"/{module}/MatMul_quant"))
    for name, value in tables.items():
        add(name, value, 128)
    tensors += [numpy_helper.from_array(value, name) for name, value in norms.items()]
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, [None, None])
    y = helper.make_tensor_value_info("y0", TensorProto.INT32, [None, None])
    save(helper.make_model(helper.make_graph(nodes, "g", [x], [y], tensors)), path)


def test_onnx_weights_come_back_under_their_modules(tmp_path):
    weight, table = np.array([[0.1, -0.2], [0.3, 0.0], [0.05, 1.27]]), np.array([[-1.28, 0.5]])
    norm = np.array([1.5, 2.0], dtype=np.float32)
    tables, norms = {"enc.table.weight": table}, {"enc.norm.weight": norm}
    write_graph(tmp_path / "g.onnx", {"enc/q": weight}, tables, norms)
    read = read_weights(tmp_path / "g.onnx")
    assert read.keys() == {"enc.q.weight", "enc.table.weight", "enc.norm.weight"}
    assert read["enc.q.weight"].numpy() == pytest.approx(weight, abs=1e-6)
    assert read["enc.table.weight"].numpy() == pytest.approx(table, abs=1e-6)
    assert read["enc.norm.weight"].tolist() == norm.tolist()


def test_graphs_of_another_network_are_one_line(tmp_path):
    (tmp_path / "tagger.onnx").write_bytes(b"\xff\xff no graph")
    assert_refused("tagger.onnx: cannot be read as an ONNX graph", read_distilbert, tmp_path, 0)
    write_graph(tmp_path / "tagger.onnx", {"enc/q": np.eye(2)}, {}, {})
    assert_refused("not that of a DistilBERT", read_distilbert, tmp_path, 0)


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    """The folder of a tiny DistilBERT tagger as an int8 graph, with its tags and a tokenizer that cuts; and its weights."""
    folder = tmp_path_factory.mktemp("tagger")
    torch.manual_seed(3)
    tokenizer = train_tokenizer(["some words to learn, and more words"] * 3, 60)
    tokenizer.backend_tokenizer.enable_truncation(4)
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    shape = {"dim": 64, "n_heads": 1, "n_layers": 2, "hidden_dim": 96, "max_position_embeddings": 32}
    tags = ["$KEEP", "$DELETE", "$CASE_LOWER"]
    (folder / "tag_vocab.json").write_text(json.dumps({"tags": tags}))
    config = DistilBertConfig(vocab_size=len(tokenizer), num_labels=len(tags), **shape)
    model = DistilBertForTokenClassification(config)
    weights = {n: v.detach().numpy() for n, v in model.state_dict().items()}
    ends = ("_lin.weight", "lin1.weight", "lin2.weight", "classifier.weight")
    inner = [n for n in weights if n.endswith(ends)]
    tables = [n for n in weights if n.endswith("_embeddings.weight")]
    rest = {n: v for n, v in weights.items() if n not in inner and n not in tables}
    modules = {
        n.removesuffix(".weight").replace(".", "/").replace("layer/", "layer."): weights[n] for n in inner
    }
    write_graph(folder / "tagger.onnx", modules, {n: weights[n] for n in tables}, rest)
    return folder, weights


def test_a_tagger_comes_back_as_a_masked_model_with_a_new_head(tagger):
    folder, weights = tagger
    model, tokenizer, note = start_from_checkpoint(folder, "masked", 0)
    read, again = model.state_dict(), start_from_checkpoint(folder, "masked", 0)[0].state_dict()
    kept = {name: value for name, value in weights.items() if name.startswith("distilbert.")}
    assert all(read[name].numpy() == pytest.approx(value, abs=0.0051) for name, value in kept.items())
    assert note.has_new_head and torch.equal(again["vocab_transform.weight"], read["vocab_transform.weight"])
    assert model.vocab_projector.weight is model.distilbert.embeddings.word_embeddings.weight
    assert len(tokenizer("some words to learn, and more words").input_ids) > 4
    assert tokenizer.mask_token_id is not None
    assert_refused("causal", start_from_checkpoint, folder, "causal", 0)


@pytest.mark.parametrize("layers", [0, 1])
def test_the_lower_layers_of_a_distilbert_as_a_bert_are_its_own(layers, tagger):
    """Hidden states are equal to the last bit; the head is drawn from the seed, whatever was drawn before."""
    distilled, tokenizer, _ = read_distilbert(tagger[0], 0)
    model, tokens = start_from_encoder(tagger[0], 0, layers=layers)
    assert len(model.bert.encoder.layer) == model.config.num_hidden_layers == (layers or 2)
    asked = tokenizer(["some words to learn", "more"], padding=True, return_tensors="pt")
    assert tokens("some words").input_ids == tokenizer("some words").input_ids
    with torch.no_grad():
        theirs = distilled.eval()(**asked, output_hidden_states=True).hidden_states
        ours = model.eval()(**asked, output_hidden_states=True).hidden_states
    assert all(torch.equal(*pair) for pair in zip(theirs[: len(ours)], ours, strict=True))
    assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight
    again, _ = start_from_encoder(tagger[0], 0, layers=layers)
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in model.state_dict().items())


def test_lower_layers_become_every_kind_and_a_new_network(tagger, tmp_path):
    settings = {"start": "encoder", "encoder": str(tagger[0]), "seed": 0, "layers": 1}
    make_start(settings, {}, tmp_path, Runtime(show_progress=False))
    tokenizer = load_tokenizer(tmp_path)
    sizes = [load_start(tmp_path, kind, tokenizer).num_parameters() for kind in OBJECTIVE]
    assert sizes[0] == sizes[1] < sizes[2]
    new, _ = start_from_encoder(tagger[0], 0, is_new=True, layers=1)
    assert shapes(new.state_dict()) == shapes(load_start(tmp_path, "masked", tokenizer).state_dict())
    assert_refused("model.layers=3: the encoder has 2", start_from_encoder, tagger[0], 0, layers=3)


def test_another_family_with_known_parts_becomes_every_kind_too(folders, texts, tmp_path):
    make_start({"start": "encoder", "encoder": str(folders["roberta"]), "seed": 0}, {}, tmp_path, Runtime())
    tokenizer = load_tokenizer(tmp_path)
    for kind in OBJECTIVE:
        model = load_start(tmp_path, kind, tokenizer)
        assert model_kind(model) == kind
        weights = model.encoder.embeddings if kind == "seq2seq" else model.roberta.embeddings
        own = load_model(folders["roberta"], "masked").roberta.embeddings.state_dict()
        assert all(torch.equal(value, own[name]) for name, value in weights.state_dict().items())
        axes = {"source": "kept", "max_new_tokens": 8} if kind == "seq2seq" else {}
        assert fill([texts[0]], [[(4, 7)]], model, tokenizer, **axes).texts[0]
    assert_refused("this is gpt2", start_from_encoder, folders["gpt2"], 0)


def test_a_tagger_comes_back_with_its_tags_and_its_layer(tagger, tmp_path):
    folder, weights = tagger
    model, tokenizer = read_tagger(folder)
    read = model.state_dict()
    assert read.keys() == weights.keys() and model.config.id2label[1] == "$DELETE"
    assert all(read[name].numpy() == pytest.approx(value, abs=0.0051) for name, value in weights.items())
    assert len(tokenizer("some words to learn, and more words").input_ids) > 4
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("tag_vocab.json"))
    assert_refused("its tags are not those of a DistilBERT tagger", read_tagger, tmp_path)


@pytest.mark.parametrize("name", NETWORKS)
def test_dropout_is_off_whatever_a_checkpoint_came_with(name, folders, texts, tmp_path):
    """A pass in training mode says what one in evaluation mode says."""
    kind = NETWORKS[name][2]
    model = load_start(make(folders[name], kind, tmp_path), kind, load_tokenizer(folders[name]))
    batch = {"input_ids": torch.arange(5, 25)[None]}
    batch |= {"decoder_input_ids": batch["input_ids"]} if kind == "seq2seq" else {}
    with torch.no_grad():
        assert torch.equal(model.eval()(**batch).logits, model.train()(**batch).logits)


def test_random_weights_take_shape_and_tokenizer_of_an_encoder_and_only_those(folders, tmp_path):
    made = {}
    for name, start in (("new", "scratch"), ("again", "scratch"), ("pretrained", "encoder")):
        folder = tmp_path / name
        make_start({"start": start, "encoder": str(folders["bert"]), "seed": 1}, {}, folder, Runtime())
        made[name] = load_model(folder, "masked").state_dict()
    layer = "bert.encoder.layer.0.output.dense.weight"
    assert shapes(made["new"]) == shapes(made["pretrained"])
    assert torch.equal(made["new"][layer], made["again"][layer])
    assert not torch.equal(made["new"][layer], made["pretrained"][layer])
    assert load_tokenizer(tmp_path / "new").get_vocab() == load_tokenizer(folders["bert"]).get_vocab()


def test_a_corpus_in_a_script_that_the_model_does_not_know_is_one_line(
    tokenizer, tokenizers, texts, tmp_path
):
    for name, about in (("start", {"name": "tiny", "source": "a/b"}), ("corpus", {"name": "own"})):
        (tmp_path / name).mkdir()
        (tmp_path / name / RECORD).write_text(json.dumps({"settings": about}))
    check = partial(refuse_unknown_corpus, tmp_path / "start", corpus=tmp_path / "corpus")
    check(tokenizer, texts=texts)
    check(tokenizers["gpt2"], texts=["Принимать две таблетки"])  # it knows every byte
    with pytest.raises(StudyError, match=r"model tiny \(a/b\): 100% of the tokens of corpus own are unknown"):
        check(tokenizer, texts=["Принимать две таблетки"])
