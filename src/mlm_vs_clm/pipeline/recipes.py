"""What each result is made from: settings in, recipes out. The one place where stages are connected."""

from dataclasses import asdict, fields, replace
from functools import cache, partial
from pathlib import Path

from blankfill.axes import PRODUCT, why_no_likelihood
from blankfill.errors import BlankfillError
from blankfill.ranges import check_fields

from ..arms.baselines import BOUNDS, COUNTING
from ..arms.settings import check_arm
from ..corpora.building import check_own, name_own, own_source
from ..corpora.packages import locate
from ..corpora.readers import READERS
from ..corpora.sources import SOURCES
from ..corpora.splits import DRAWN, Sizes
from ..errors import StudyError
from ..files import hash_of
from ..hardware import choose_device, choose_precision
from ..masking import check_kinds, check_masking, reads_entities
from ..metrics import METRICS, note_unknown
from ..metrics.proxies import PERPLEXITY
from ..tasks import TASKS
from ..tasks.projection import ENTITIES, POLICIES, PROJECTED
from ..training.budgets import list_budgets
from ..training.objectives import OBJECTIVES, check_objective
from .artifacts import Recipe
from .checks import check_shape
from .config import RUNTIME_TRAINING, ArmConfig, Config, LikelihoodConfig, TrainingConfig
from .variants import list_settings

# Raised when the meaning of a stage's code changes: its stored results are then made again.
VERSIONS = {
    "corpus": 1,
    "start": 1,
    "budget": 1,
    "pretrain": 4,
    "corrupt": 1,
    "generate": 7,
    "score": 5,
    "downstream": 9,
    "disclosure": 1,
    "correlate": 9,
    "report": 47,
}
# Raised when the meaning of one objective, and of the writer of that name, changes: results of all others keep their ids.
LAYOUTS = {"infill": 2}
ASKED = ("mlm", "clm")  # objectives whose models are asked for the loss of whole texts
CONTROLS = ("real", "majority", "shuffled")
ENCODER_KIND = "masked"  # the encoder of BERTScore is stored as such a checkpoint
UNIT_TOKENS = 1_000_000  # stands for a token budget that is not known yet
STARTS = ("encoder", "scratch", "checkpoint")
READING = ("token_budget", "batch_documents", "max_subwords")  # what decides which documents a training reads
MATCHED_START = ("name", "start", "shape", "vocabulary", "corpora", "seed")
UNDERSTANDING = "understanding/"  # opens the names of networks that are fine-tuned with real text
OWN = "own"  # the scale of a user's texts, of which the claims are not asked
SHOWN = ("title", "question", "starts_from", "panels", "reference")  # of a track, by the report
CHECKPOINT_ONLY = ("revision", "opening", "bidirectional")


def _recipe(stage: str, settings: dict, inputs: dict[str, Recipe] | None = None) -> Recipe:
    return Recipe(stage, VERSIONS[stage], settings, inputs or {})


def corpus(config: Config, name: str | None = None) -> Recipe:
    """Return the recipe of a corpus in four splits; by default the one that the settings name."""
    name = name or config.corpus.name
    settings = {"name": name, "sizes": _sizes(config, name)}
    settings |= {key: getattr(config.corpus, key) for key in ("window_words", "min_words", "seed")}
    if name == config.corpus.name and (config.corpus.path or name not in SOURCES):
        settings |= own_corpus(config)
    elif name not in SOURCES:
        raise StudyError(
            f"corpus {name} is not the one of this job: choose corpus={name} with its corpus.path"
        )
    return _recipe("corpus", settings)


def _sizes(config: Config, name: str) -> dict:
    """Return the arguments of Sizes; `at_most` only where a size follows from the corpus."""
    if name not in config.scale.sizes:
        raise StudyError(
            f"scale.sizes.{name} is missing: give the sizes of {name}, or {{}} for sizes that fit it"
        )
    sizes = asdict(config.scale.sizes[name])
    is_open = any(sizes[split] is None for split in DRAWN)
    return sizes | ({"at_most": config.scale.documents} if is_open else {})


def own_corpus(config: Config) -> dict:
    """Return what names a user's own corpus: its path, its hash, and how it is read."""
    chosen = config.corpus
    if chosen.task not in TASKS:
        raise StudyError(f"corpus.task={chosen.task} is unknown: choose one of {', '.join(TASKS)}")
    columns = {ours: theirs for ours, theirs in asdict(chosen.columns).items() if theirs}
    settings = _name_once(chosen.name, chosen.path, chosen.reader, tuple(columns.items()), chosen.task)
    per_group = _sizes(config, chosen.name)["per_group"]
    if chosen.task == "verification" and per_group < 2:
        raise StudyError(
            f"corpus.task=verification needs two documents per author: set scale.sizes.{chosen.name}.per_group=2"
        )
    return settings | ({"skip_mistakes": True} if chosen.skip_mistakes else {})


@cache
def _name_once(name: str, path: str | None, reader: str | None, columns: tuple, task: str) -> dict:
    """Return what names a user's own corpus, its files listed and hashed once in a process for its many cells."""
    return name_own(name, path, reader, dict(columns), task)


def check_corpus(config: Config) -> None:
    """Print the data card of the user's corpus and every mistake in it; StudyError if there is one."""
    chosen, settings = config.corpus, own_corpus(config)
    source, path = own_source(chosen.name, settings), Path(settings["path"])
    sizes = Sizes(**_sizes(config, chosen.name))
    words = {"max_words": chosen.window_words, "min_words": chosen.min_words}
    note = partial(_note_encoder, config.scoring.encoder, config.data_dir)
    card, mistakes = check_own(source, path, sizes, **words, seed=chosen.seed, task=chosen.task, note=note)
    print("\n".join([card, *mistakes]))
    if mistakes:
        raise StudyError(
            f"mistakes in {path}: {len(mistakes)}, listed above; correct them, or set corpus.skip_mistakes=true"
        )


def _note_encoder(encoder: str, data_dir: str, texts: list[str]) -> str:
    """Return what an encoder's tokenizer knows of texts; "" where it is not on this machine."""
    try:
        folder = Path(locate(encoder, Path(data_dir)))
    except StudyError:
        return ""
    return note_unknown(folder, encoder, texts)


def own_file(path: str) -> dict:
    """Return what names a user's own file: its path and its hash."""
    return {"path": path, "sha256": hash_of(Path(path))}


def start(config: Config) -> Recipe:
    """Return the recipe of the initial checkpoint and its tokenizer: one for every objective, or a pretrained model."""
    model = config.model
    if model.start not in STARTS:
        raise StudyError(f"model.start={model.start} is unknown: choose one of {', '.join(STARTS)}")
    # Without a source, the shape and the vocabulary are the settings' own.
    is_new = model.start == "scratch" and model.source is None
    named = {} if is_new else name_source(model.source, config.data_dir)
    for key in ("shape", "vocabulary"):
        if not is_new and getattr(model, key):
            raise StudyError(
                f"model.{key} has no effect beside model.source={model.source}: remove one of them"
            )
    if model.layers and (is_new or model.start == "checkpoint"):
        raise StudyError(
            "model.layers takes the lower layers of an encoder: give its model.source with model.start=encoder or scratch, or "
            "remove it"
        )
    if model.start == "checkpoint":
        named |= {"name": model.name, "start": model.start, "seed": model.seed}
        named |= {key: value for key in CHECKPOINT_ONLY if (value := getattr(model, key))}
        return _recipe("start", named | {"kind": _kind_of(config)})
    for key in CHECKPOINT_ONLY:
        if getattr(model, key):
            raise StudyError(f"model.{key} needs model.start=checkpoint, got {model.start}: remove it")
    if is_new:
        check_shape(model)
    settings = {"encoder": named.pop("source", None)} | named
    settings |= {key: getattr(model, key) for key in MATCHED_START}
    settings |= {"layers": model.layers} if model.layers else {}
    return _recipe("start", settings, _training_corpora(config) if is_new else {})


def _kind_of(config: Config) -> str:
    """Return as what kind a checkpoint is loaded: that of the objective; for a word table, which reads with its tokenizer, its own."""
    model = config.model
    if (
        config.arm.writer in COUNTING
        and model.name == "checkpoint"
        and not str(model.source).startswith("package:")
    ):
        from blankfill.loading import find_kind

        try:
            return find_kind(str(Path(str(model.source)).expanduser()))
        except BlankfillError:  # as a file of another format, which the reader of the start knows
            pass
    return OBJECTIVES[config.objective.name].kind


def name_source(source: str | None, data_dir: str) -> dict:
    """Return what names the origin of weights: a package or hub id, or a path and the hash of its content."""
    if source is None:
        raise StudyError("model.source is missing: give a hub id, a folder or package:<name>")
    if source.startswith("package:"):
        return {"source": source}
    place = locate(source, Path(data_dir))
    return {"source": source} | ({"sha256": hash_of(place)} if isinstance(place, Path) else {})


def pretrain(config: Config) -> Recipe:
    """Return the recipe of a model trained with one objective."""
    training, objective = _training(config).to_settings(), config.objective.to_settings()
    check_objective(**objective)
    inputs = {"start": start(config)} | _training_corpora(config)
    training["precision"] = _precision(config)  # last, as it loads torch
    settings = {"objective": objective, "training": training, "seed": config.model.seed}
    return _recipe("pretrain", settings | _layout_of(objective["name"]), inputs)


def _layout_of(name: str) -> dict:
    return {"layout": LAYOUTS[name]} if name in LAYOUTS else {}


def _precision(config: Config) -> str:
    return choose_precision(config.precision, choose_device(config.device))


def _training(config: Config) -> TrainingConfig:
    """Return how a model is trained: the settings of the scale, with those that the model changes."""
    changed = dict(config.model.training)
    share = changed.pop("budget_share", 1.0)
    names = [setting.name for setting in fields(TrainingConfig) if setting.name not in RUNTIME_TRAINING]
    for name in changed:
        if name not in names:
            raise StudyError(
                f"model.training.{name} is unknown: choose one of budget_share, {', '.join(names)}"
            )
    merged = replace(config.scale.training, **changed)
    check_fields(merged, "scale.training.")
    merged = replace(merged, token_budget=round(share * (tokens := merged.token_budget)))
    if tokens and merged.token_budget < 2 ** (merged.budgets - 1):
        raise StudyError(
            f"scale.training.budgets={merged.budgets}: each is half of the next, so the first of {merged.token_budget} tokens "
            "would have none: give fewer, or more tokens"
        )
    return merged


def budget(config: Config, trainings: list[Recipe]) -> Recipe:
    """Return the recipe of the token budget that trains all models in `scale.minutes`; theirs is UNIT_TOKENS."""
    inputs = {
        f"{i}/{name}": recipe
        for i, training in enumerate(trainings)
        for name, recipe in training.inputs.items()
    }
    settings = {"minutes": config.scale.minutes, "trainings": [training.settings for training in trainings]}
    return _recipe("budget", settings, inputs)


def budgets_of(config: Config) -> list[int]:
    """Return the token budgets at which the training of a job keeps a model."""
    training = _training(config)
    return list_budgets(training.token_budget, training.budgets)


def _training_corpora(config: Config) -> dict[str, Recipe]:
    """Return the corpora that a model is trained on: those of the model, or by `arm.training` one alone or the others."""
    corpora, corpus_name = config.model.corpora or [config.corpus.name], config.corpus.name
    chosen = {"only": [corpus_name], "elsewhere": [name for name in corpora if name != corpus_name]}
    names = sorted(chosen.get(config.arm.training, corpora))  # batches follow the order, ids do not
    if not names:
        raise StudyError(
            f"arm={config.arm.name} is trained on the other corpora, and model={config.model.name} names no other: "
            "set model.corpora"
        )
    return {f"corpus/{name}": corpus(config, name) for name in names}


def corrupt(config: Config) -> Recipe:
    """Return the recipe of the blanks: one artifact for every arm."""
    masking = config.masking
    check_masking(masking.strategy, masking.ratio)
    check_kinds(masking.strategy, masking.tags, masking.types)
    tagged = reads_entities(masking.strategy) and not has_gold_entities(config)
    settings = masking.to_settings() | {"entities": "tagger" if tagged else "gold", "seed": config.seed}
    return _recipe("corrupt", settings, {"corpus": corpus(config)})


def has_gold_entities(config: Config) -> bool:
    """Return whether the corpus marks its entities: by the settings, or else by its format."""
    if config.corpus.gold_entities is not None:
        return config.corpus.gold_entities
    reader = corpus(config).settings.get("reader")
    return reader is not None and READERS[reader].has_gold_entities


def generate(config: Config) -> Recipe:
    """Return the recipe of the texts in which an arm filled the blanks."""
    arm = config.arm
    if arm.objective and arm.objective != config.objective.name:
        raise StudyError(
            f"arm={arm.name} needs objective={arm.objective}, not objective={config.objective.name}"
        )
    settings = arm.to_settings()
    check_arm(settings)
    settings |= {"seed": config.seed} | _layout_of(arm.writer)
    inputs = {"corpus": corpus(config), "corruption": corrupt(config)}
    if arm.objective:
        inputs |= dict(zip(("model", "second"), models(config), strict=False))
        settings["precision"] = _precision(config)
        if config.likelihood and not why_no_likelihood(settings):
            settings["likelihood"] = _describe_likelihood(config.scale.likelihood, settings)
    if arm.writer in COUNTING:
        inputs |= {"start": start(config)} | _training_corpora(config)
        settings["read"] = _reading(config)
    return _recipe("generate", settings, inputs)


def _reading(config: Config) -> dict:
    """Return what decides which documents a training reads."""
    training = _training(config)
    training = replace(training, token_budget=config.arm.budget or training.token_budget)
    read = {name: getattr(training, name) for name in READING} | {"seed": config.model.seed}
    return read | ({"unique_tokens": training.unique_tokens} if training.unique_tokens else {})


def _describe_likelihood(likelihood: LikelihoodConfig, arm: dict) -> dict | bool:
    """Return how the likelihood is measured, as far as it concerns the arm; True where it is as the arm fills."""
    settings = {name: value for name, value in asdict(likelihood).items() if value}
    if arm["writer"] != "masked":
        settings.pop("per_pass", None)  # all others take one token a pass
    return settings or True


def models(config: Config) -> list[Recipe]:
    """Return the recipes of the models that an arm fills with: one, or a masked one and a causal one.

    Raises StudyError for a product of a model that is masked alone.
    """
    configs, second = [config], config.second_objective
    if config.arm.writer in PRODUCT:
        if second is None and config.objective.name != "hybrid":
            raise StudyError(
                f"arm.writer=product fills with a causal model too, which objective={config.objective.name} does not "
                "train: choose arm=product, or objective=hybrid"
            )
        configs += [replace(config, objective=second)] if second else []
    return [_general(chosen) if config.arm.training == "general" else pretrain(chosen) for chosen in configs]


def _general(config: Config) -> Recipe:
    """Return the recipe of a checkpoint that is not trained on the domain."""
    if config.model.start != "checkpoint":
        raise StudyError(
            f"arm={config.arm.name} uses an untrained checkpoint, but model={config.model.name} is not a checkpoint: "
            "choose track=pretrained, or a model whose start is checkpoint"
        )
    return start(config)


def baseline(config: Config, name: str) -> Recipe:
    """Return the recipe of the texts in which a baseline filled the same blanks."""
    settings = ArmConfig(name=name, writer=name).to_settings() | {"seed": config.seed}
    return _recipe("generate", settings, {"corpus": corpus(config), "corruption": corrupt(config)})


def score(config: Config) -> Recipe:
    """Return the recipe of an arm's scores, with those of the unfilled and the original text beside them."""
    return _score(config, generate(config))


def _score(config: Config, generation: Recipe) -> Recipe:
    settings = asdict(config.scoring) | {"resamples": config.scale.resamples}
    settings.pop("bound")
    if unknown := [name for name in settings["metrics"] if name not in METRICS]:
        raise StudyError(f"scoring.metrics: {unknown[0]} is unknown: choose among {', '.join(METRICS)}")
    named = name_source(settings["encoder"], config.data_dir)
    unrelated_encoder = (
        "distilbert scoring.layer=3" if named["source"] == "package:minilm" else "minilm scoring.layer=5"
    )
    _refuse_own(generation, "scoring.encoder", named, f"such as scoring.encoder=package:{unrelated_encoder}")
    inputs = {"corpus": corpus(config), "corruption": corrupt(config), "generation": generation}
    model = settings.pop("language_model")
    if PERPLEXITY in settings["metrics"]:
        unrelated = name_source(model, config.data_dir)
        _refuse_own(
            generation, "scoring.language_model", unrelated, f"or leave {PERPLEXITY} out of scoring.metrics"
        )
        settings["language_model"] = Path(model).name if "sha256" in unrelated else model
        inputs["language_model"] = _stored(unrelated, "causal")
    if named["source"].startswith("package:"):
        inputs["encoder"] = _stored(named, ENCODER_KIND)
    settings |= {"encoder": named.pop("source")} | named
    settings["precision"] = _precision(config)
    if generation.settings["name"] not in BOUNDS and not config.arm.budget:  # a curve shows no gains
        inputs |= {name: _score(config, baseline(config, name)) for name in BOUNDS}
    return _recipe("score", settings, inputs)


def _stored(named: dict, kind: str) -> Recipe:
    """Return the recipe of a model that scores, as a checkpoint: converted once, not in every process."""
    name = named["source"].removeprefix("package:")
    return _recipe("start", named | {"name": name, "start": "checkpoint", "seed": 0, "kind": kind})


def _refuse_own(generation: Recipe, setting: str, named: dict, advice: str) -> None:
    """Raise StudyError where a model that scores is what the model of an arm starts from: it would favour that arm."""
    if "model" not in generation.inputs:
        return
    model = generation.inputs["model"]
    start = model.inputs.get("start", model).settings
    origin = start.get("source", start.get("encoder"))
    if origin == named["source"] or named.get("sha256", 0) == start.get("sha256", 1):
        raise StudyError(
            f"{setting}={named['source']} is also what arm {generation.settings['name']} starts from, and would favour it: "
            f"choose another, {advice}"
        )


def downstream(config: Config) -> Recipe:
    """Return the recipe of a task model trained on generated text, or on a control, and tested on real text."""
    if config.trained_on not in ("generated", *CONTROLS):
        raise StudyError(
            f"trained_on={config.trained_on} is unknown: choose generated, {', '.join(CONTROLS)}"
        )
    if config.task_model not in TASK_MODELS:
        raise StudyError(f"task_model={config.task_model} is unknown: choose one of {', '.join(TASK_MODELS)}")
    settings = {
        "task": config.corpus.task,
        "trained_on": config.trained_on,
        "seeds": _task_seeds(config),
        "resamples": config.scale.resamples,
    } | _describe_labels(config)
    inputs = {"corpus": corpus(config)}
    if config.trained_on == "generated":
        inputs |= {"corruption": corrupt(config), "generation": generate(config)}
    if config.task_model == FINETUNED:
        network = _network(config, inputs)
        settings |= _describe_finetuning(config)
        inputs |= {"network": network} if config.trained_on != "majority" else {}
    return _recipe("downstream", settings, inputs)


def _describe_labels(config: Config) -> dict:
    """Return the label policy where it is not the default: results made before there was one keep their ids."""
    policy, task = config.label_policy, config.corpus.task
    if policy not in POLICIES:
        raise StudyError(f"label_policy={policy} is unknown: choose one of {', '.join(POLICIES)}")
    if policy == PROJECTED:
        return {}
    if task != ENTITIES or config.trained_on != "generated":
        setting = f"corpus.task={task}" if task != ENTITIES else f"trained_on={config.trained_on}"
        raise StudyError(f"label_policy={policy} changes nothing for {setting}: leave it at {PROJECTED}")
    return {"label_policy": policy}


def _describe_finetuning(config: Config) -> dict:
    """Return the settings of a fine-tuned task model in the id; of the majority answer those that change its test set alone."""
    how, is_real = config.finetuning, config.trained_on == "real"
    if how.examples and not (is_real or config.trained_on == "majority"):
        raise StudyError("finetuning.examples draws from real text: set trained_on=real, or leave it at 0")
    settings = asdict(how)
    network = settings.pop("network")
    if network in NETWORKS and not how.examples:
        raise StudyError(
            f"finetuning.network={network} is for real text alone: set finetuning.examples above 0"
        )
    if config.trained_on == "majority":
        settings = {name: value for name in OF_TEST if (value := settings[name])}
    return {"finetuning": settings} if settings else {}


def _network(config: Config, inputs: dict[str, Recipe]) -> Recipe:
    """Return the recipe of the network that is fine-tuned; StudyError for one that an arm starts from."""
    name = config.finetuning.network
    if name in NETWORKS:
        return NETWORKS[name](config)
    named = name_source(name, config.data_dir)
    if "generation" in inputs:
        _refuse_own(inputs["generation"], "finetuning.network", named, "one that no arm starts from")
    return _stored(named, ENCODER_KIND)


def _task_seeds(config: Config) -> int:
    task = config.corpus.task
    if task not in config.scale.task_seeds:
        raise StudyError(f"scale.task_seeds.{task} is missing: give the number of task models to train")
    return config.scale.task_seeds[task]


def disclosure(config: Config) -> Recipe:
    """Return the recipe of what an arm's text gives away, and at the main cell the model of one of the objectives ASKED."""
    inputs = {"corpus": corpus(config), "corruption": corrupt(config), "generation": generate(config)}
    inputs |= {"start": start(config)} | _training_corpora(config)
    is_asked = config.arm.objective in ASKED and config.masking == config.scale.main
    return _recipe("disclosure", {"read": _reading(config), "membership": is_asked}, inputs)


def correlate(config: Config, cells: dict[str, Recipe]) -> Recipe:
    """Return the recipe of quality against utility; of `cells`, it reads scores and downstream results."""
    cells = {name: recipe for name, recipe in cells.items() if name.startswith(("score/", "downstream/"))}
    settings = {"resamples": config.scale.resamples, "bound": config.scoring.bound}
    return _recipe("correlate", settings, cells)


def _describe_main(config: Config) -> dict:
    return {"strategy": config.scale.main.label, "ratio": config.scale.main.ratio}


FINETUNED = "finetuned"
TASK_MODELS = ("linear", FINETUNED)
START, TRAINED = "start", "trained"
NETWORKS = {START: start, TRAINED: pretrain}
OF_TEST = ("words", "examples", "test_documents")


def report(config: Config, cells: dict[str, Recipe], corpora: list[str], rules: list[dict]) -> Recipe:
    """Return the recipe of the tables, figures and page; `rules` decide the verdicts, examples are of `shown` corpora."""
    settings: dict = {
        "scale": config.scale.name,
        "examples": corpora,
        "rules": rules,
    }
    settings |= {"track": config.track.name} if config.track.name != "matched" else {}
    settings |= {"variants": varied} if (varied := list_settings(config.scale.grid)) else {}
    shown_of_track = [key for key in SHOWN if key != "starts_from" or config.scale.name != OWN]
    settings |= {key: value for key in shown_of_track if (value := asdict(config.track)[key])}
    settings |= {"resamples": max(config.scale.resamples, 2000), "main": _describe_main(config)}
    if config.scale.minutes:
        settings |= {"minutes": config.scale.minutes, "token_budget": config.scale.training.token_budget}
    if (ratings := Path(config.results) / "ratings" / "ratings.csv").is_file():
        settings["ratings"] = own_file(str(ratings))
    settings["correlation"] = {"resamples": config.scale.resamples, "bound": config.scoring.bound}
    return _recipe("report", settings, cells)
