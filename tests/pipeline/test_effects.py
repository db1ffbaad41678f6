"""No setting is ignored in silence: an override that reaches no result of a command is refused."""

import pytest
from committed import mark_slow
from refusals import assert_refused
from tiny_studies import ROOT, run_here, settings, write_corpus

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.files import MANIFEST
from mlm_vs_clm.pipeline import command, composing, publish, recipes
from mlm_vs_clm.pipeline.effects import refuse_ignored

FEW = ["scale.grid.corpora=[own]", "scale.grid.also=[]", "scale.grid.curve=[]"]  # few compositions, for speed


@pytest.fixture(scope="module")
def tiny(choose, tmp_path_factory):
    """Return the settings of a corpus with entities."""
    folder = tmp_path_factory.mktemp("tiny")
    write_corpus(folder / "corpus.jsonl")
    return settings(folder, folder)[:3]


def ask(stage, *jobs):
    refuse_ignored(stage, [command.Job(composing.compose(job), job) for job in jobs])


IGNORED = {
    "masking.ratio=1.5": "a study takes its maskings from scale.grid.maskings",
    "masking.ratio=nan": "scale.grid.maskings",
    "arm=constant": "scale.grid.arms",
    "seed=-1": "a study takes its seeds from scale.grid.seeds",
    "+unknown=3": "correct its name or remove it",
}


@pytest.mark.parametrize("override", mark_slow(IGNORED, "masking.ratio=nan", "+unknown=3"))
def test_an_override_that_reaches_no_cell_of_a_study_is_refused(tiny, override):
    with pytest.raises(StudyError, match=f"^{override.replace('+', '.')} .*{IGNORED[override]}"):
        ask("report", [*tiny, *FEW, "scale.grid.arms=[unfilled]", override])


def test_every_setting_of_a_study_reaches_a_result(tiny):
    more = ["scale.grid.seeds=[0,1]", "scale.main.ratio=0.5", "scale.grid.curve=[mlm]", "scoring.bound=0.4"]
    more += ["objective.mask_share=0.7", "corpus.show_examples=true", "corpus.reader=jsonl", "device=cpu"]
    ask("report", [*tiny, *FEW[:2], "scale.grid.arms=[mlm,unfilled]", *more])


def test_a_setting_that_one_objective_reads_trains_the_others_no_second_time(tiny):
    asked = [*tiny, *FEW, "scale.grid.arms=[mlm,clm]", "objective.ratio=0.3"]
    ask("report", asked)
    with pytest.raises(StudyError, match=r"^objective.ratio=0.3 reaches no result"):
        ask("pretrain", [*tiny, "objective=clm", "arm=clm", "objective.ratio=0.3"])
    trained = [recipes.pretrain(composing.compose([*tiny, *more, "arm=clm"])).id for more in ([], asked[-1:])]
    assert trained[0] == trained[1]


def test_a_setting_of_a_job_reaches_its_cell_or_is_refused(tiny):
    ask("score", [*tiny, "arm=unigram", "masking.ratio=0.2", "seed=3", "trained_on=real"])
    for override in ("scale.grid.seeds=[0,1]", "+unknown=3", "scale.main.ratio=0.3", "likelihood=true"):
        with pytest.raises(StudyError, match="reaches no result of this command"):
            ask("score", [*tiny, "trained_on=real", "arm=unigram", override])


def test_an_arm_with_a_model_of_its_own_takes_no_other(tiny):
    own, typed = [*tiny, "arm=clm_smollm2"], ["model=tiny", "++model.training.dev_documents=3"]
    ask("generate", [*own, "model=smollm2"])
    for override in typed:
        assert_refused(f"^{override.lstrip('+')} reaches no result", ask, "generate", [*own, override])
    config = composing.compose([*own, *typed], settings={"model.training.batch_documents": 2})
    assert config == composing.compose([*own, "model=smollm2"])  # beside others of a study


def test_a_setting_of_a_sweep_may_reach_one_job_alone_and_a_job_with_a_mistake_stops_no_other(tiny):
    ask("score", *([*tiny, f"arm={arm}", "likelihood=true"] for arm in ("unigram", "mlm")))
    mistaken = [[*tiny, "arm=unigram", f"masking.ratio={ratio}", "+unknown=3"] for ratio in (1.5, 0.5)]
    ask("score", mistaken[0])
    assert_refused(r"\+unknown=3 reaches no result", ask, "score", *mistaken)


def test_an_unknown_task_stops_the_check_of_a_corpus(tiny):
    done = run_here("corpus", *tiny, "corpus.task=summarise", "check=true")
    assert done.returncode == 1
    assert done.stderr.startswith("error: corpus.task=summarise is unknown: choose one of")


def test_a_folder_of_results_that_cannot_be_written_is_refused(tmp_path):
    publish.check_writable(str(tmp_path), "laptop")
    (tmp_path / "file").write_text("")
    for place in ("/proc/foo", str(tmp_path / "file")):
        assert_refused(f"cannot read or write {place}", publish.check_writable, place, "laptop")


def test_a_report_is_not_written_into_the_folder_of_a_corpus(tmp_path):
    (tmp_path / "own").mkdir()
    for results, name in ((str(tmp_path), "own"), (str(tmp_path / "own"), "laptop")):
        with pytest.raises(StudyError, match="lies in corpus.path"):
            publish.check_writable(results, name, corpus_path=str(tmp_path / "own"))
    publish.check_writable(str(tmp_path), "other", corpus_path=str(tmp_path / "own"))


def test_a_committed_study_is_not_replaced_by_another(tmp_path):
    committed = str(ROOT / "results")
    publish.check_writable(
        committed, "laptop", ["scale=laptop", "track=matched", "workers=1", "store=elsewhere"]
    )
    publish.check_writable(str(tmp_path), "laptop", ["corpus=own"])
    assert (publish.ROOT, "  laptop/" in (ROOT / "results" / MANIFEST).read_text()) == (ROOT, True)
    with pytest.raises(StudyError, match="committed study, and this one differs in corpus, scale.resamples"):
        publish.check_writable(committed, "laptop", ["corpus=own", "+scale.resamples=10"])


def test_a_committed_study_is_kept_where_its_folder_is_a_link(tmp_path):
    (tmp_path / "link").symlink_to(ROOT / "results")
    with pytest.raises(StudyError, match="committed study, and this one differs in seed"):
        publish.check_writable(str(tmp_path / "link"), "laptop", ["seed=1"])
