"""How a stage script meets the command line: Hydra composes, mistakes become one line, work goes to the store."""

import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from .artifacts import Recipe, Runtime, Store, explain_os_error
from .claims import hash_rules, load_rules
from .config import Config, register
from .errors import StudyError
from .hardware import choose_device

MISTAKES = (StudyError, HydraException, OmegaConfBaseException)
CONF = Path(__file__).parents[2] / "conf"


@dataclass
class Job:
    """One job's settings, and the store that its results go to."""

    config: Config
    overrides: list[str]

    def choose(self, **groups: str) -> Config:
        """Compose the same job with other choices, such as corpus="plots"."""
        kept = [override for override in self.overrides if override.split("=")[0] not in groups]
        chosen = [f"{group}={name}" for group, name in groups.items()]
        return to_config(hydra.compose("config", kept + chosen))

    @cached_property
    def rules(self) -> list[dict]:
        """Return the rules that decide the claims."""
        return load_rules(CONF / "claims.yaml")

    @cached_property
    def store(self) -> Store:
        """Return the store that the settings name."""
        from .stages import open_store

        config = self.config
        runtime = Runtime(
            config.data_dir, choose_device(config.device), config.threads, rules=hash_rules(self.rules)
        )
        return open_store(Path(config.store), runtime)

    def make(self, recipe: Recipe) -> Path:
        """Make a result and what it needs, and say where it lies."""
        folder = self.store.ensure(recipe)
        print(f"{recipe.stage}: {folder}")
        return folder


def to_config(raw: DictConfig) -> Config:
    """Turn what Hydra composed into typed settings; a missing value or wrong type raises."""
    return OmegaConf.to_object(raw)


def command(run: Callable[[Job], None]) -> Callable[[], None]:
    """Make a Hydra command of a function of one job."""
    register()

    def job(raw: DictConfig) -> None:
        overrides = list(HydraConfig.get().overrides.task)
        try:
            run(Job(to_config(raw), overrides))
        except MISTAKES as error:
            if HydraConfig.get().mode == RunMode.RUN:
                sys.exit(f"error: {one_line(error)}")
            print(f"error in {' '.join(overrides)}: {one_line(error)}", file=sys.stderr)
            raise

    @functools.wraps(run)
    def main() -> None:
        os.environ.setdefault("HYDRA_FULL_ERROR", "1")
        try:
            hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(job)()
        except MISTAKES as error:
            sys.exit(f"error: {one_line(error)}")
        except OSError as error:
            sys.exit(f"error: {explain_os_error(error, Path.cwd())}")
        except KeyboardInterrupt:
            print("stopped; the same command goes on from here", file=sys.stderr)
            sys.exit(130)

    return main


def one_line(error: BaseException) -> str:
    """Return what a person needs of an error: no search paths, no line breaks."""
    text = str(error).split("Config search path")[0].split("full_key:")[0]
    cause = error.__cause__ if isinstance(error, HydraException) else None
    reason = f" ({one_line(cause)})" if cause is not None and str(cause) not in text else ""
    return " ".join(text.split()) + reason
