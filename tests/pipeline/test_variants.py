"""Variants of arms: their names, what they share, and which are refused."""

import pytest
from refusals import assert_refused

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.pipeline import command, study
from mlm_vs_clm.pipeline.checks import check_numbers
from mlm_vs_clm.pipeline.config import CellConfig, GridConfig, MaskingConfig
from mlm_vs_clm.pipeline.variants import list_arms, list_settings, list_variants


def cells_of(choose, *also, corpora="plots", curve="mlm"):
    """Return the recipes of a small study."""
    grid = (
        f"corpora: [{corpora}], maskings: [{{strategy: random, ratio: 0.5}}], arms: [mlm], curve: [{curve}]"
    )
    asked = ["scale=smoke", "device=cpu", "precision=fp32"]
    asked.append(f"scale.grid={{{grid}, also: [{', '.join(also)}]}}")
    job = command.Job(choose(*asked), asked)
    return study.cells(job.config, job.choose)


VARY = "{strategy: random, ratio: 0.5, arms: [mlm, clm], train: false, vary: {%s}}"


def test_every_combination_of_the_values_is_an_arm_with_a_name():
    cell = CellConfig("random", 0.5, ["mlm"], vary={"arm.temperature": [0.3, 1.0], "model": ["tiny"]})
    (cool, warm) = list_variants(cell)
    assert (cool.name, warm.name) == ("mlm temperature=0.3 model=tiny", "mlm temperature=1.0 model=tiny")
    rows = list_settings(GridConfig(["plots"], [], ["mlm"], [0], also=[cell]))
    assert rows[0] == {"arm": cool.name, "base": "mlm", "setting": "arm.temperature", "level": 0.3}
    assert len(rows) == 4


def test_variants_fill_alike_but_for_what_varies_and_share_a_training(choose):
    plain, cells = cells_of(choose), cells_of(choose, VARY % "arm.temperature: [0.3, 0.7]")
    assert {name: recipe.id for name, recipe in plain.items()}.items() <= {
        name: recipe.id for name, recipe in cells.items()
    }.items()
    texts = {
        name.rpartition("/")[2]: recipe.inputs["generation"]
        for name, recipe in cells.items()
        if name.startswith("score/")
    }
    cool = texts["mlm temperature=0.3"]
    assert (cool.settings["name"], cool.settings["temperature"]) == ("mlm temperature=0.3", 0.3)
    assert (
        cool.inputs["model"].id
        == texts["mlm temperature=0.7"].inputs["model"].id
        == texts["mlm"].inputs["model"].id
    )
    assert cool.id != texts["mlm temperature=0.7"].id
    assert [name for name in cells if name.startswith("curve/") and "mlm temperature=0.3" in name]
    assert not [name for name in cells if name.startswith("curve/") and "clm" in name]


def test_a_part_of_the_grid_without_a_masking_is_at_every_one(choose):
    cells = cells_of(choose, "{arms: [clm], train: false}", "{strategy: random, ratio: 0.15, arms: [clm]}")
    filled = [name for name in cells if name.startswith("score/") and name.endswith("/clm")]
    assert filled == ["score/plots/random-0.5/0/clm", "score/plots/random-0.15/0/clm"]


def test_a_part_of_the_grid_may_have_seeds_of_its_own(choose):
    cells = cells_of(choose, "{strategy: random, ratio: 0.5, arms: [clm], seeds: [1, 2], train: false}")
    filled = [name for name in cells if name.startswith("score/") and name.endswith("/clm")]
    assert filled == ["score/plots/random-0.5/1/clm", "score/plots/random-0.5/2/clm"]


def test_the_curve_is_filled_at_the_seeds_of_the_grid_alone(choose):
    cells = cells_of(choose, "{strategy: random, ratio: 0.5, arms: [mlm], seeds: [1, 2]}")
    curve = {name.split("/")[3] for name in cells if name.startswith("curve/")}
    filled = {name.split("/")[3] for name in cells if name.startswith("score/")}
    assert (curve, filled) == ({"0"}, {"0", "1", "2"})


def test_settings_of_the_training_vary_too(choose):
    cells = cells_of(choose, VARY % "scale.training.token_budget: [3000, 4000], model: [minilm, tiny]")
    trained = [recipe for name, recipe in cells.items() if name.startswith("pretrain/plots/clm/")]
    assert {one.settings["training"]["token_budget"] for one in trained} == {3000, 4000}
    assert {one.inputs["start"].settings["name"] for one in trained} == {"minilm", "tiny"} and len(
        trained
    ) == 4


def test_a_value_that_is_the_default_stands_for_itself(choose):
    cells = cells_of(choose, VARY % "arm.temperature: [0.0]")
    assert "score/plots/random-0.5/0/mlm temperature=0.0" in cells


@pytest.mark.parametrize(
    ("vary", "told"),
    [
        ("corpus.seed: [3]", "vary.corpus.seed changes nothing for arm mlm"),
        ("masking.ratio: [0.1, 0.2]", "vary.masking.ratio changes nothing for arm mlm"),
        ("arm.temperature: []", "vary.arm.temperature has no value"),
    ],
)
def test_what_changes_nothing_is_refused_with_the_name_of_the_arm(choose, vary, told):
    assert_refused(told, cells_of, choose, VARY % vary)


def test_two_arms_of_one_name_are_refused():
    also = [
        CellConfig("random", 0.5, ["mlm"], vary={key: [0.5]}) for key in ("objective.ratio", "masking.ratio")
    ]
    with pytest.raises(StudyError, match="two arms are called mlm ratio=0.5"):
        list_arms(GridConfig(["plots"], [], ["mlm"], [0], also=also))


def test_a_part_of_the_grid_may_have_a_masking_of_some_words_and_corpora_of_its_own(choose):
    cell = "{strategy: part_of_speech, tags: [DET, ADP], ratio: 1.0, corpora: [plots], arms: [clm], train: false}"
    cells = cells_of(choose, cell, corpora="plots, speeches", curve="")
    named = [name for name in cells if name.endswith("/clm") and "part_of_speech" in name]
    assert named == ["score/plots/part_of_speech ADP+DET-1.0/0/clm"]
    blanks = cells[named[0]].inputs["corruption"].settings
    assert blanks["tags"] == ["ADP", "DET"] and "types" not in blanks


def test_settings_that_choose_no_words_are_in_no_id():
    assert MaskingConfig("entities", 1.0).to_settings() == {"strategy": "entities", "ratio": 1.0}
    assert MaskingConfig("entities", 1.0, types=["B", "A"]).to_settings()["types"] == ["A", "B"]


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (
            "{tags: [NOUN], arms: [clm]}",
            r"also\[0\].tags has no effect without scale.grid.also\[0\].strategy",
        ),
        ("{corpora: [novels], arms: [clm]}", r"also\[0\].corpora: novels is not in scale.grid.corpora"),
    ],
)
def test_a_part_of_the_grid_that_means_nothing_is_refused(choose, cell, told):
    assert_refused(told, check_numbers, choose("scale=smoke", f"scale.grid.also=[{cell}]"))


LABELS = "{strategy: random, ratio: 0.5, arms: [mlm], corpora: [%s], %s}"


def test_label_policies_share_one_text_and_one_score(choose):
    part = LABELS % ("abstracts", "vary: {label_policy: [dropped]}")
    cells = cells_of(choose, part, corpora="abstracts, plots", curve="")
    named = [name for name in cells if "label_policy" in name]
    assert named == ["downstream/abstracts/random-0.5/0/mlm label_policy=dropped"]
    plain, dropped = cells["downstream/abstracts/random-0.5/0/mlm"], cells[named[0]]
    assert dropped.inputs["generation"].id == plain.inputs["generation"].id and dropped.id != plain.id
    assert "label_policy" not in plain.settings and dropped.settings["label_policy"] == "dropped"


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (LABELS % ("plots", "vary: {label_policy: [dropped]}"), "label_policy=dropped changes nothing for corpus.task=genres"),
        (LABELS % ("plots", "train: false, vary: {label_policy: [dropped]}"), "vary.label_policy needs task models"),
    ],
)  # fmt: skip
def test_a_part_of_the_grid_that_could_do_nothing_is_refused(choose, part, reason):
    assert_refused(reason, cells_of, choose, part)
