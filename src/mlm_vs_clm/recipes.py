"""What each result is made from: settings in, recipes out. The one place where stages are joined."""

from dataclasses import asdict
from pathlib import Path

from .artifacts import Recipe
from .config import ArmConfig, Config
from .corpora.packages import hash_of
from .corpora.sources import SOURCES
from .errors import StudyError
from .hardware import choose_device, choose_precision
from .masking import check_masking
from .writing import check_arm

# Raised when a stage's code comes to mean something else: what it stored before is then made again.
VERSIONS = {
    "corpus": 1,
    "start": 1,
    "pretrain": 1,
    "corrupt": 1,
    "generate": 2,
    "score": 1,
    "downstream": 2,
    "correlate": 1,
    "report": 3,
}
CONTROLS = ("real", "majority", "shuffled")


def _recipe(stage: str, settings: dict, inputs: dict[str, Recipe] | None = None) -> Recipe:
    return Recipe(stage, VERSIONS[stage], settings, inputs or {})


def corpus(config: Config, name: str | None = None) -> Recipe:
    """A corpus in four splits; by default the one that the settings name."""
    name = name or config.corpus.name
    if name not in config.scale.sizes:
        raise StudyError(f"scale.sizes.{name} is missing: say how many documents each split of {name} holds")
    settings = {"name": name, "sizes": asdict(config.scale.sizes[name])}
    settings |= {key: getattr(config.corpus, key) for key in ("window_words", "min_words", "seed")}
    if name == config.corpus.name and config.corpus.path:
        settings |= own_file(config.corpus.path)
    elif name not in SOURCES:
        raise StudyError(f"corpus {name} has no source: give corpus.path=<a JSON Lines file of documents>")
    return _recipe("corpus", settings)


def own_file(path: str) -> dict:
    """Return what names a user's own file: where it lies, and its hash."""
    if not Path(path).is_file():
        raise StudyError(f"corpus.path={path} is not a file: give a JSON Lines file of documents")
    return {"path": path, "sha256": hash_of(Path(path))}


def start(config: Config) -> Recipe:
    """The tokenizer and the parameters that every objective starts from."""
    model = asdict(config.model)
    corpora = _training_corpora(config) if config.model.start == "scratch" else {}
    return _recipe("start", model, corpora)


def pretrain(config: Config) -> Recipe:
    """A model trained with one objective."""
    precision = choose_precision(config.precision, choose_device(config.device))
    training = asdict(config.scale.training) | {"precision": precision}
    training.pop("checkpoint_seconds")
    settings = {"objective": asdict(config.objective), "training": training, "seed": config.model.seed}
    return _recipe("pretrain", settings, {"start": start(config)} | _training_corpora(config))


def _training_corpora(config: Config) -> dict[str, Recipe]:
    names = config.model.corpora or [config.corpus.name]
    return {f"corpus/{name}": corpus(config, name) for name in names}


def corrupt(config: Config) -> Recipe:
    """Which words are blanks: one artifact for every arm."""
    masking = config.masking
    check_masking(masking.strategy, masking.ratio)
    tagged = masking.strategy == "entities" and not config.corpus.gold_entities
    settings = asdict(masking) | {"entities": "tagger" if tagged else "gold", "seed": config.seed}
    return _recipe("corrupt", settings, {"corpus": corpus(config)})


def generate(config: Config) -> Recipe:
    """What an arm wrote into the blanks."""
    arm = config.arm
    if arm.objective and arm.objective != config.objective.name:
        raise StudyError(
            f"arm={arm.name} needs objective={arm.objective}, not objective={config.objective.name}"
        )
    settings = arm.to_settings()
    check_arm(**{key: value for key, value in settings.items() if key not in ("name", "objective")})
    settings |= {"seed": config.seed}
    inputs = {"corpus": corpus(config), "corruption": corrupt(config)}
    if arm.objective:
        settings["precision"] = choose_precision(config.precision, choose_device(config.device))
        inputs["model"] = pretrain(config)
    return _recipe("generate", settings, inputs)


def baseline(config: Config, name: str) -> Recipe:
    """What a baseline wrote into the same blanks."""
    settings = ArmConfig(name=name, writer=name).to_settings() | {"seed": config.seed}
    return _recipe("generate", settings, {"corpus": corpus(config), "corruption": corrupt(config)})


def score(config: Config) -> Recipe:
    """The scores of what an arm wrote, beside the unfilled and the perfect text."""
    return _score(config, generate(config))


def _score(config: Config, generation: Recipe) -> Recipe:
    settings = asdict(config.scoring) | {"resamples": config.scale.resamples}
    settings.pop("bound")
    settings["precision"] = choose_precision(config.precision, choose_device(config.device))
    inputs = {"corpus": corpus(config), "corruption": corrupt(config), "generation": generation}
    if generation.settings["name"] not in ("unfilled", "oracle"):
        inputs |= {name: _score(config, baseline(config, name)) for name in ("unfilled", "oracle")}
    return _recipe("score", settings, inputs)


def downstream(config: Config) -> Recipe:
    """A task model trained on generated text, or on a control, and tested on real text."""
    if config.trained_on not in ("generated", *CONTROLS):
        raise StudyError(
            f"trained_on={config.trained_on} is unknown: choose generated, {', '.join(CONTROLS)}"
        )
    settings = {
        "task": config.corpus.task,
        "trained_on": config.trained_on,
        "seeds": config.scale.task_seeds,
        "resamples": config.scale.resamples,
    }
    inputs = {"corpus": corpus(config)}
    if config.trained_on == "generated":
        inputs |= {"corruption": corrupt(config), "generation": generate(config)}
    return _recipe("downstream", settings, inputs)


def correlate(config: Config, cells: dict[str, Recipe]) -> Recipe:
    """Quality against utility over the cells; of `cells`, scores and downstream results are read."""
    cells = {name: recipe for name, recipe in cells.items() if recipe.stage in ("score", "downstream")}
    settings = {"resamples": config.scale.resamples, "bound": config.scoring.bound}
    return _recipe("correlate", settings, cells)


def report(config: Config, cells: dict[str, Recipe], shown: list[str], rules: list[dict]) -> Recipe:
    """Everything that a person reads: verdicts by `rules`, a document printed of the `shown` corpora alone."""
    settings = {"scale": config.scale.name, "model": config.model.name, "examples": shown, "rules": rules}
    settings["resamples"] = max(config.scale.resamples, 2000)
    ratings = Path(config.results) / "ratings" / "ratings.csv"
    if ratings.is_file():
        settings["ratings"] = own_file(str(ratings))
    return _recipe("report", settings, cells | {"correlation": correlate(config, cells)})
