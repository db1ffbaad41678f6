"""Every number of the settings has a range, and a value outside it is one line before any work."""

import json
import math
import re
from dataclasses import fields, is_dataclass
from typing import get_args

import pytest
from refusals import assert_refused
from tiny_studies import settings, write_corpus

from blankfill.ranges import MANY, RANGE, Range
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.pipeline import recipes
from mlm_vs_clm.pipeline.checks import check_numbers, list_numbers
from mlm_vs_clm.pipeline.config import CHANGED, SHAPE, Config, TrainingConfig
from mlm_vs_clm.pipeline.stages import open_store

FULL = [
    "model=tiny",
    "objective=denoise",
    "arm=product",
    "+scale.grid.seeds=[0]",
    "+scale.grid.also=[{arms: [mlm], seeds: [1], vary: {arm.temperature: [0.5]}}]",
]
NEVER = (-1, math.nan, math.inf, -math.inf, 1e308, 10**18, True, "many")


def leaf_types(kind):
    """Yield the types that a field's type is made of."""
    inner = get_args(kind)
    for each in inner or (kind,):
        yield from leaf_types(each) if inner else [each]


def list_fields(owner):
    """Yield every field of a dataclass of settings, and of those below it."""
    for each in fields(owner):
        types = list(leaf_types(each.type))
        yield owner, each, types
        for below in types:
            if is_dataclass(below):
                yield from list_fields(below)


def put(config, key, value):
    """Set a setting by its key, such as `scale.grid.seeds[0]`; return what it was."""
    *path, last = [int(word) if word.isdigit() else word for word in re.findall(r"[^.\[\]]+", key)]
    node = config
    for word in path:
        node = getattr(node, word) if is_dataclass(node) else node[word]
    if is_dataclass(node):
        before = getattr(node, last)
        setattr(node, last, value)
    else:
        before, node[last] = node[last], value
    return before


def refused(config, key, value):
    """Return why a setting with another value is refused; None where it is not."""
    before = put(config, key, value)
    try:
        check_numbers(config)
    except StudyError as error:
        return str(error)
    finally:
        put(config, key, before)
    return None


def test_every_number_of_the_settings_has_a_range():
    numeric = [(owner, each, types) for owner, each, types in list_fields(Config) if {int, float} & {*types}]
    assert len(numeric) > 70
    for owner, each, types in numeric:
        allowed = each.metadata.get(RANGE)
        assert allowed is not None, f"{owner.__name__}.{each.name} has no range: use number() or count()"
        for one in allowed.values() if isinstance(allowed, dict) else [allowed]:
            assert one.low > -math.inf and one.whole == (int in types)


def test_what_a_model_changes_has_the_ranges_of_the_training():
    assert set(CHANGED) == {each.name for each in fields(TrainingConfig)} | {"budget_share"}
    assert set(SHAPE) == {"layers", "width", "heads", "positions"}


def test_a_number_is_in_its_range_or_refused_with_its_key_its_value_and_its_range(choose):
    config = choose(*FULL)
    check_numbers(config)
    without_strategy = "scale.grid.also[0].ratio"  # has no effect, whatever it is
    numbers = [each for each in list_numbers(config) if each[0] != without_strategy]
    assert len(numbers) > 90 and len({key for key, _, _ in numbers}) == len(numbers)
    for key, _, allowed in numbers:
        for value in (*NEVER, 0, allowed.low, allowed.high):
            told = refused(config, key, value)
            assert (told is None) == (value in allowed), (key, value, told)
            assert told is None or told.startswith(f"{key}={value}")
            assert told is None or ("between 0 and 1" if allowed.is_share else str(allowed)) in told
        wrong = (allowed.low - 1, math.nan, math.inf, -math.inf, True, "many")
        assert all(refused(config, key, value) for value in wrong)
        assert not allowed.whole or refused(config, key, 1.5)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["corpus=own", "scale.sizes.own={per_group: 0}"], "scale.sizes.own.per_group=0: give 1 to"),
        (["scale.grid.seeds=[0, -1]"], r"scale.grid.seeds\[1\]=-1: give 0 to"),
        (["scale.grid.maskings=[{strategy: random, ratio: nan}]"], r"maskings\[0\].ratio=nan must be between 0 and 1, 0 left out"),
        (["scale.grid.also=[{strategy: random, arms: [mlm]}]"], r"scale.grid.also\[0\].ratio=0.0 must be between 0 and 1, 0 left"),
        (["scale.grid.also=[{ratio: 0.3, arms: [mlm]}]"], r"also\[0\].ratio has no effect without scale.grid.also\[0\].strategy"),
        (["scale.grid.also=[{arms: [mlm], vary: {arm.top_p: [0.9, 2]}}]"], r"also\[0\].vary.arm.top_p=2 must be between"),
        (
            ["scale.grid.also=[{arms: [mlm], vary: {model.training.budget_share: [inf]}}]"],
            "vary.model.training.budget_share=inf",
        ),
        (["scale.task_seeds.ner=0"], "scale.task_seeds.ner=0: give 1 to 1,000"),
        (["model=tiny", "model.shape.heads=0"], "model.shape.heads=0: give 1"),
        (["+model.training.batch_documents=few"], "model.training.batch_documents=few: give 1"),
        (["+model.training.dropout=1"], "model.training.dropout=1 must be between 0 and 1, 1 left out"),
        (["arm=product", "arm.weight=half"], "arm.weight=half: give the causal share, 0 to 1, or auto"),
        (["scale.resamples=1"], "scale.resamples=1: give 20 to 10,000"),
    ],
)  # fmt: skip
def test_numbers_in_lists_and_tables_are_checked_too(choose, asked, told):
    assert_refused(told, check_numbers, choose(*asked))


def test_every_choice_is_in_range_and_a_huge_number_of_documents_means_all(choose):
    check_numbers(choose("arm=product", "arm.weight=auto", f"scale.documents={MANY}"))
    for scale in ("smoke", "laptop", "desk", "paper", "gpu"):
        check_numbers(choose(f"scale={scale}"))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["model=tiny", "model.shape.heads=3"], "heads=3 does not divide model.shape.width=64"),
        (["model=tiny", "model.vocabulary=null"], "model.vocabulary is missing"),
        (["model=tiny", "+model.shape.depth=3"], "model.shape.depth is unknown"),
        (["model=tiny", "~model.shape.positions"], "model.shape.positions is missing"),
        (["objective.mask_share=0.8", "objective.random_share=0.3"], "are 1.1 together: give at most 1"),
        (["scale.training.token_budget=8", "scale.training.budgets=5"], "so the first of 8 tokens would have none"),
        (["model.training.batch_documents=-1"], "batch_documents=-1: give 1"),
    ],
)  # fmt: skip
def test_numbers_that_do_not_go_together_are_refused_before_any_work(choose, asked, told):
    plus = [f"+{one}" if one.startswith("model.training.") else one for one in asked]
    assert_refused(told, recipes.pretrain, choose(*plus))


def test_a_range_says_what_to_give():
    told = [
        Range(0, 1),
        Range(0, 1, above=True),
        Range(0, 1, below=True),
        Range(0),
        Range(0, above=True),
        Range(),
    ]
    assert [str(one) for one in told] == [
        "0 to 1", "above 0 to 1", "0 to below 1", "0 or more", "above 0", "a number"
    ]  # fmt: skip
    assert 10**400 in Range(0) and 10**400 not in Range(0, MANY) and None not in Range()


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Return a folder with a corpus of unmarked texts, and the settings that mask it."""
    folder = tmp_path_factory.mktemp("bare")
    write_corpus(folder / "corpus.jsonl")
    text = (folder / "corpus.jsonl").read_text()
    (folder / "corpus.jsonl").write_text(re.sub(r', "entities": \[.*\]\}', "}", text))
    return folder, [*settings(folder, folder), "corpus.task=genres", "corpus.gold_entities=true"]


@pytest.mark.parametrize(
    ("masking", "told"),
    [
        ("masking=entities", "hides no word of corpus own: no document has an entity"),
        ("masking=random_as_entities", "hides no word of corpus own: no document has an entity"),
        (
            "masking.ratio=0.001",
            "hides no word of corpus own: 0.001 of its .* is below one in each document: raise",
        ),
    ],
)
def test_a_masking_without_a_blank_is_refused_and_nothing_is_stored(choose, bare, masking, told):
    folder, asked = bare
    assert_refused(told, open_store(folder).ensure, recipes.corrupt(choose(*asked, masking)))
    assert not list((folder / "corrupt").glob("[!.]*"))


def test_a_type_that_no_entity_has_is_refused_beside_one_that_occurs(choose, tmp_path):
    write_corpus(tmp_path / "corpus.jsonl")
    asked = [*settings(tmp_path, tmp_path), "corpus.gold_entities=true", "masking=entities"]
    config = choose(*asked, "masking.types=[Thing,Thng]")
    told = "masking.types: no entity is a Thng: choose from Thing, or leave it out"
    assert_refused(told, open_store(tmp_path).ensure, recipes.corrupt(config))


def test_a_document_without_a_blank_beside_others_is_no_mistake(choose, tmp_path):
    write_corpus(tmp_path / "corpus.jsonl")
    lines = (tmp_path / "corpus.jsonl").read_text().splitlines()
    rows = [re.sub(r'"entities": \[.*\]\}', '"entities": []}', line) for line in lines[::2]] + lines[1::2]
    (tmp_path / "corpus.jsonl").write_text("\n".join(rows))
    config = choose(*settings(tmp_path, tmp_path), "corpus.gold_entities=true", "masking=entities")
    folder = open_store(tmp_path).ensure(recipes.corrupt(config))
    assert 0 < json.loads((folder / "summary.json").read_text())["documents_without_blanks"] < 20


@pytest.mark.parametrize(
    "override", ["device=tpu", "device=CPU", "device=cuda:x", "store=' '", "results=", "data_dir="]
)
def test_an_unknown_device_and_an_empty_folder_are_refused(choose, override):
    assert_refused(override.partition("=")[0], check_numbers, choose("scale=smoke", override))
