"""Variants of labelled texts: what changes, what never does, where labels go, and that no other text has a say."""

import re
from collections import namedtuple

import numpy as np
import pytest
import torch
from corpus_files import put
from datasets import Dataset, Features, Sequence, Value
from refusals import SECRET, assert_refused
from tiny_models import NETWORKS

from blankfill import BlankfillError, InfillAugmenter, augment, find_words
from blankfill.augmenting.choosing import STRATEGIES
from blankfill.augmenting.labels import join, move_entities, move_span, read_entities
from blankfill.draws import keyed_rng
from blankfill.loading import load_named
from blankfill.text import SPELT
from mlm_vs_clm.corpora.readers import bio, brat
from mlm_vs_clm.documents import Document, Entity
from mlm_vs_clm.tools.brat_export import write_standoff

DOSE = "The doctor said: take one tablet a day, and call me if the pain returns."
LABELS = [{"start": 17, "end": 32, "label": "dose", "id": 7}, {"start": 59, "end": 63, "label": "ill"}]


@pytest.fixture(scope="module")
def augmenter(start, tokenizer):
    return InfillAugmenter(start, tokenizer, share=0.5)


def skeleton(text, blanks):
    """Return what stands outside of the blanks, piece by piece."""
    edges = [0, *(edge for blank in blanks for edge in blank), len(text)]
    return [text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]


def draw_case(seed):
    """Return a text, some of its words as blanks, fills of any length, and spans of whole and of cut words."""
    rng = keyed_rng(seed, "case")
    text = "".join(
        rng.choice(["old", "captain-cook", "é", "😀", "3.5", "mg"]) + rng.choice([" ", ", ", "\n  "])
        for _ in range(12)
    )
    words = find_words(text)
    numbers = sorted(rng.choice(len(words), size=rng.integers(0, len(words)), replace=False))
    blanks = [words[i] for i in numbers]
    fills = [str(rng.choice(["x", "longer word", "mg", "naïve"])) for _ in blanks]
    spans = [tuple(sorted(rng.choice(len(text) + 1, size=2, replace=False))) for _ in range(6)]
    edges = [words[i] for i in sorted(rng.choice(len(words), size=2, replace=False))]
    return text, blanks, fills, sorted([*((int(a), int(b)) for a, b in spans), (edges[0][0], edges[1][1])])


@pytest.mark.parametrize("seed", range(60))
def test_moved_spans_cover_characters_in_order_and_leave_others_alone(seed):
    text, blanks, fills, spans = draw_case(seed)
    new = join(text, blanks, fills)
    assert skeleton(text, blanks) == skeleton(new, [move_span(blank, blanks, fills) for blank in blanks])
    moved = [move_span(span, blanks, fills) for span in spans]
    starts = [start for start, _ in moved]
    assert starts == sorted(starts) and all(0 <= start < end <= len(new) for start, end in moved)
    for (start, end), (new_start, new_end) in zip(spans, moved, strict=True):
        touched = [i for i, (first, last) in enumerate(blanks) if first < end and start < last]
        if not touched:
            assert new[new_start:new_end] == text[start:end]
        elif len(touched) == 1 and start >= blanks[touched[0]][0] and end <= blanks[touched[0]][1]:
            assert new[new_start:new_end] == fills[touched[0]]
        else:
            wide = min(start, blanks[touched[0]][0]), max(end, blanks[touched[-1]][1])
            inside = [(first - wide[0], last - wide[0]) for first, last in (blanks[i] for i in touched)]
            assert new[new_start:new_end] == join(text[slice(*wide)], inside, [fills[i] for i in touched])


def test_a_variant_by_hand():
    text, blanks, fills = "Aspirin cut high fever.", [(0, 7), (12, 16)], ["Zinc", "the"]
    rows = [(0, 7, "Drug"), (12, 22, "Ill"), (17, 22, "Ill")]
    entities = read_entities("document 0", text, rows)
    assert join(text, blanks, fills) == "Zinc cut the fever."
    kept, left = (move_entities(entities, way, text, blanks, fills) for way in ("keep", "drop_replaced"))
    assert kept == [(0, 4, "Drug"), (9, 18, "Ill"), (13, 18, "Ill")] and left == kept[1:]
    back = move_entities(entities, "drop_replaced", text, blanks, ["Aspirin", "the"])
    assert back[0] == (0, 7, "Drug")


def test_an_entity_comes_back_in_its_form():
    rows = [{"start": 4, "end": 7, "type": "Drug", "text": "tea", "score": 0.5}, [4, 7, "Drug"], (4, 7)]
    entities = read_entities("document 0", "hot tea", rows)
    moved = move_entities(entities, "keep", "hot tea", [(0, 3), (4, 7)], ["cold", "milk"])
    assert moved[0] == {"start": 5, "end": 9, "type": "Drug", "text": "milk", "score": 0.5}
    assert moved[1:] == [[5, 9, "Drug"], (5, 9)] and rows[0]["start"] == 4


def test_variants_keep_what_is_outside_the_blanks_and_move_labels(augmenter, texts):
    for text in [DOSE, *texts, "", "  ", "— …"]:
        rows = [(start, end, "word") for start, end in find_words(text)]
        for variant in augmenter.augment(text, n=3, entities=rows):
            assert [row[2] for row in variant["entities"]] == ["word"] * len(rows)
            spans = [tuple(row[:2]) for row in rows], [tuple(row[:2]) for row in variant["entities"]]
            assert skeleton(text, spans[0]) == skeleton(variant["text"], spans[1])
            words = [
                [of[slice(*span)] for span in at]
                for of, at in zip((text, variant["text"]), spans, strict=True)
            ]
            spelt = [i for i, word in enumerate(words[0]) if SPELT.match(word)]
            changed = [i for i, (old, new) in enumerate(zip(*words, strict=True)) if old != new]
            assert {*changed} <= {*spelt} and len(changed) <= int(len(spelt) / 2 + 0.5)


TITLE = "Effect of L-alpha-glyceryl-phosphorylcholine on amnesia caused by scopolamine."  # PubMed 2071257, in BC5CDR
ANN = "T1\tChemical 10 44\tL-alpha-glyceryl-phosphorylcholine\nT2\tDisease 48 55\tamnesia\nT3\tChemical 66 77\tscopolamine\n"
TAGS = ["O", "O", "B-Chemical", "O", "B-Disease", "O", "O", "B-Chemical", "O"]


def test_documents_of_brat_and_bio_files(augmenter, start, tokenizer, tmp_path):
    put(tmp_path, "brat/a.txt", TITLE)
    put(tmp_path, "brat/a.ann", ANN)
    tokens = TITLE.replace(".", " .").split()
    lines = [f"{token} {tag}" for token, tag in zip(tokens, TAGS, strict=True)]
    put(tmp_path, "a.bio", "\n".join(lines))
    for document in (brat.read(tmp_path / "brat").documents[0], bio.read(tmp_path / "a.bio").documents[0]):
        rows = [(entity.start, entity.end, entity.type) for entity in document.entities]
        assert [row[2] for row in rows] == ["Chemical", "Disease", "Chemical"]
        for variant in augmenter.augment(document.text, n=3, entities=rows):
            edges = [edge for row in variant["entities"] for edge in row[:2]]
            assert edges == sorted(edges) and edges[-1] <= len(variant["text"])
            assert [row[2] for row in variant["entities"]] == [row[2] for row in rows]
        kept = InfillAugmenter(start, tokenizer, share=1.0, strategy="outside_entities")
        (variant,) = kept.augment(document.text, entities=rows)
        made = Document("b", variant["text"], entities=tuple(Entity(*row) for row in variant["entities"]))
        write_standoff([made], tmp_path / f"out-{document.id}")
        (again,) = brat.read(tmp_path / f"out-{document.id}").documents
        surfaces = [[of.text[e.start : e.end] for e in of.entities] for of in (document, again)]
        assert surfaces[0] == surfaces[1] and again.text != document.text


def test_no_other_text_has_a_say(augmenter, start, tokenizer, texts):
    alone = [augmenter.augment(text, n=3) for text in texts]
    assert augmenter.augment(texts, n=3) == alone
    assert augmenter.augment(iter(texts[::-1]), n=3) == alone[::-1]
    assert [variants[:2] for variants in alone] == augmenter.augment(texts, n=2)
    assert augmenter.augment([texts[0]] * 2, n=3) == [alone[0]] * 2
    assert len({variant["text"] for variant in alone[0]}) == 3
    assert InfillAugmenter(start, tokenizer, share=0.5, seed=1).augment(texts[0], n=3) != alone[0]
    named = augmenter.augment(texts[:2], ids=["a", 2])
    assert named == [augmenter.augment(texts[0], ids="a"), augmenter.augment(texts[1], ids=[2])]
    assert named != augmenter.augment(texts[:2])
    assert augment(texts[0], start, tokenizer, n=3, share=0.5) == alone[0]
    assert augmenter.augment([]) == []


@pytest.mark.parametrize(
    "protect, kept",
    [
        ("tablet", ["tablet"]),
        ("THE doctor", ["The doctor"]),
        (["a", "if the pain"], ["a", "if the pain"]),
        (re.compile(r"t\w+t"), ["tablet"]),
        ([re.compile("and"), "me"], ["and", "me"]),
        ([(4, 10), (23, 24)], ["doctor", "one"]),
    ],
)
def test_what_is_protected_never_changes(start, tokenizer, protect, kept):
    for variant in augment(DOSE, start, tokenizer, n=4, share=1.0, protect=protect):
        words = [variant["text"][slice(*span)] for span in find_words(variant["text"])]
        assert {*" ".join(kept).split()} <= {*words}
    whole = augment(DOSE, start, tokenizer, n=4, share=1.0)
    assert not all("tablet" in variant["text"] for variant in whole)


def test_a_pattern_that_matches_no_character_protects_none(start, tokenizer):
    free, empty = (augment(DOSE, start, tokenizer, share=1.0, protect=p) for p in (None, re.compile("q*")))
    assert free == empty and free[0]["text"] != DOSE


def test_a_protected_string_is_a_whole_word(start, tokenizer):
    (variant,) = augment("an ant", start, tokenizer, share=1.0, protect="an", temperature=0.0)
    assert variant["text"].startswith("an ") and not variant["text"].endswith(" ant")


def changed_words(start, tokenizer, **settings):
    rows = [(a, b, "") for a, b in find_words(DOSE)]
    numbers = set()
    for variant in augment(DOSE, start, tokenizer, n=6, entities=rows, **settings):
        new = [variant["text"][row[0] : row[1]] for row in variant["entities"]]
        numbers |= {i for i, row in enumerate(rows) if DOSE[row[0] : row[1]] != new[i]}
    return numbers


def test_a_strategy_says_which_words_may_change(start, tokenizer, texts):
    by_function = {"share": 1.0, "strategy": lambda text, words, entities: np.array([5, 1])}
    assert changed_words(start, tokenizer, **by_function) == {1, 5}
    spans = [(4, 10), (17, 32)]
    for variant in augment(DOSE, start, tokenizer, n=3, share=1.0, blanks=spans):
        assert variant["text"].startswith("The ") and " said: " in variant["text"]
        assert variant["text"].endswith(" a day, and call me if the pain returns.")
    for variant in augment(DOSE, start, tokenizer, share=1.0, strategy="entities", entities=LABELS):
        assert variant["text"].startswith("The doctor said: ")
        assert variant["text"].endswith(" returns.")
    outside = InfillAugmenter(start, tokenizer, share=1.0, strategy="outside_entities")
    for variant in outside.augment(DOSE, n=3, entities=LABELS):
        surfaces = [variant["text"][row["start"] : row["end"]] for row in variant["entities"]]
        assert surfaces == ["take one tablet", "pain"]
    runs = InfillAugmenter(start, tokenizer, strategy="spans").augment(texts[0], n=2)
    assert runs[0] != runs[1] and {*STRATEGIES} == {"random", "spans", "entities", "outside_entities"}


def test_two_policies_for_a_label_whose_words_were_replaced(start, tokenizer):
    settings = {"share": 1.0, "strategy": "entities", "entities": LABELS}
    (kept,) = augment(DOSE, start, tokenizer, **settings)
    assert [row["label"] for row in kept["entities"]] == ["dose", "ill"]
    assert kept["text"][slice(kept["entities"][0]["start"], kept["entities"][0]["end"])] != "take one tablet"
    (dropped,) = augment(DOSE, start, tokenizer, labels="drop_replaced", **settings)
    assert dropped["text"] == kept["text"] and dropped["entities"] == []
    (partly,) = augment(DOSE, start, tokenizer, labels="drop_replaced", protect="tablet", **settings)
    assert [row["label"] for row in partly["entities"]] == ["dose"]


def test_a_batch_of_columns(augmenter, texts):
    batch = {"text": texts[:2], "entities": [[{"start": 0, "end": 3}], None], "id": ["a", "b"]}
    batch["year"] = [1, 2]
    made = augmenter(batch, n=2)
    assert made["id"] == ["a", "a", "b", "b"] and made["year"] == [1, 1, 2, 2]
    variants = augmenter.augment(texts[:2], 2, batch["entities"], ids=["a", "b"])
    assert made["text"] == [variant["text"] for each in variants for variant in each]
    assert made["entities"] == [variant["entities"] for each in variants for variant in each]
    assert {*augmenter({"text": texts})} == {"text"}


def test_rows_of_one_id_have_draws_of_their_own(augmenter, texts):
    batch = {"text": [texts[0]] * 3 + texts[1:2], "id": [7, 7, 7, "7-2"]}
    made = augmenter(batch)
    assert made["id"] == batch["id"] and len({*made["text"]}) == 4
    alone = augmenter.augment(batch["text"], ids=["7-1", "7-3", "7-4", "7-2"])
    assert made["text"] == [variant["text"] for (variant,) in alone]
    assert_refused("ids: number 0 is a NoneType", augmenter, batch | {"id": [None] * 4})


def test_datasets_map_an_augmenter(augmenter, texts):
    labels = [[{"start": 0, "end": 3, "label": "first"}]] * len(texts)
    data = Dataset.from_dict({"text": texts, "entities": labels, "year": [*range(len(texts))]})
    made = data.map(augmenter, batched=True, batch_size=2)
    assert made["text"] == [variant["text"] for (variant,) in augmenter.augment(texts)]
    assert made.features == data.features
    more = data.map(augmenter, batched=True, batch_size=4, fn_kwargs={"n": 3})
    assert [*more["year"]] == [year for year in range(len(texts)) for _ in range(3)]
    assert len({*more["text"]}) == 3 * len(texts)
    named = data.add_column("id", [f"n{i}" for i in range(len(texts))])
    twice = named.map(augmenter, batched=True, fn_kwargs={"n": 2}).map(augmenter, batched=True)
    assert [*twice["id"]] == [id for id in named["id"] for _ in range(2)]


def test_labels_by_key_come_back_by_key(augmenter, start, tokenizer, texts):
    kinds = {"start": Value("int32"), "end": Value("int32"), "text": Value("string")}
    features = Features({"text": Value("string"), "entities": Sequence(kinds)})
    rows = [[{"start": 0, "end": 3, "text": text[:3]}, {"start": 4, "end": 7, "text": ""}] for text in texts]
    rows[1] = []
    by_key = [{key: [row[key] for row in each] for key in kinds} for each in rows]
    data = Dataset.from_dict({"text": texts, "entities": by_key}, features=features)
    made = data.map(augmenter, batched=True)
    wanted = [variant for (variant,) in augmenter.augment(texts, entities=rows)]
    assert made.features == features and made["text"] == [variant["text"] for variant in wanted]
    assert made["entities"] == [
        {key: [row[key] for row in variant["entities"]] for key in kinds} for variant in wanted
    ]
    dropping = InfillAugmenter(start, tokenizer, share=1.0, labels="drop_replaced")
    (one,) = dropping.augment(texts[0], entities={"start": [0], "end": [3]})
    assert one["entities"] in ({"start": [], "end": []}, {"start": [0], "end": [3]})
    for wrong in ({"start": [0], "end": []}, {"start": 0, "end": 3}, {}):
        assert_refused("a list is needed, this is a dict", augmenter.augment, texts[0], entities=wrong)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_kind_of_network_varies_or_is_refused(networks, name):
    model, tokenizer = networks[name]
    if not NETWORKS[name][3]:
        assert_refused("writes the whole text anew", InfillAugmenter, model, tokenizer)
        return
    (variant,) = augment(DOSE, model, tokenizer, share=0.4, protect=[(17, 32)], entities=LABELS[:1])
    # An encoder-decoder had no answer, so the original stays.
    assert variant["text"] != DOSE or NETWORKS[name][2] == "seq2seq"
    (row,) = variant["entities"]
    assert variant["text"][row["start"] : row["end"]] == "take one tablet"


@pytest.mark.parametrize(
    "settings, says",
    [
        ({"share": 0}, "share=0 must be between 0 and 1"),
        ({"strategy": "all"}, "strategy=all is unknown: choose one of random"),
        ({"labels": "move"}, "labels=move is unknown: choose keep or drop_replaced"),
        ({"on_error": "ignore"}, "on_error=ignore is unknown"),
        ({"seed": -1}, "seed=-1"),
        ({"ids": ["a"]}, "ids is no setting"),
        ({"temprature": 1}, "temprature is no setting"),
        ({"source": "kept"}, "has no setting source"),
        ({"temperature": 0.0, "top_k": 5}, "need temperature > 0"),
        ({"protect": 3}, "protect: give strings or a compiled pattern"),
        ({"protect": [(0, 3)]}, "spans belong to texts"),
        ({"protect": " "}, "a string without a word"),
    ],
)
def test_settings_are_refused_before_any_text(start, tokenizer, settings, says):
    assert_refused(says, InfillAugmenter, start, tokenizer, **settings)


def test_an_empty_list_protects_nothing_and_a_namedtuple_comes_back(start, tokenizer, texts):
    made = augment(texts[:2], start, tokenizer, protect=[])
    assert made == augment(texts[:2], start, tokenizer)
    labelled = namedtuple("labelled", "start end label")
    (variant,) = augment(DOSE, start, tokenizer, entities=[labelled(17, 32, "dose")])
    assert isinstance(variant["entities"][0], labelled) and variant["entities"][0].label == "dose"


def test_words_are_drawn_where_the_model_draws_any(start, causal_model, tokenizer):
    assert InfillAugmenter(start, tokenizer).filler.config.temperature == 1.0
    assert InfillAugmenter(start, tokenizer, temperature=0.0).filler.config.temperature == 0.0
    looks_ahead = InfillAugmenter(causal_model, tokenizer, context="both", candidates=2)
    assert looks_ahead.filler.config.temperature == 0.0 and looks_ahead.augment("The old man sailed.")
    assert_refused("writes the whole text anew", InfillAugmenter, causal_model, tokenizer, context="kept")
    assert_refused("config is not taken here", InfillAugmenter, start, tokenizer, config=None)


def test_the_second_of_two_models_is_loaded_once_and_as_the_first(
    folder, causal_model, tmp_path, monkeypatch
):
    causal_model.save_pretrained(tmp_path)
    loaded = []
    monkeypatch.setattr(
        "blankfill.loading.load_named", lambda *given: loaded.append(given[0]) or load_named(*given)
    )
    made = InfillAugmenter(folder, second=tmp_path, dtype="bfloat16", device="cpu").filler
    assert made.model.dtype == made.second.dtype == torch.bfloat16
    assert loaded == [str(folder), str(tmp_path)]


@pytest.mark.parametrize(
    "given, says",
    [
        ({"n": 0}, "n=0"),
        ({"entities": [{"start": 0}]}, "entity 0 of document 0: give"),
        ({"entities": [(0, 99, "x")]}, "entity 0 of document 0: characters 0:99 are none"),
        ({"entities": "abc"}, "entities of document 0: a list is needed"),
        ({"blanks": [(0, 99)]}, "document 0: the blank 0:99"),
        ({"protect": [(0, "x")]}, "protect of text 0: each is"),
        ({"protect": [(0, 4), (0, 99)]}, "protect of document 0: characters 0:99 are none"),
        ({"protect": [(4, 0)]}, "protect of document 0: characters 4:0 are none"),
        ({"ids": ["a", "b"]}, "1 texts need as many different ids"),
    ],
)
def test_what_is_wrong_with_a_text_is_told_without_its_words(augmenter, given, says):
    with pytest.raises(BlankfillError, match=says) as error:
        augmenter.augment(f"{SECRET} here", **given)
    assert SECRET not in str(error.value)


def test_wrong_batches_strategies_and_lists_are_refused(augmenter, start, tokenizer):
    for batch in ("a text", ["a text"], {"words": []}, {"text": "one"}):
        assert_refused("called on a batch of columns", augmenter, batch)
    assert_refused("texts: a list is needed, this is a NoneType", augmenter, {"text": None})
    with pytest.raises(BlankfillError, match="entities: 2 texts need as many lists, these are 1"):
        augmenter.augment(["a", "b"], entities=[[]])
    assert_refused("strategy=entities needs entities", augment, "a", start, tokenizer, strategy="entities")
    assert_refused("leave strategy out", augment, "a b", start, tokenizer, strategy="spans", blanks=[(0, 1)])
    for returned, name in (([2], "int"), (np.array([True, False]), "bool"), ([0.0], "float")):
        with pytest.raises(BlankfillError, match=f"strategy: it returned a {name}"):
            augment("a b", start, tokenizer, strategy=lambda *_, returned=returned: returned)
    with pytest.raises(BlankfillError, match="what strategy returned: a list is needed, this is a NoneType"):
        augment("a b", start, tokenizer, strategy=lambda *_: None)


def test_a_text_may_be_long_and_one_that_cannot_be_filled_is_named_or_left_out(start, tokenizer, texts):
    long = " ".join(texts * 9)
    (variant,) = augment(long, start, tokenizer, protect=[(100, len(long))])
    assert variant["text"] != long and variant["text"].endswith(long[100:])
    wide = {"share": 1.0, "blanks": [[(4, 7)], [(0, len(long))]]}
    assert_refused("^document 1: ", augment, [texts[0], long], start, tokenizer, **wide)
    with pytest.raises(BlankfillError, match="^document long: "):
        augment([texts[0], long], start, tokenizer, ids=["short", "long"], **wide)
    made = augment([texts[0], long], start, tokenizer, on_error="skip", **wide)
    assert [len(variants) for variants in made] == [1, 0]


@pytest.mark.parametrize(
    ("settings", "needs_warmth"),
    [
        ({"top_k": 5}, True),
        ({"top_p": 0.5}, True),
        ({"order": "gibbs", "sweeps": 2}, True),
        ({"order": "confidence", "threshold": 0.5}, False),
        ({"order": "left_to_right", "context": "left"}, False),
    ],
)
def test_settings_of_drawing_need_no_temperature_here(settings, needs_warmth, start, tokenizer):
    made = InfillAugmenter(start, tokenizer, **settings)
    assert made.filler.config.temperature == 1.0 and made.augment(DOSE)[0]["text"]
    if needs_warmth:
        assert_refused("temperature", InfillAugmenter, start, tokenizer, temperature=0, **settings)
