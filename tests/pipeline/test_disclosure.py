"""What a cell gives away: which texts stand on each side, and that an over-trained model is caught by its loss."""

import numpy as np
import pytest
from committed import mark_slow
from over_training import train
from refusals import assert_refused

from blankfill import Filler
from blankfill.draws import keyed_rng
from mlm_vs_clm.documents import Document
from mlm_vs_clm.metrics import MEASURES
from mlm_vs_clm.pipeline import disclosure
from mlm_vs_clm.training.canaries import draw_canaries
from mlm_vs_clm.training.starts import as_kind

WORDS = "captain boat bay doctor fever tablets people state roads schools storm crew deck wheel pain towns".split()


def make(name, n, words=12, window=0):
    rng = keyed_rng(name)
    texts = [" ".join(rng.choice(WORDS, words)) for _ in range(n)]
    return [Document(f"{name}{i}-{window}", text, origin_id=f"{name}{i}") for i, text in enumerate(texts)]


def choose(monkeypatch, read, held_out):
    monkeypatch.setattr(disclosure, "list_read", lambda *about: tuple(read))
    monkeypatch.setattr(
        disclosure, "load_documents", lambda corpus, split: held_out if split == "dev" else []
    )
    return disclosure.choose_sides({"read": {}}, {"start": "s", "corpus": "c", "corpus/own": "c"})


def test_only_first_windows_as_long_as_the_held_out_ones_are_read(monkeypatch):
    read = [*make("a", 5), *make("b", 5, window=1), *make("c", 5, words=4)]
    first, second = choose(monkeypatch, read, make("h", 5))
    assert {one.id[0] for one in first} == {"a"} and len(first) == len(second) == 5
    assert choose(monkeypatch, read, make("h", 5)) == (first, second)
    assert_refused("1 texts read and 5 held out", choose, monkeypatch, read[:1], make("h", 5))


def test_both_sides_have_about_as_many_words():
    first, second = disclosure.cut_equal(make("a", 50), make("h", 20, words=20))
    assert len(first) == 33 and len(second) == 20


@pytest.mark.parametrize("kind", mark_slow(("masked", "causal"), "causal"))
def test_an_over_trained_model_is_caught_by_texts_and_canaries_and_an_honest_one_is_not(
    start, tokenizer, kind
):
    read, held_out = make("a", 16), make("h", 40, words=24)
    planted, _ = canaries = draw_canaries(held_out, read, 12, seed=0)
    model = as_kind(start, kind, tokenizer).eval()
    found = {}
    for name in ("honest", "over-trained"):
        texts = [document.text for document in read] + [canary.text for canary in planted] * 2
        asked = model if name == "honest" else train(model, tokenizer, texts, 250, kind == "masked")
        filler = Filler(asked, tokenizer, device="cpu")
        losses = [
            disclosure.ask_model([one.text for one in side[:16]], filler)
            for side in (read, make("other", 16))
        ]
        rows = disclosure.place_pairs(losses, 20)
        assert rows.shape == (20, 2) and np.isnan(rows[16:]).all()
        honest_texts = [one.text for one in make("written", 20)]
        of_canaries = disclosure.measure_canaries(canaries, honest_texts, filler)
        found[name] = [
            score("membership", rows),
            score("canary_loss", of_canaries["document", "canary_loss"]),
            score("canary_text", of_canaries["document", "canary_text"]),
        ]
    assert min(found["over-trained"][:2]) > 0.85
    assert all(0.2 < auc < 0.8 for auc in (*found["honest"], found["over-trained"][2])), found


def score(metric, rows):
    return float(MEASURES[metric].aggregate(np.nansum(rows, axis=0)))


def test_texts_that_repeat_canaries_are_caught_without_the_model():
    read, held_out = make("a", 16), make("h", 60, words=24)
    planted, control = draw_canaries(held_out, read, 20, seed=0)
    for leaked, bounds in ((planted, (0.75, 1.0)), (control, (0.0, 0.25)), ([], (0.3, 0.7))):
        texts = [one.text for one in make("written", 30)] + [canary.text for canary in leaked]
        rows = disclosure.measure_canaries((planted, control), texts, None)
        assert {*rows} == {("document", "canary_text")}
        assert bounds[0] <= score("canary_text", rows["document", "canary_text"]) <= bounds[1]


def test_a_canary_that_no_batch_held_does_not_count(monkeypatch):
    trained, held_out = make("a", 16), make("h", 60, words=24)
    monkeypatch.setattr(
        disclosure, "load_documents", lambda corpus, split: held_out if split == "test" else trained
    )
    planted, control = draw_canaries(held_out, trained, 20, seed=0)
    settings = {"read": {"canaries": 20, "seed": 0}}
    read = [*trained, *(Document(f"canary-{i}", planted[i].text) for i in (3, 7, 7))]
    monkeypatch.setattr(disclosure, "list_read", lambda inputs, settings: read)
    assert disclosure.choose_canaries(settings, {"corpus": "c"}) == ([planted[3], planted[7]], control)
    monkeypatch.setattr(disclosure, "list_read", lambda inputs, settings: trained)
    assert_refused("read 0 of 20 canaries", disclosure.choose_canaries, settings, {"corpus": "c"})


def test_the_model_that_is_asked_is_the_one_that_wrote(monkeypatch):
    records = {"g": {"budget": 500}, "c": {"name": "own"}, "m": {"objective": {"name": "mlm"}}}
    monkeypatch.setattr(disclosure, "inputs_of", lambda path: {"model": "m"})
    monkeypatch.setattr(disclosure, "read_record", lambda path: {"settings": records[path]})
    monkeypatch.setattr(disclosure, "choose_budget", lambda model, corpus, budget: (f"{corpus} {budget}", {}))
    monkeypatch.setattr("blankfill.networks.checkpoints.load_model", lambda folder, kind: (folder, kind))
    monkeypatch.setattr("blankfill.networks.checkpoints.load_tokenizer", lambda folder: None)
    monkeypatch.setattr("blankfill.Filler", lambda model, tokenizer, device: model)
    assert disclosure.load_filler({"generation": "g", "corpus": "c"}, "cpu") == ("own 500", "masked")
