"""The front door: one model for many calls, streams, candidates, scores of whole texts, windows, history."""

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest
import torch
from refusals import assert_refused
from transformers import BertForMaskedLM, BertForPreTraining

from blankfill import FillConfig, Filled, Filler, fill, score
from blankfill.errors import BlankfillError
from blankfill.slots.rows import to_rows
from blankfill.slots.vocabulary import slot_bias
from blankfill.text import DocumentError, blank_out, find_words

TEXT = "The old ___ sailed the ___ boat."


@pytest.fixture(scope="module")
def filler(start, tokenizer):
    return Filler(start, tokenizer, order="left_to_right")


def endless():
    i = 0
    while True:
        yield f"The old ___ saw boat {i}."
        i += 1


def test_a_call_is_the_function(filler, start, tokenizer):
    texts = [TEXT, "No blank here."]
    made = filler(texts)
    assert made == fill(texts, "___", start, tokenizer, order="left_to_right", length="one")
    assert made.texts[1] == "No blank here." and filler(TEXT).text == made.texts[0]
    assert filler(TEXT, order="parallel") == fill(TEXT, "___", start, tokenizer, order="parallel")
    assert filler(iter([TEXT])).texts == made.texts[:1]


def test_a_folder_is_loaded_with_its_tokenizer(folder, filler):
    assert fill(TEXT, "___", str(folder), order="left_to_right").text == filler(TEXT).text
    assert Filler(folder, dtype="bfloat16").model.dtype == torch.bfloat16
    assert_refused("comes without its tokenizer", Filler, filler.model)
    for device in ("nowhere", "meta"):
        assert_refused(f"device={device} cannot be used", Filler, folder, device=device)


def test_a_model_without_an_output_layer_is_refused(start, tokenizer, tmp_path):
    start.bert.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert_refused("holds a BertModel, which has no output layer", Filler, tmp_path)


class Mine(BertForMaskedLM):
    pass


@pytest.mark.parametrize("make", [BertForPreTraining, Mine])
def test_a_checkpoint_of_another_class_is_read_where_it_has_the_weights(make, start, tokenizer, tmp_path):
    """As one is that names no class."""
    make(start.config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    filler = Filler(tmp_path)
    assert type(filler.model) is BertForMaskedLM
    settings = json.loads((tmp_path / "config.json").read_text())
    assert settings.pop("architectures") == [make.__name__]
    (tmp_path / "config.json").write_text(json.dumps(settings))
    assert Filler(tmp_path)(TEXT).text == filler(TEXT).text


def test_a_checkpoint_that_names_no_class_and_lacks_weights_is_told_so(
    start, causal_model, tokenizer, tmp_path
):
    start.bert.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    settings = json.loads((tmp_path / "config.json").read_text())
    for is_decoder, kind in ((False, "masked"), (True, "causal")):
        changed = settings | {"architectures": None, "is_decoder": is_decoder}
        (tmp_path / "config.json").write_text(json.dumps(changed))
        assert_refused(rf"the checkpoint lacks \d+ weights of a {kind} model", Filler, tmp_path)


def test_a_class_made_from_one_of_transformers_is_of_its_kind(start, tokenizer):
    model = Mine(start.config).eval()
    model.load_state_dict(start.state_dict())
    assert Filler(model, tokenizer)(TEXT).text == Filler(start, tokenizer)(TEXT).text


def test_a_second_model_is_loaded_beside_the_first(start, causal_model, tokenizer, monkeypatch):
    """Where there is a GPU too, and the first model is an object on the CPU."""
    places = []

    def load(source, device, dtype):
        places.append(device)
        return causal_model

    monkeypatch.setattr("blankfill.loading.load_named", load)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("meta"))
    assert Filler(start, tokenizer, second="name").second is causal_model
    assert places == [torch.device("cpu")]


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_threads_that_share_a_network_fill_as_one_does(name, networks, texts):
    """A network in training mode, with dropout, is in evaluation mode as long as any thread reads it."""
    model, tokenizer = networks[name]
    filler, blanks = Filler(model, tokenizer), [find_words(text)[1:9:2] for text in texts]
    model.train()
    try:
        wanted = filler(texts, blanks).fills
        with ThreadPoolExecutor(4) as threads:
            made = [*threads.map(lambda _: filler(texts, blanks).fills, range(12))]
        assert made == [wanted] * 12 and model.training
    finally:
        model.eval()


def test_a_stream_is_a_call_in_parts(filler):
    texts = [*islice(endless(), 30)]
    stream = filler.iter(endless())
    assert [str(one) for one in islice(stream, 30)] == filler(texts).texts
    taken = []

    def tell():
        for text in texts:
            taken.append(text)
            yield text

    next(filler.iter(tell()))
    assert len(taken) == 8


def test_a_stream_gives_what_comes_before_an_error(filler):
    stream = filler.iter(["a ___", "b", "c ___", "half \ud800 ___", "d"])
    assert [str(one) for one in islice(stream, 3)][1] == "b"
    assert_refused("document 3: half of a character", next, stream)
    skipped = [*filler.iter(["half \ud800 ___", "d"], on_error="skip")]
    assert "half of a character" in skipped[0].reason and skipped[1].reason is None


def test_filled_is_a_sequence(filler):
    made = filler([TEXT, "a ___"], ids=["x", "y"])
    assert isinstance(made, Filled) and len(made) == 2
    assert [(one.id, one.text) for one in made] == [*zip("xy", made.texts, strict=True)]
    assert made[-1] == made[1] and made[:1] == [made[0]] and str(made[0]) == made.texts[0]
    assert repr(made) == f"Filled({made.texts[0]!r}, {made.texts[1]!r}; 3 blanks)"
    with pytest.raises(BlankfillError, match="there are 2 filled texts"):
        _ = made.text


@pytest.mark.parametrize("order", ["left_to_right", "right_to_left", "confidence", "parallel"])
def test_history_has_every_token_in_the_order_of_writing(order, filler):
    made = filler(TEXT, order=order)
    blanks = [event.blank for event in filler.history]
    assert sorted(blanks) == [0, 1]
    passes = [event.pass_number for event in filler.history]
    assert passes == ([0, 0] if order == "parallel" else [0, 1])
    assert blanks == {"left_to_right": [0, 1], "right_to_left": [1, 0]}.get(order, blanks)
    for event in filler.history:
        assert filler.tokenizer.decode(filler.tokenizer.convert_tokens_to_ids(event.token)) in made.text


def brute_force(model, tokenizer, order):
    """Return the log-probability of every pair of tokens by plain passes."""
    spans = [(8, 11), (23, 26)]
    row = to_rows([blank_out("0", TEXT, spans, [1, 1])], tokenizer, None)[0]
    bias, places = slot_bias(tokenizer, model.config.vocab_size), row.slots
    row.mask(tokenizer.mask_token_id)
    legal = [torch.isfinite(bias[kind]).nonzero().flatten().tolist() for kind in row.kinds]
    first, second = (1, 0) if order == "right_to_left" else (0, 1)

    @torch.no_grad()
    def read(ids):
        return model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)

    found, opening = {}, read(row.ids)
    for token in legal[first]:
        ids = [*row.ids]
        ids[places[first]] = token
        then = opening if order == "parallel" else read(ids)
        for other in legal[second]:
            pair = (token, other) if first == 0 else (other, token)
            found[pair] = float(opening[places[first], token] + then[places[second], other])
    return found


@pytest.mark.parametrize("order", ["left_to_right", "right_to_left", "parallel"])
def test_candidates_are_those_of_brute_force(order, start, tokenizer, filler):
    found = brute_force(start, tokenizer, order)
    best = sorted(found.values(), reverse=True)[:6]
    made = filler.candidates(TEXT, k=6, beam=len(tokenizer), order=order)
    assert [one.log_probability for one in made] == pytest.approx(best, rel=1e-5)
    for one in made:
        pair = tuple(tokenizer.convert_tokens_to_ids(tokens[0]) for tokens in one.tokens)
        assert one.log_probability == pytest.approx(found[pair], rel=1e-5)


@pytest.mark.parametrize("order", ["left_to_right", "random", "spread", "confidence", "entropy", "margin"])
def test_a_candidate_is_as_likely_as_score_says(order, filler):
    for one in filler.candidates(TEXT, k=3, order=order):
        assert_scored_alike(filler, one, order=order)


def assert_scored_alike(filler, one, **settings):
    start = 8 + len(one.words[0]) + len(" sailed the ")
    spans = [(8, 8 + len(one.words[0])), (start, start + len(one.words[1]))]
    assert [one.text[slice(*span)] for span in spans] == one.words
    assert filler.score(one.text, spans, **settings).nats == pytest.approx(-one.log_probability, rel=1e-4)


@pytest.mark.parametrize("settings", [{}, {"context": "both"}, {"context": "masked_left"}])
def test_candidates_of_a_causal_model(settings, causal_model, tokenizer):
    filler = Filler(causal_model, tokenizer, **settings)
    made = filler.candidates([TEXT, "Nothing."], k=2)
    assert len(made[0]) == 2 and made[1][0].text == "Nothing."
    for one in made[0]:
        assert_scored_alike(filler, one)


def test_the_first_candidate_is_never_worse_than_the_fill(filler):
    made, best = filler(TEXT), filler.candidates(TEXT, k=1)[0]
    scored = [-filler.score(text, spans).nats for text, spans in zip(made.texts, made.spans, strict=True)]
    assert best.log_probability >= scored[0] - 1e-4


def test_pseudo_likelihood_masks_each_token_alone(start, tokenizer, filler):
    text, total = "The old captain sailed.", 0.0
    ids = tokenizer(text)["input_ids"]
    for place in range(1, len(ids) - 1):
        masked = [*ids]
        masked[place] = tokenizer.mask_token_id
        with torch.no_grad():
            total -= float(
                start(input_ids=torch.tensor([masked])).logits[0, place].log_softmax(-1)[ids[place]]
            )
    one = filler.score(text, method="pseudo")
    assert one.nats == pytest.approx(total, rel=1e-5)
    assert one.tokens == len(ids) - 2 and one.characters == len(text)
    assert one == score(text, None, start, tokenizer, method="pseudo")


def test_pseudo_likelihood_refuses_what_it_would_not_heed(start, tokenizer, filler):
    for settings in ({"order": "parallel"}, {"context": "left"}, {"length": "one"}, {"seed": 1}):
        with pytest.raises(BlankfillError, match="changes nothing about method pseudo"):
            filler.score(TEXT.replace("___", "man"), method="pseudo", **settings)
    left = Filler(start, tokenizer, context="left", order="left_to_right")
    assert_refused("sees both sides", left.score, "The old man sailed.", method="pseudo")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"max_length": 3}, "max_length needs length=free"),
        ({"sweeps": 2, "order": "random", "temperature": 1.0}, "sweeps needs order=gibbs"),
        ({"per_pass": 4, "passes": 2}, "per_pass changes nothing beside passes"),
        ({"per_pass": 4, "order": "parallel"}, "per_pass changes nothing beside order=parallel"),
        ({"passes": 3, "order": "parallel"}, "passes changes nothing beside order=parallel"),
        (
            {"passes": 3, "order": "spread", "schedule": "cosine"},
            "schedule changes nothing beside order=spread",
        ),
        (
            {"per_pass": 4, "order": "confidence", "threshold": 0.5},
            "per_pass changes nothing beside threshold",
        ),
    ],
)
def test_a_setting_that_another_makes_useless_is_refused(settings, told):
    assert_refused(told, FillConfig, **settings)
    FillConfig(max_length=3, length="free")
    FillConfig(sweeps=2, order="gibbs", temperature=1.0)


def test_a_stream_yields_all_before_the_first_that_cannot_be_filled(filler, monkeypatch):
    fill_all, asked = filler._fill, []

    def fill_some(way, chunk, *about):
        """Fail for the texts 4 and 2, in that order, as a network does that reads long texts first."""
        ids = [text.id for text, _ in chunk]
        asked.append(len(ids))
        for id in ("4", "2"):
            if id in ids:
                raise DocumentError(id, "cannot be filled")
        return fill_all(way, chunk, *about)

    monkeypatch.setattr(filler, "_fill", fill_some)
    stream = filler.iter([f"The old ___ saw boat {i}." for i in range(6)])
    assert [next(stream).text for _ in range(2)] and asked == [6, 4, 2]
    with pytest.raises(DocumentError, match="document 2"):
        next(stream)


def test_long_texts_are_filled_in_windows(filler, start, tokenizer, texts):
    long = " ".join(texts * 3)
    spans = find_words(long)[::5]
    made = filler(long, [spans])
    assert len(to_rows([blank_out("d", long, spans)], tokenizer, None)[0].ids) > 2 * 128
    assert all(made.fills[0]) and [made.texts[0][slice(*span)] for span in made.spans[0]] == made.fills[0]
    kept = 0
    for (start_, end), (_, after), fill_ in zip(spans, made.spans[0], made.fills[0], strict=True):
        assert made.texts[0][after - len(fill_) - (start_ - kept) : after - len(fill_)] == long[kept:start_]
        kept = end
    assert [event.blank for event in filler.history] == sorted(event.blank for event in filler.history)
    one = filler.score(long, [spans])
    assert one.tokens == len(to_rows([blank_out("d", long, spans)], tokenizer, None)[0].slots)
    assert filler.score(long, method="pseudo").tokens >= one.tokens


def test_a_window_carries_the_left_side(causal_model, tokenizer, texts):
    """A causal model's likelihood by windows is the sum over windows with the originals to the left."""
    filler = Filler(causal_model, tokenizer)
    long = " ".join(texts * 3)
    spans = find_words(long)[::7]
    nats = sum(score(long, [[span]], causal_model, tokenizer).nats for span in spans)
    assert filler.score(long, [spans]).nats == pytest.approx(nats, rel=0.2)
    best = filler.candidates(long.replace("captain", "___", 1), k=1)[0]
    assert best.text.count("___") == 0 and len(best.text) > 900
    assert_refused("do not fit one window", filler.candidates, long, 1, [[spans[0], spans[-1]]])


REFUSED = {
    "marker to score": (lambda f: f.score("Take ___ now"), "a marker ___, where nothing stands to score"),
    "marker as spans": (lambda f: f.score("Take two", "___"), "a marker has no original"),
    "order": (lambda f: f("a ___", order="up"), "order=up is unknown"),
    "name": (lambda f: f("a ___", colour=1), "colour is no setting"),
    "context": (lambda f: f("a ___", context="leaky"), "reads the originals, and a marked blank has none"),
    "method": (lambda f: f.score("a", method="x"), "method=x is unknown"),
    "effect": (lambda f: f.score("a", temperature=1.0), "temperature changes nothing"),
    "k": (lambda f: f.candidates("a ___", k=0), "k=0"),
    "no k": (lambda f: f.candidates("a ___", k=None), "k=None"),
    "beam": (lambda f: f.candidates("a ___", k=5, beam=2), "beam=2 is narrower"),
    "gibbs": (lambda f: f.candidates("a ___", order="gibbs"), "fills a slot more than once"),
    "texts": (lambda f: f(3), "texts: a list is needed"),
    "a number as an array": (lambda f: f(torch.tensor(3)), "texts: a list is needed, this is a Tensor"),
    "ids": (lambda f: [*f.iter(["a ___", "b ___"], ids=["x"])], "ids: there are 1, and more texts"),
}


@pytest.mark.parametrize("wrong", REFUSED)
def test_mistakes_are_told_in_words_of_the_library(wrong, filler):
    call, message = REFUSED[wrong]
    with pytest.raises(BlankfillError, match=message) as error:
        call(filler)
    assert not {"axis", "axes", "writer"} & {*str(error.value).split()} and "arm." not in str(error.value)


def test_settings_are_checked_before_a_model_is_loaded():
    settings = {"order": "entropy", "entropy_bound": 1.5}
    assert FillConfig(**settings).of_model() == settings
    for wrong in ({"order": "up"}, {"top_p": 0}, {"passes": 2, "threshold": 0.5}, {"per_pass": 0}):
        with pytest.raises(BlankfillError):
            Filler("no/such-model", **wrong)
