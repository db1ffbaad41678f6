"""A network as task model: its ids, what is refused, and what a stage writes."""

import json

import pandas as pd
import pytest

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.pipeline import command, recipes, study
from mlm_vs_clm.pipeline.cells import describe_network, read_network
from mlm_vs_clm.pipeline.stages import open_store

TUNED = "task_model=finetuned"
REAL = ("trained_on=real", "finetuning.examples=8", "finetuning.network=trained", TUNED)


@pytest.fixture
def ask(choose, toy):
    """Compose settings of the toy corpus."""
    own = [
        "corpus=own",
        f"corpus.path={toy / 'corpus.jsonl'}",
        "corpus.task=ner",
        "scale=smoke",
        "model=tiny",
    ]
    own += [
        "scale.sizes.own={generate: 12, dev: 4, test: 8}",
        "model.corpora=[own]",
        "precision=fp32",
        "device=cpu",
    ]
    own += ["scale.training.token_budget=600", "scale.resamples=20", "finetuning.steps=2"]
    own += ["+scale.task_seeds.next_sentence=2", "scale.task_seeds.ner=2"]
    return lambda *overrides: choose(*own, *overrides)


def test_a_linear_task_model_has_the_id_that_it_had_whatever_is_said_of_networks(ask):
    plain = recipes.downstream(ask())
    assert recipes.downstream(ask("finetuning.steps=7", "finetuning.words=9")).id == plain.id
    assert "finetuning" not in plain.settings and "network" not in plain.inputs
    assert recipes.downstream(ask(TUNED)).id != plain.id


def test_every_setting_of_a_network_is_in_its_id(ask):
    changed = (
        "learning_rate=1",
        "steps=3",
        "batch_examples=3",
        "upper_layers=1",
        "words=5",
        "test_documents=3",
    )
    changed += ("max_subwords=64", "examples=5", "network=start")
    made = {recipes.downstream(ask(*REAL)).id}
    made |= {recipes.downstream(ask(*REAL, f"finetuning.{one}")).id for one in changed}
    assert len(made) == len(changed) + 1
    of_words, of_pairs = ([*REAL, f"corpus.task={task}"] for task in ("ner", "next_sentence"))
    pooled = [
        {recipes.downstream(ask(*asked, *more)).id for more in ([], ["finetuning.pooling=first"])}
        for asked in (of_words, of_pairs)
    ]
    assert [len(ids) for ids in pooled] == [1, 2]  # each word is read, so that none is pooled


def test_the_majority_answer_needs_no_network_and_is_the_linear_one_unless_the_test_set_is_another(ask):
    asked = ("trained_on=majority",)
    assert recipes.downstream(ask(*asked, TUNED)).id == recipes.downstream(ask(*asked)).id
    other = recipes.downstream(ask(*asked, TUNED, "finetuning.words=5"))
    assert other.settings["finetuning"] == {"words": 5} and "network" not in other.inputs


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (("task_model=forest",), "task_model=forest is unknown"),
        ((TUNED, "finetuning.examples=5"), "set trained_on=real"),
        ((TUNED, "finetuning.network=start"), "set finetuning.examples above 0"),
        ((TUNED, "model=minilm"), "finetuning.network=package:minilm is also what arm mlm starts from"),
    ],
)
def test_mistakes_are_one_line(ask, overrides, words):
    with pytest.raises(StudyError, match=words):
        recipes.downstream(ask(*overrides))


def test_a_grid_of_networks_lists_their_trainings_and_one_majority_answer_per_task(choose):
    asked = ["track=understanding", "device=cpu", "precision=fp32"]
    job = command.Job(choose(*asked), asked)
    cells = study.cells(job.config, job.choose)
    tuned = [name for name in cells if name.startswith(recipes.UNDERSTANDING)]
    assert "understanding/abstracts/ner/clm/800" in tuned and len(tuned) == 22 + 5
    assert sum("/majority/" in name for name in tuned) == 5
    assert {name.split("/")[2] for name in cells if name.startswith("pretrain/")} == {"mlm", "clm", "hybrid"}
    made = {cells[name].id for name in cells if name.startswith("understanding/") and "majority" not in name}
    assert len(made) == 22
    trained = cells["understanding/abstracts/ner/clm/800"].inputs["network"]
    assert trained.id in {recipe.id for name, recipe in cells.items() if name.startswith("pretrain/")}


def test_networks_that_differ_in_words_alone_do_not_share_a_name(choose):
    alike = [
        f"{{corpus:abstracts,task:ner,networks:[start],examples:[8],words:{words}}}" for words in (16, 32)
    ]
    asked = ["device=cpu", "precision=fp32", f"scale.grid.networks=[{','.join(alike)}]"]
    with pytest.raises(StudyError, match="start of ner on abstracts has 8 examples twice"):
        study.cells(choose(*asked), lambda **groups: choose(*asked, *(f"{g}={n}" for g, n in groups.items())))


def test_the_stage_writes_answers_of_every_seed_and_names_the_network(ask, tmp_path):
    store = open_store(tmp_path)
    folder = store.ensure(
        recipes.downstream(ask(*REAL, "finetuning.words=10", "finetuning.test_documents=5"))
    )
    units = [json.loads(line) for line in (folder / "units.jsonl").read_text().splitlines()]
    assert len(units) == 2 * 5 and {unit["task_seed"] for unit in units} == {0, 1}
    assert "f1" in set(pd.read_csv(folder / "scores.csv")["metric"])
    one = read_network(folder)
    assert (one.cell.arm, one.examples, one.task) == ("mlm", 8, "ner")
    majority = store.ensure(recipes.downstream(ask(*REAL, "trained_on=majority", "finetuning.words=10")))
    assert describe_network(majority)["trained_on"] == "majority" and read_network(majority).examples == 8
    left = ("objective=clm", "corpus.task=next_sentence", "finetuning.sides=both")
    folder = store.ensure(recipes.downstream(ask(*REAL, *left)))
    assert read_network(folder).cell.arm == "clm sides=both"
    start = store.ensure(recipes.downstream(ask(*REAL, "finetuning.network=start")))
    assert read_network(start).cell.arm == "start"
