"""Every class that transformers can build tiny fills and scores as a plain loop does, or says why it cannot."""

import pytest
from every_network import CLASSES, build
from plain_loops import fill_slots, write_whole
from tiny_models import roberta_like

from blankfill import fill, score
from blankfill.errors import BlankfillError
from blankfill.networks.checkpoints import model_kind
from blankfill.text import find_words

SAMPLES = ["The old captain sailed the small boat.", "A doctor."]
CHOSEN = [(2, 4, 5), (1,)]
N_WRITTEN = 6


def compare(model, tokenizer):
    """Return what differs from the plain loop; empty: nothing."""
    kind = model_kind(model)  # BART is in the lists of two kinds
    blanks = [[find_words(text)[i] for i in some] for text, some in zip(SAMPLES, CHOSEN, strict=True)]
    if kind == "seq2seq":
        made = fill(SAMPLES, blanks, model, tokenizer, source="kept", max_new_tokens=N_WRITTEN).texts
        ids = [write_whole(model, tokenizer, *pair, N_WRITTEN) for pair in zip(SAMPLES, blanks, strict=True)]
        return "texts" * (made != tokenizer.batch_decode(ids, skip_special_tokens=True))
    axes = {"order": "left_to_right"} if kind == "masked" else {}
    made = fill(SAMPLES, blanks, model, tokenizer, **axes).fills
    measured = score(SAMPLES, blanks, model, tokenizer, **axes)
    plain = [fill_slots(model, tokenizer, *pair, kind) for pair in zip(SAMPLES, blanks, strict=True)]
    if made != [fills for fills, _ in plain]:
        return "fills"
    near = [one.nats == pytest.approx(nats, rel=1e-3) for one, (_, nats) in zip(measured, plain, strict=True)]
    return "" if all(near) else "nats"


@pytest.mark.slow
@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_fills_as_a_plain_loop_or_is_refused(kind, texts):
    tokenizer, wrong, told, too_large = roberta_like(texts), {}, {}, {}
    for name in CLASSES[kind]:
        try:
            model = build(kind, name, tokenizer)
        except Exception as error:
            too_large[name] = f"{type(error).__name__}: {error}".splitlines()[0][:100]
            continue
        try:
            if differs := compare(model, tokenizer):
                wrong[name] = differs
        except BlankfillError as error:
            told[name] = str(error)
        except Exception as error:
            wrong[name] = f"{type(error).__name__}: {error}".splitlines()[0][:100]
    print(f"{kind}: {len(CLASSES[kind])} classes\nrefused: {told}\nnot built: {too_large}")
    assert not wrong
    assert len(told) + len(too_large) < len(CLASSES[kind]) / 2
