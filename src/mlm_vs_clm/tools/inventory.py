"""List and remove stored artifacts."""

import argparse
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ..console import add_store
from ..errors import StudyError
from ..pipeline.artifacts import inputs_of, is_being_made, list_artifacts, name_of, read_record

STATES = {"whole", "damaged", "unfinished"}  # of which a store may have none


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm store`."""
    parser.add_argument("action", choices=["list", "remove"], help="list or remove artifacts")
    parser.add_argument(
        "names",
        nargs="*",
        help="to list: words such as `plots mlm random`; to remove: stage, stage/id, `unfinished`, `damaged` or `all`",
    )
    add_store(parser)


def run(chosen: argparse.Namespace) -> None:
    """List what is stored, or remove some of it."""
    if chosen.action == "list":
        show(chosen.store, chosen.names)
    else:
        remove(chosen.store, chosen.names)


def show(root: Path, words: Sequence[str] = ()) -> None:
    """Print state, place, size, seconds and names of the artifacts whose line has all of the words, in the order of stage and name.

    StudyError where there are words, but for states, and no line has all of them.
    """
    lines, total = [], 0
    for state, folder in list_artifacts(root):
        size = _measure(folder)
        about = _describe(folder, state)
        line = f"{state:10}  {folder.relative_to(root)!s:32}  {size / 2**20:8.1f} MB  {about}"
        if {*words} <= {*line.split(), folder.parent.name}:
            lines.append((folder.parent.name, about.partition(" s  ")[2], line))
            total += size
    if {*words} - STATES and not lines:
        raise StudyError(
            f"store list {' '.join(words)}: nothing stored in {root} has all of these words; see `make store`"
        )
    for *_, line in sorted(lines):
        print(line)
    print(f"{total / 2**20:.1f} MB in {root}" + (f" ({' '.join(words)})" if words else ""))


def _measure(folder: Path) -> int:
    """Return the bytes of a folder; a process may be writing it, so that files and folders in it come and go."""
    size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                size += Path(parent, name).stat().st_size
    return size


def _describe(folder: Path, state: str) -> str:
    """Return the seconds that an artifact took, and what it is of: corpus, arm, masking and seed, or its main settings."""
    if state != "whole":
        return ""
    record = read_record(folder)
    return f"{record['seconds']:7.1f} s  {' '.join(_name(folder, record))}"


def _name(folder: Path, record: dict) -> Iterator[str]:
    """Yield the words that name an artifact: corpora, arm or other name, masking, objective, and other main settings."""
    settings, inputs = record["settings"], inputs_of(folder)
    read = {name: _read_settings(path) for name, path in inputs.items()}
    yield from (
        about["name"] for name, about in read.items() if name.startswith("corpus") and "name" in about
    )
    yield from (about["name"] for about in (read.get("generation", {}), settings) if "name" in about)
    masking = read.get("corruption", settings)
    yield from (f"{masking[key]}" for key in ("strategy", "ratio") if key in masking)
    if isinstance(settings.get("objective"), dict):
        yield settings["objective"]["name"]
    yield from (
        f"{key}={settings[key]}" for key in ("task", "trained_on", "scale", "seed") if key in settings
    )


def _read_settings(folder: Path) -> dict:
    """Return the settings of an artifact that another was made from; none where its record is gone or damaged."""
    try:
        settings = read_record(folder)["settings"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return settings if isinstance(settings, dict) else {}


def remove(root: Path, names: list[str]) -> None:
    """Remove artifacts by stage, name or state, each once, but for those that a process is making.

    StudyError, and nothing removed, if a name fits none.
    """
    if not names:
        raise StudyError("store remove: name a stage, stage/id, unfinished, damaged or all")
    stored = list(list_artifacts(root))
    chosen: set[Path] = set()
    for name in names:
        matches = {
            folder for state, folder in stored if name in ("all", state, folder.parent.name, name_of(folder))
        }
        if not matches:
            raise StudyError(f"store remove {name}: nothing stored in {root} has that name; see `make store`")
        chosen |= matches
    kept = {folder for folder in chosen if is_being_made(folder)}
    for folder in sorted(chosen - kept):
        shutil.rmtree(folder)
    print(f"removed {len(chosen - kept)} artifacts ({', '.join(names)})")
    if kept:
        print(f"kept {len(kept)} that a process is making")
