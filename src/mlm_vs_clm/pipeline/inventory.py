"""What is stored, and how to be rid of it."""

import argparse
import shutil
import sys
from pathlib import Path

from ..errors import StudyError
from .artifacts import list_artifacts, read_record


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; 1 and one line on a mistake that a user can mend."""
    parser = argparse.ArgumentParser(description="List or remove stored artifacts.")
    parser.add_argument("action", choices=["list", "remove"])
    parser.add_argument("names", nargs="*", help="stage, stage/id, `unfinished`, `damaged` or `all`")
    parser.add_argument("--store", type=Path, default=Path("outputs"))
    chosen = parser.parse_args(arguments)
    try:
        if chosen.action == "list":
            show(chosen.store)
        else:
            remove(chosen.store, chosen.names)
    except StudyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def show(root: Path) -> None:
    """Print state, name, size, seconds and the telling settings of every artifact."""
    total = 0
    for state, folder in list_artifacts(root):
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        total += size
        print(f"{state:10}  {folder.relative_to(root)!s:32}  {size / 2**20:8.1f} MB  {_tell(folder, state)}")
    print(f"{total / 2**20:.1f} MB in {root}")


def _tell(folder: Path, state: str) -> str:
    if state != "whole":
        return ""
    record = read_record(folder)
    known = ("name", "objective", "strategy", "ratio", "task", "trained_on", "scale", "seed")
    settings = {key: value for key, value in record["settings"].items() if key in known}
    if isinstance(settings.get("objective"), dict):
        settings["objective"] = settings["objective"]["name"]
    return f"{record['seconds']:7.1f} s  " + " ".join(f"{key}={value}" for key, value in settings.items())


def remove(root: Path, names: list[str]) -> None:
    """Remove the artifacts of a stage, one by its name, or all in a state; StudyError if nothing has that name."""
    if not names:
        raise StudyError("store remove: say what: a stage, stage/id, unfinished, damaged or all")
    stored = list(list_artifacts(root))
    for name in names:
        chosen = [folder for state, folder in stored if _matches(name, state, folder)]
        if not chosen:
            raise StudyError(f"store remove {name}: nothing stored in {root} has that name; see store list")
        for folder in chosen:
            shutil.rmtree(folder)
        print(f"removed {len(chosen)} artifacts ({name})")


def _matches(name: str, state: str, folder: Path) -> bool:
    return name in ("all", state, folder.parent.name, f"{folder.parent.name}/{folder.name}")
