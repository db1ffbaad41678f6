"""Which overrides reach a result of a command: one that reaches none is refused, as it would be ignored in silence."""

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass, replace
from functools import cache, partial
from itertools import zip_longest
from typing import Any, Protocol

from ..errors import StudyError
from . import recipes, study
from .artifacts import Recipe
from .composing import compose, is_of_model
from .config import RUNTIME_TRAINING, Config

# Where and how fast work is done: none of it is in an id.
RUNTIME = {"store", "results", "data_dir", "device", "workers", "threads"}
RUNTIME |= {f"scale.training.{name}" for name in RUNTIME_TRAINING}
STUDIES = ("report", "correlate")  # commands that make every cell of the grid
# Of a job's own cell; one line of settings is often used for several stages.
CELL = (recipes.corpus, recipes.corrupt, recipes.pretrain, recipes.score, recipes.downstream)
GRID = {"corpus": "corpora", "arm": "arms", "masking": "maskings", "seed": "seeds", "objective": "arms"}
GRID |= {"likelihood": "likelihood"}
GONE = object()  # in the place of a setting that is not there

Change = dict[str, Any]  # other values, by dotted name


class Job(Protocol):
    """What is asked of a job; see command.Job."""

    config: Config
    overrides: list[str]

    def choose(self, **groups: str) -> Config: ...


def refuse_ignored(stage: str, jobs: Iterable[Job]) -> None:
    """Raise StudyError for the first override that reaches no result of any job.

    The jobs of a sweep have equally many overrides, in one order. A job that cannot be made as it is says so itself.
    """
    ignored: dict[int, str] | None = None
    for job in jobs:
        try:
            reach = _Reach(stage, job)
            places = range(len(job.overrides)) if ignored is None else ignored
            ignored = {place: job.overrides[place] for place in places if reach.is_ignored(place)}
        except StudyError:
            continue
        if not ignored:
            return
    for override in (ignored or {}).values():
        raise StudyError(f"{override.removeprefix('++')} {_advise(override, stage)}")


def _advise(override: str, stage: str) -> str:
    name = GRID.get(override.partition("=")[0].partition(".")[0])
    if stage in STUDIES and name:
        return f"reaches no result: a study takes its {name} from scale.grid.{name}, so set that"
    return "reaches no result of this command: correct its name or remove it (--help lists the settings)"


class _Reach:
    """Which of a job's overrides reach its results."""

    def __init__(self, stage: str, job: Job):
        self.stage, self.job = stage, job
        self.asked: set[tuple[str, str]] = set()
        self.known: list[str] = []
        self.rest = self._list_ids({}, "")
        if stage not in STUDIES:
            getattr(recipes, stage)(job.config)  # raises as the job would

    def is_ignored(self, place: int) -> bool:
        """Return whether no result is another one without the override, nor with another value in its place.

        A choice of a group passes where it is the default, or all that the results choose.
        """
        overrides = self.job.overrides
        key, _, value = overrides[place].lstrip("+~").partition("=")
        if key in RUNTIME or (key, self.stage) == ("check", "corpus"):
            return False
        own_model = self.job.config.arm.model
        if own_model and is_of_model(key) and self.stage not in STUDIES:
            return (key, value) != ("model", own_model)
        is_group = is_dataclass(getattr(self.job.config, key, None))
        # First, as it takes no composition.
        changes = [] if is_group else _change_value(self.job.config, key)
        if any(self._differs(change, "") for change in changes):
            return False
        try:
            without = compose(overrides[:place] + overrides[place + 1 :])
        except Exception:
            return False  # the others need it
        change = _find_change(self.job.config, without)
        if not change and (overrides[place].startswith("++") or overrides[place][0] != "+"):
            return False
        if self._differs(change, key if is_group else ""):
            return False
        return not is_group or {name for group, name in self.asked if group == key} != {value}

    def _differs(self, change: Change, group: str) -> bool:
        ids = self._list_ids(change, group)
        return any(a != b for a, b in zip_longest(self._list_known(), ids))

    def _list_known(self) -> Iterator[str]:
        """Yield the ids as the job stands, each made once."""
        yield from self.known
        for id in self.rest:
            self.known.append(id)
            yield id

    def _list_ids(self, change: Change, group: str) -> Iterator[str]:
        """Yield what a change of settings makes of the results: their ids, or the mistake that one ends in.

        Where the results themselves choose a `group`, the change is not made.
        """

        @cache
        def choose(**groups: str) -> Config:
            self.asked |= set(groups.items())
            config = self.job.choose(**groups) if groups else self.job.config
            config = config if group in groups else _apply(config, change)
            precision = "fp32" if config.precision == "auto" else config.precision
            return replace(config, device="cpu", precision=precision)  # to choose either would load torch

        for list_recipes in (
            [study.results] if self.stage in STUDIES else [partial(_one, cell_recipe) for cell_recipe in CELL]
        ):
            try:
                config = choose()
                yield str(config.scale.minutes)
                yield from (recipe.id for recipe in list_recipes(config, choose))
            except Exception as error:
                if self.stage in STUDIES and not change:
                    raise  # as making the study would
                yield f"{type(error).__name__}: {error}"


def _one(make: Callable[[Config], Recipe], config: Config, choose: Callable[..., Config]) -> Iterator[Recipe]:
    yield make(config)


def _find_change(config: Config, changed: Config) -> Change:
    """Return what turns settings into others."""
    before, after = _flatten(config), _flatten(changed)
    values = {key: after.get(key, GONE) for key in before | after}
    # By `repr`, in which nan equals itself.
    return {key: value for key, value in values.items() if repr(before.get(key, GONE)) != repr(value)}


def _flatten(settings: Any, prefix: str = "") -> Change:
    leaves: Change = {}
    for name, value in (settings if isinstance(settings, dict) else vars(settings)).items():
        is_leaf = not (isinstance(value, dict) or is_dataclass(value))
        leaves |= {f"{prefix}{name}": value} if is_leaf else _flatten(value, f"{prefix}{name}.")
    return leaves


def _change_value(config: Config, key: str) -> list[Change]:
    """Return a change to a value that the setting does not have, as it may name what is so without it."""
    value = _flatten(config).get(key)
    if isinstance(value, bool):
        return [{key: not value}]
    if isinstance(value, int | float):
        return [{key: value + 1}]
    return [{key: f"{value}?"}] if isinstance(value, str) else []


def _apply(config: Config, change: Change) -> Config:
    """Return settings with a change."""
    config = copy.deepcopy(config) if change else config
    for key, value in change.items():
        *path, last = key.split(".")
        node: Any = config
        for name in path:
            node = node[name] if isinstance(node, dict) else getattr(node, name)
        fields = node if isinstance(node, dict) else vars(node)
        if value is GONE:
            fields.pop(last, None)
        else:
            fields[last] = value
    return config
