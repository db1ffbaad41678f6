"""A result is a folder named after what made it; it appears whole or not at all."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from filelock import FileLock, Timeout
from safetensors import SafetensorError

from ..errors import StudyError
from ..files import CHECKPOINT, explain_os_error, flush_to_disk, hash_file, hash_of, write_atomically
from ..hardware import one_blas_thread
from .provenance import current_commit, library_versions
from .workers import hold

RECORD = "artifact.json"
UNFINISHED, LOCKS = ".partial-", ".locks"  # begins the folder of what is being made, and where its lock lies
ADVICE = "set store=<folder>"


# Settings that are paths; beside a sha256 only the last part of the path counts.
PLACES = ("path", "source", "encoder")


def _identity(settings: dict) -> dict:
    """Return the part of the settings in an id: content with a hash is the same wherever its folder is."""
    content: dict = {
        key: _identity(value) if isinstance(value, dict) else value for key, value in settings.items()
    }
    if not content.get("sha256"):
        return content
    return content | {key: Path(content[key]).name for key in PLACES if content.get(key)}


@dataclass(frozen=True)
class Recipe:
    """What makes a result: a stage, its version, its settings and the results that it reads.

    The inputs `unread` are in its id alone, and are not made for it.
    """

    stage: str
    version: int
    settings: dict
    inputs: "dict[str, Recipe]" = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    @cached_property
    def id(self) -> str:
        """Return the hash of these contents: equal recipes share it, unequal ones do not."""
        ids = {name: recipe.id for name, recipe in self.inputs.items()}
        return hash_contents(self.stage, self.version, self.settings, ids)

    @property
    def needs(self) -> "dict[str, Recipe]":
        """Return the results that are made first, by the name of the input."""
        return {name: recipe for name, recipe in self.inputs.items() if name not in self.unread}


def hash_contents(stage: str, version: int, settings: dict, input_ids: dict[str, str]) -> str:
    """Return the id of what a stage makes from settings and inputs."""
    contents = {"stage": stage, "version": version, "settings": _identity(settings), "inputs": input_ids}
    return hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()[:16]


Make = Callable[[dict, dict[str, Path], Path, "Runtime"], dict | None]


@dataclass(frozen=True)
class Runtime:
    """Where and how fast work is done: nothing here changes a result, so none of it is in an id.

    But for the budget that stands for minutes, which is measured once and then kept: it is for so many `workers`.
    """

    data_dir: str = "data"
    device: str = "cpu"  # or "auto": a stage that needs one chooses it
    threads: int = 0
    show_progress: bool = True
    line: int = 0  # of the terminal, for a bar below that of the study; 0: there is none above
    rules: str = ""
    micro_batch_documents: int = 0
    checkpoint_seconds: float = 90.0
    workers: int = 1


class Store:
    """All artifacts under one folder, `<root>/<stage>/<id>/`."""

    def __init__(self, root: Path, makers: dict[str, Make], runtime: Runtime | None = None):
        self.root, self.makers, self.runtime = Path(root), makers, runtime or Runtime()
        self._checked: set[Path] = set()

    def path(self, recipe: Recipe) -> Path:
        """Return the folder of the result of this recipe, made or not."""
        return self.root / recipe.stage / recipe.id

    def has(self, recipe: Recipe) -> bool:
        """Return whether the result is stored and undamaged."""
        folder = self.path(recipe)
        if folder not in self._checked and not damaged_files(folder):
            self._checked.add(folder)
        return folder in self._checked

    def ensure(self, recipe: Recipe) -> Path:
        """Return the folder of the result; if it is not stored, make what it needs and then the result.

        Of several processes that ask for one result, one makes it and the others wait. Raises StudyError when the
        folder cannot be written.
        """
        if self.has(recipe):
            return self.path(recipe)
        with self._lock(recipe):
            if not self.has(recipe):
                self._make(recipe)
        return self.path(recipe)

    def _unfinished(self, recipe: Recipe) -> Path:
        return self.root / recipe.stage / f"{UNFINISHED}{recipe.id}"

    def _make(self, recipe: Recipe) -> None:
        final = self.path(recipe)
        if final.exists():
            print(f"{recipe.stage}/{recipe.id} is damaged; rebuilding it", flush=True)
            shutil.rmtree(final)
        inputs = {name: self.ensure(needed) for name, needed in recipe.needs.items()}
        partial = self._unfinished(recipe)
        started = time.monotonic()
        try:
            _clear_unfinished(partial)
            with one_blas_thread():
                measured = self.makers[recipe.stage](recipe.settings, inputs, partial, self.runtime) or {}
            _write_record(partial, recipe, time.monotonic() - started, measured)
            os.replace(partial, final)
            shutil.rmtree(final / CHECKPOINT, ignore_errors=True)  # last: a kill before this loses nothing
        except (OSError, SafetensorError) as error:
            raise StudyError(explain_os_error(error, final, ADVICE)) from error
        self._checked.add(final)

    def _lock(self, recipe: Recipe):
        lock_file = self.root / LOCKS / f"{recipe.stage}-{recipe.id}.lock"
        try:
            lock_file.parent.mkdir(parents=True, exist_ok=True)
            # Workers of one study wait for each other's start or corpus, which is no news.
            seconds = 60 if self.runtime.line else 3
            return hold(FileLock(lock_file), f"that is building {recipe.stage}/{recipe.id}", seconds)
        except OSError as error:
            raise StudyError(explain_os_error(error, self.root, ADVICE)) from error


def is_being_made(folder: Path) -> bool:
    """Return whether a process holds the lock of the artifact of a folder, finished or not."""
    name = f"{folder.parent.name}-{folder.name.removeprefix(UNFINISHED)}.lock"
    if not (lock_file := folder.parent.parent / LOCKS / name).exists():
        return False
    try:
        with FileLock(lock_file, timeout=0):
            return False
    except Timeout:
        return True


def _clear_unfinished(partial: Path) -> None:
    """Empty the folder of a killed run; where a stage may resume from a checkpoint, keep it and what it has made so far."""
    partial.mkdir(parents=True, exist_ok=True)
    can_resume = (partial / CHECKPOINT).is_dir()
    for path in partial.iterdir():
        if path.is_file():
            path.unlink()
        elif not can_resume or path.name.startswith(f"{CHECKPOINT}-"):
            shutil.rmtree(path)


def damaged_files(folder: Path) -> list[str]:
    """Return the files of an artifact that are missing or whose bytes differ from its record.

    The record itself, where it is no record, or its settings and inputs make another id than the folder's.
    """
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        files = dict(record["files"])
        ids = {name: reference.partition("/")[2] for name, reference in record["inputs"].items()}
        if folder.name != hash_contents(record["stage"], record["version"], record["settings"], ids):
            return [RECORD]
        if not {"seconds", "measured"} <= record.keys():
            return [RECORD]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [RECORD]
    paths = {name: folder / name for name in files}
    # Many cells read one model of 200 MB: a file is hashed again only when its size or time has changed.
    return [name for name, path in paths.items() if not path.is_file() or hash_of(path) != files[name]]


def explain_damage(folder: Path, reasons: dict[Path, str] | None = None) -> str:
    """Return why an artifact, or one that it was made from, cannot be believed; nothing where all are whole.

    What was removed from the store is no damage. `reasons` keeps what was found, so that each artifact is read once.
    """
    reasons = {} if reasons is None else reasons
    if folder not in reasons:
        if damaged := damaged_files(folder):
            changed = f"{name_of(folder)}/{damaged[0]} is missing or was changed"
            reasons[folder] = f"{changed}: run the command that made it again"
        else:
            stored = [path for path in inputs_of(folder).values() if path.is_dir()]
            reasons[folder] = next(filter(None, (explain_damage(path, reasons) for path in stored)), "")
    return reasons[folder]


def refuse_damaged(folder: Path) -> None:
    """Raise StudyError where an artifact, or one that it was made from, is not as it was written."""
    if reason := explain_damage(folder):
        raise StudyError(f"{folder.parents[1]}: {reason}")


def read_record(folder: Path) -> dict:
    """Return the record of an artifact: stage, settings, inputs, versions, commit, seconds, measured."""
    return json.loads((folder / RECORD).read_text())


def inputs_of(folder: Path) -> dict[str, Path]:
    """Return the folders of the artifacts that an artifact was made from."""
    root = folder.parents[1]
    return {name: root / reference for name, reference in read_record(folder)["inputs"].items()}


def name_of(folder: Path) -> str:
    """Return `<stage>/<id>`."""
    return f"{folder.parent.name}/{folder.name}"


def list_artifacts(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield (state, folder) of everything stored; state is `whole`, `damaged` or `unfinished`."""
    for folder in sorted(Path(root).glob("*/*")):
        if folder.parent.name.startswith(".") or not folder.is_dir():
            continue
        if folder.name.startswith(UNFINISHED):
            yield "unfinished", folder
        elif (folder / RECORD).exists():
            yield ("damaged" if damaged_files(folder) else "whole"), folder


def _write_record(folder: Path, recipe: Recipe, seconds: float, measured: dict) -> None:
    left_out = (folder / CHECKPOINT, folder / RECORD)
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and not {path, *path.parents} & {*left_out}
    )
    record = {
        "stage": recipe.stage,
        "id": recipe.id,
        "version": recipe.version,
        "settings": recipe.settings,
        "inputs": {name: f"{needed.stage}/{needed.id}" for name, needed in recipe.inputs.items()},
        "seed": recipe.settings.get("seed"),
        "files": {str(path.relative_to(folder)): hash_file(path) for path in files},
        "libraries": library_versions(),
        "commit": current_commit(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "measured": measured,
    }
    for path in files:
        flush_to_disk(path)
    write_atomically(folder / RECORD, json.dumps(record, indent=1, sort_keys=True))
