"""Recipes of what is measured of texts: their scores, and what they give away."""

from dataclasses import asdict
from pathlib import Path

from ...arms.baselines import BOUNDS
from ...errors import StudyError
from ...metrics.measures import ALONE, ENCODER, LANGUAGE_MODEL, METRICS, list_read
from ...metrics.proxies import PERPLEXITY
from ..artifacts import Recipe
from ..config import Config
from .corpora import corpus
from .texts import baseline, corrupt, generate, reading_of
from .trainings import name_source, precision_of, start, training_corpora
from .versions import UNNAMED, make_recipe

ASKED = ("mlm", "clm")  # objectives whose models are asked for the loss of whole texts
ENCODER_KIND = "masked"  # the encoder of BERTScore is stored as such a checkpoint


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
    read = list_read(settings["metrics"])
    if ENCODER in read:
        refuse_own(
            generation, "scoring.encoder", named, f"such as scoring.encoder=package:{unrelated_encoder}"
        )
    inputs = {"corpus": corpus(config), "corruption": corrupt(config), "generation": generation}
    model = settings.pop("language_model")
    if LANGUAGE_MODEL in read:
        unrelated = name_source(model, config.data_dir)
        refuse_own(
            generation, "scoring.language_model", unrelated, f"or leave {PERPLEXITY} out of scoring.metrics"
        )
        settings["language_model"] = Path(model).name if "sha256" in unrelated else model
        inputs["language_model"] = checkpoint_of(unrelated, "causal")
    if named["source"].startswith("package:"):
        inputs["encoder"] = checkpoint_of(named, ENCODER_KIND)
    settings |= {"encoder": named.pop("source")} | named
    settings["precision"] = precision_of(config)
    if generation.settings["name"] not in BOUNDS and not config.arm.budget:  # a curve shows no gains
        inputs |= {name: _score(config, baseline(config, name)) for name in BOUNDS}
    if added := [name for name in ALONE if name not in UNNAMED]:
        settings["alone"] = added
    # The encoder is in every id, and fetched where it is read.
    return make_recipe("score", settings, inputs, () if ENCODER in read else (ENCODER,))


def checkpoint_of(named: dict, kind: str) -> Recipe:
    """Return the recipe of a model that scores, as a checkpoint: converted once, not in every process."""
    name = named["source"].removeprefix("package:")
    return make_recipe("start", named | {"name": name, "start": "checkpoint", "seed": 0, "kind": kind})


def refuse_own(generation: Recipe, setting: str, named: dict, advice: str) -> None:
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


def disclosure(config: Config) -> Recipe:
    """Return the recipe of what an arm's text gives away, and at the main cell the model of one of the objectives ASKED."""
    inputs = {"corpus": corpus(config), "corruption": corrupt(config), "generation": generate(config)}
    inputs |= {"start": start(config)} | training_corpora(config)
    is_asked = config.arm.objective in ASKED and config.masking == config.scale.main
    settings: dict = {"read": reading_of(config), "membership": is_asked}
    if "canaries" in settings["read"]:
        settings["canaries"] = "read"  # which of them count
    return make_recipe("disclosure", settings, inputs)
