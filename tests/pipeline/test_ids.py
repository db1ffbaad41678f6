"""The settings of today name the results that are committed: no move or merge of code may change an artifact id."""

from functools import cache

import pandas as pd
import pytest
from committed import mark_slow
from compositions import name_models

from mlm_vs_clm.files import list_studies
from mlm_vs_clm.pipeline import command, composing, study

RESULTS = composing.CONF.parent / "results"
STUDIES = list_studies(RESULTS)
STAGES = {"scores": "score", "downstream": "downstream", "training": "pretrain"}
pytestmark = pytest.mark.usefixtures("choose")


@cache
def job_of(study_name):
    """Return the job of a study, whose folder is named after scale and track, in the precision in which it was committed."""
    scale, _, track = study_name.partition("-")
    used = set(pd.read_csv(STUDIES[study_name] / "ledger.csv")["precision"]) - {"none"}
    asked = [f"scale={scale}", f"track={track or 'matched'}", "device=cpu", f"precision={used.pop()}"]
    return command.Job(composing.compose(asked), asked)


@cache
def cells_of(study_name):
    """Return the recipes of a study, by the names of its cells."""
    job = job_of(study_name)
    return study.cells(job.config, job.choose)


@pytest.mark.parametrize("name", mark_slow(STUDIES, "laptop"))
def test_the_committed_rows_name_the_artifacts_that_the_settings_name(name):
    for table in STAGES:
        check_artifacts(name, table)


def check_artifacts(name, table):
    """Check that the rows of a table name what the settings of their study name, and nothing else."""
    rows, stage = pd.read_csv(STUDIES[name] / f"{table}.csv"), STAGES[table]
    made = {f"{stage}/{recipe.id}" for cell, recipe in cells_of(name).items() if cell.startswith(f"{stage}/")}
    assert set(rows["artifact"]) == made


@pytest.mark.parametrize("name", mark_slow({*STUDIES} - {"laptop-domains", "laptop-pretrained"}, "laptop"))
def test_a_study_trains_the_models_that_its_track_has(name):
    config = job_of(name).config
    models = name_models(cells_of(name))
    named = {config.model.name, *config.track.models.values()}
    starts = {
        name.removesuffix("_rewriter") for name in named
    }  # which begins as another does, and is trained otherwise
    assert models and models <= named | starts


def test_runs_train_every_model_anew_and_the_first_fills_the_blanks_of_the_matched_study():
    cells, matched = cells_of("laptop-runs"), cells_of("laptop")
    trained = {name: recipe for name, recipe in cells.items() if name.startswith("pretrain/plots/mlm/")}
    assert sorted(name.split("/")[3] for name in trained) == ["0", "1", "2", "3", "4"]
    assert len({recipe.id for recipe in trained.values()}) == 5
    first = {name: recipe.id for name, recipe in cells.items() if "/random-0.5/0/" in name}
    first = {name: recipe_id for name, recipe_id in first.items() if name in matched}
    shared = {name for name, recipe_id in first.items() if matched[name].id == recipe_id}
    assert shared >= {name for name in first if name.endswith(("/oracle", "/unfilled"))} != set()
    for name, recipe in cells.items():
        if name.endswith("/random-0.5/2/clm") and name.startswith("score/"):
            text = recipe.inputs["generation"]
            assert text.inputs["model"].id in {
                recipe.id for cell, recipe in cells.items() if cell.startswith("pretrain/plots/clm/2/")
            }
            assert text.inputs["corruption"].settings["seed"] == 2
