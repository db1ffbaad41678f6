"""The command line of a stage script: Hydra composes, mistakes become one line, results go to the store."""

import functools
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import hydra
import omegaconf
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from ..console import READER_GONE, describe_error, lost_reader, print_traceback
from ..errors import StudyError
from ..files import explain_os_error
from . import recipes, study
from .artifacts import Recipe, Runtime, Store
from .checks import check_numbers
from .cluster import NO_SLURM, explain_cluster
from .composing import CONF, Composed, compose, set_tokens
from .config import Config, register
from .effects import refuse_ignored
from .overrides import allow_open, expand_home, explain_override, refuse_repeated

MISTAKES = (StudyError, HydraException, OmegaConfBaseException)


WORDS = Path(__file__).with_name("words.yaml")  # what each setting is, for --help
AT_STOP: list[Callable[[], object]] = []  # what a sweep that is stopped still tells
SWEEP = ("-m", "--multirun")
UNTRAINED = ("corpus", "corrupt")  # stages that need no trained model, and so no budget


@dataclass
class Job:
    """One job's settings, and the store that its results go to."""

    config: Config
    overrides: list[str]
    chosen: dict[tuple, Config] = field(default_factory=dict)
    composed: "Composed" = field(default_factory=dict)
    result: Path | None = None

    def choose(self, **groups: str) -> Config:
        """Compose the same job with other choices, such as corpus="plots", each once; do not change what is returned.

        A key with a dot is a setting, and its value JSON; it is set after Hydra composed the groups, which takes longer.
        """
        choices = tuple(sorted(groups.items()))
        if choices not in self.chosen:
            settings = {key: json.loads(value) for key, value in groups.items() if "." in key}
            typed = [override for override in self.overrides if override.split("=")[0] not in groups]
            plain = [f"{group}={name}" for group, name in groups.items() if group not in settings]
            config = compose(typed + plain, self.composed, settings)
            self.chosen[choices] = set_tokens(config, self.config.scale.training.token_budget)
        return self.chosen[choices]

    def set_budget(self) -> None:
        """Turn `scale.minutes` into a token budget: measured by the first command that asks, then read from the store."""
        self._set_tokens(recipes.UNIT_TOKENS)
        trainings = study.list_trainings(self.config, self.choose)
        folder = self.store.ensure(recipes.budget(self.config, trainings))
        tokens = json.loads((folder / "budget.json").read_text())["token_budget"]
        self._set_tokens(tokens)
        print(
            f"budget: {folder}\n{self.config.scale.minutes:g} minutes of training: {tokens:,} tokens "
            f"(measured once; scale.training.token_budget=<n> asks for another number)"
        )

    def _set_tokens(self, tokens: int) -> None:
        for config in (self.config, *self.chosen.values()):
            set_tokens(config, tokens)

    @cached_property
    def rules(self) -> list[dict]:
        """Return the rules that decide the claims."""
        from ..evidence.claims import load_rules

        main = self.config.scale.main
        return load_rules(CONF / "claims.yaml", (main.label, main.ratio), self.config.track.name)

    @cached_property
    def store(self) -> Store:
        """Return the store that the settings name."""
        from ..evidence.claims import hash_rules
        from .stages import open_store

        config, training = self.config, self.config.scale.training
        runtime = Runtime(
            config.data_dir,
            config.device,
            config.threads or int(is_sweep()),
            rules=hash_rules(self.rules),
            micro_batch_documents=training.micro_batch_documents,
            checkpoint_seconds=training.checkpoint_seconds,
            workers=config.workers,
        )
        return open_store(Path(config.store), runtime)

    def make(self, recipe: Recipe) -> Path:
        """Make a result and what it needs, print its folder and return it."""
        folder = self.store.ensure(recipe)
        print(f"{recipe.stage}: {folder}")
        self.result = folder
        return folder


def command(run: Callable[[Job], None]) -> Callable[[], None]:
    """Make a Hydra command of a function of one job."""
    register()

    @functools.wraps(run)  # Hydra names the job after the script that this function stands in
    def job(raw: DictConfig) -> str | None:
        # As a container, since an element that is asked for alone would lose the escape of a "${" in it.
        overrides: Any = OmegaConf.to_container(HydraConfig.get().overrides.task)
        try:
            return _run_job(run, raw, overrides)
        except Exception as error:
            if is_sweep():
                raise _report_failure(error, overrides) from None
            if isinstance(error, MISTAKES):
                sys.exit(f"error: {one_line(error)}")
            raise

    @functools.wraps(run)
    def main() -> None:
        os.environ.setdefault("HYDRA_FULL_ERROR", "1")
        words = [expand_home(allow_open(word)) for word in sys.argv[1:]]
        # Hydra takes -m before or behind all settings, not between them.
        sys.argv[1:] = sorted(words, key=lambda word: word not in SWEEP)
        try:
            refuse_repeated(words)
            if {"-h", "--help"} & set(sys.argv[1:]):
                show_help(run)
            else:
                hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(job)()
            sys.stdout.flush()
        except (Exception, KeyboardInterrupt) as error:
            for tabulate in list(AT_STOP):
                try:
                    tabulate()
                except Exception as of_table:
                    print(f"error: {explain(of_table)}", file=sys.stderr)
            sys.exit(_explain(error))

    return main


def _run_job(run: Callable[[Job], None], raw: DictConfig, overrides: list[str]) -> str | None:
    """Run one job; return the folder of what it made."""
    stage = HydraConfig.get().job.name
    refuse_launcher(stage)
    composed = {tuple(overrides): raw}
    job = Job(compose(overrides, composed), overrides, composed=composed)
    check_numbers(job.config)
    if not is_sweep():  # its callback does this once
        refuse_ignored(stage, [job])
    if job.config.scale.minutes and stage not in UNTRAINED:
        job.set_budget()
    run(job)
    if job.result and not is_sweep():  # the numbers of a sweep are in its table
        from .tabulate import STAGES, print_result  # here, as it loads pandas

        if stage in STAGES:
            print_result(job.result)
    return str(job.result.resolve()) if job.result else None


def show_help(run: Callable) -> None:
    """Print what a stage does, its choices, and a line for each of its settings; Hydra takes a second longer to list as much."""
    overrides = [word for word in sys.argv[1:] if not word.startswith("-")]
    with hydra.initialize_config_dir(str(CONF), version_base="1.3"):
        settings = hydra.compose("config", overrides)
    folders = [folder for folder in sorted(CONF.iterdir()) if folder.is_dir() and folder.name != "hydra"]
    choices = {
        folder.name: sorted(str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.yaml"))
        for folder in folders
    }
    print(f"{sys.modules[run.__module__].__doc__}\n\nChoices (group=name; several with -m: group=name,name)")
    print("\n".join(f"  {group}: {', '.join(names)}" for group, names in choices.items()))
    print("\nSettings (key=value; --hydra-help lists those of Hydra)\n")
    print("\n".join(describe_settings(settings)))


def describe_settings(settings: DictConfig) -> Iterator[str]:
    """Yield a line per setting: "key=value  what it is"; the cells of a grid and the panels of a track are left out."""
    words = OmegaConf.to_container(OmegaConf.load(WORDS))
    assert isinstance(words, dict)
    for key, meaning in words.items():
        value = OmegaConf.select(settings, f"{key!s}")
        is_left_out = key in ("scale.grid", "track.panels", "scale.sizes", "second_objective")
        written = "..." if is_left_out else _write_value(value)
        named = f"{key!s}={written}"
        yield f"  {named:58} {meaning!s}"


def _write_value(value: Any) -> str:
    if isinstance(value, DictConfig | ListConfig):
        value = OmegaConf.to_container(value, resolve=True)
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _explain(error: BaseException) -> str | int:
    """Return the line, or the exit code, that a command ends with."""
    if isinstance(error, MISTAKES):
        return f"error: {one_line(error)}"
    if isinstance(error, BrokenPipeError) and lost_reader():
        return READER_GONE
    if isinstance(error, OSError):
        return f"error: {explain_os_error(error, Path.cwd())}"
    if isinstance(error, BrokenProcessPool):
        return (
            "error: a sweep job was killed, probably out of memory, and took the parallel jobs down: "
            "set hydra.launcher.n_jobs lower and run the same command; finished results are reused"
        )
    if type(error).__module__.startswith("submitit") or str(error).startswith(NO_SLURM):
        return f"error: {explain_cluster(error)}"
    if isinstance(error, KeyboardInterrupt):
        print("Interrupted. Run the same command again to resume.", file=sys.stderr)
        return 130
    frames = traceback.extract_tb(error.__traceback__)
    if frames and is_of_hydra(Path(frames[-1].filename)):
        return (
            f"error: Hydra cannot use these settings ({type(error).__name__}: {one_line(error)}): see --help"
        )
    print_traceback(error)
    return 1


def is_of_hydra(source: Path) -> bool:
    """Return whether a source file is one of Hydra's or OmegaConf's, whose messages show settings and no text."""
    return any(source.is_relative_to(Path(str(module.__file__)).parent) for module in (hydra, omegaconf))


def refuse_launcher(stage: str) -> None:
    """Raise StudyError under `torchrun` or `accelerate launch`: each of their processes would run the whole command."""
    if int(os.environ.get("WORLD_SIZE", 1)) > 1 or {"ACCELERATE_USE_CPU", "MASTER_ADDR"} <= os.environ.keys():
        raise StudyError(
            f"a launcher started several processes for one model, which is not supported: run python "
            f"experiments/{stage}.py without it, or use several GPUs by a sweep (-m hydra/launcher=joblib)"
        )


def is_sweep() -> bool:
    """Return whether this job is one of many: it then gets one thread, as another number changes the last bit of sums."""
    return HydraConfig.get().mode == RunMode.MULTIRUN


def _report_failure(error: Exception, overrides: list[str]) -> StudyError:
    """Print at once which job of a sweep failed, and return the reason in one line for the list at its end."""
    if not isinstance(error, MISTAKES):
        print_traceback(error)
    reason = explain(error)
    print(f"failed: {' '.join(overrides)}: {reason}", file=sys.stderr, flush=True)
    return StudyError(reason)


def explain(error: Exception) -> str:
    """Return in one line why something failed; of what is no mistake of the user its type and place."""
    return one_line(error) if isinstance(error, MISTAKES) else describe_error(error)


def one_line(error: BaseException) -> str:
    """Return the message of an error without search paths and line breaks."""
    if explanation := explain_override(error):
        return explanation
    text = str(error).split("Config search path")[0].split("full_key:")[0]
    cause = error.__cause__ if isinstance(error, HydraException) else None
    reason = f" ({one_line(cause)})" if cause is not None and str(cause) not in text else ""
    return " ".join(text.split()) + reason
