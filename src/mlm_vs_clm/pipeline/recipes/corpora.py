"""Recipes of corpora, those of a package and a user's own."""

from dataclasses import asdict
from functools import cache, partial
from pathlib import Path

from ...corpora.building import check_own, name_own, own_source
from ...corpora.packages import locate
from ...corpora.sources import SOURCES
from ...corpora.splits import DRAWN, Sizes
from ...corpora.windows import Cutting
from ...errors import StudyError
from ...metrics import note_unknown
from ...tasks import TASKS
from ..artifacts import Recipe
from ..config import Config
from .versions import make_recipe


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
    return make_recipe("corpus", settings)


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
    cutting = Cutting(chosen.window_words, chosen.min_words, chosen.seed)
    note = partial(_note_encoder, config.scoring.encoder, config.data_dir)
    card, mistakes, is_sound_without = check_own(source, path, sizes, cutting, chosen.task, note)
    print("\n".join([card, *(mistakes or ["no mistakes"])]))
    if mistakes:
        can_skip = is_sound_without and not chosen.skip_mistakes
        raise StudyError(
            f"mistakes in {path}: {len(mistakes)}, listed above; correct them"
            + ", or set corpus.skip_mistakes=true" * can_skip
        )


def _note_encoder(encoder: str, data_dir: str, texts: list[str]) -> str:
    """Return what an encoder's tokenizer knows of texts; "" where it is not on this machine."""
    try:
        folder = Path(locate(encoder, Path(data_dir)))
    except StudyError:
        return ""
    return note_unknown(folder, encoder, texts)
