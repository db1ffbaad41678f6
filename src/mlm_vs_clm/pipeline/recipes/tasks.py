"""Recipes of task models, which learn from generated or from real text."""

from dataclasses import asdict

from ...errors import StudyError
from ...tasks.projection import ENTITIES, POLICIES, PROJECTED
from ...training.settings import OWN
from ..artifacts import Recipe
from ..config import Config
from .corpora import corpus
from .scores import ENCODER_KIND, checkpoint_of, refuse_own
from .texts import corrupt, generate
from .trainings import name_source, pretrain, start
from .versions import make_recipe

CONTROLS = ("real", "majority", "shuffled")
UNDERSTANDING = "understanding/"  # opens the names of networks that are fine-tuned with real text


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
    return make_recipe("downstream", settings, inputs)


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
    if config.corpus.task == ENTITIES:
        settings["pooling"] = OWN  # each word is read, so that none is pooled
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
        refuse_own(inputs["generation"], "finetuning.network", named, "one that no arm starts from")
    return checkpoint_of(named, ENCODER_KIND)


def _task_seeds(config: Config) -> int:
    task = config.corpus.task
    if task not in config.scale.task_seeds:
        raise StudyError(f"scale.task_seeds.{task} is missing: give the number of task models to train")
    return config.scale.task_seeds[task]


FINETUNED = "finetuned"
TASK_MODELS = ("linear", FINETUNED)
START, TRAINED = "start", "trained"
NETWORKS = {START: start, TRAINED: pretrain}
OF_TEST = ("words", "examples", "test_documents")
