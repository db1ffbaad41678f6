"""Recipes of texts: which words are hidden, and how an arm fills them."""

from dataclasses import asdict, replace
from functools import cache

from blankfill.axes import PRODUCT, why_no_likelihood

from ...arms.baselines import COUNTING
from ...arms.settings import check_arm
from ...corpora.readers import marks_entities
from ...errors import StudyError
from ...masking import check_kinds, check_masking, reads_entities
from ..artifacts import Recipe
from ..config import ArmConfig, Config, LikelihoodConfig
from .corpora import corpus
from .trainings import precision_of, pretrain, start, training_corpora, training_of
from .versions import layout_of, make_recipe

READING = ("token_budget", "batch_documents", "max_subwords")  # what decides which documents a training reads


def corrupt(config: Config) -> Recipe:
    """Return the recipe of the blanks: one artifact for every arm."""
    masking = config.masking
    check_masking(masking.strategy, masking.ratio)
    check_kinds(masking.strategy, masking.tags, masking.types)
    tagged = reads_entities(masking.strategy) and not has_gold_entities(config)
    settings = masking.to_settings() | {"entities": "tagger" if tagged else "gold", "seed": config.seed}
    return make_recipe("corrupt", settings, {"corpus": corpus(config)})


def has_gold_entities(config: Config) -> bool:
    """Return whether the corpus marks its entities: by the settings, or else by its task, which may learn them, or its format."""
    if config.corpus.gold_entities is not None:
        return config.corpus.gold_entities
    named = corpus(config).settings
    if "reader" not in named:
        return False
    columns = tuple(named.get("columns", {}).items())
    return config.corpus.task == "ner" or _marks_entities(named["reader"], named["path"], columns)


@cache
def _marks_entities(reader: str, path: str, columns: tuple[tuple[str, str], ...]) -> bool:
    """Return whether a corpus marks its entities, looked up once in a process for its many cells."""
    return marks_entities(reader, path, dict(columns))


def generate(config: Config) -> Recipe:
    """Return the recipe of the texts in which an arm filled the blanks."""
    arm = config.arm
    if arm.objective and arm.objective != config.objective.name:
        raise StudyError(
            f"arm={arm.name} needs objective={arm.objective}, not objective={config.objective.name}"
        )
    settings = arm.to_settings()
    check_arm(settings)
    settings |= {"seed": config.seed} | layout_of(arm.writer)
    inputs = {"corpus": corpus(config), "corruption": corrupt(config)}
    if arm.objective:
        inputs |= dict(zip(("model", "second"), models(config), strict=False))
        settings["precision"] = precision_of(config)
        if config.likelihood and not why_no_likelihood(settings):
            settings["likelihood"] = _describe_likelihood(config.scale.likelihood, settings)
    if arm.writer in COUNTING:
        inputs |= {"start": start(config)} | training_corpora(config)
        settings["read"] = reading_of(config)
    return make_recipe("generate", settings, inputs)


def reading_of(config: Config) -> dict:
    """Return what decides which documents a training reads."""
    training = training_of(config)
    training = replace(training, token_budget=config.arm.budget or training.token_budget)
    read = {name: getattr(training, name) for name in READING} | {"seed": config.model.seed}
    planted = ("canaries", "canary_copies") if training.canaries else ()
    unique = ("unique_tokens",) if training.unique_tokens else ()
    return read | {name: getattr(training, name) for name in (*unique, *planted)}


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
    return make_recipe("generate", settings, {"corpus": corpus(config), "corruption": corrupt(config)})
