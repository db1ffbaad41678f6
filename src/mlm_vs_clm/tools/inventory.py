"""List and remove stored artifacts."""

import argparse
import shutil
from pathlib import Path

from ..errors import StudyError
from ..pipeline.artifacts import list_artifacts, read_record


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm store`."""
    parser.add_argument("action", choices=["list", "remove"])
    parser.add_argument("names", nargs="*", help="stage, stage/id, `unfinished`, `damaged` or `all`")
    parser.add_argument("--store", type=Path, default=Path("outputs"))


def run(chosen: argparse.Namespace) -> None:
    """List what is stored, or remove some of it."""
    if chosen.action == "list":
        show(chosen.store)
    else:
        remove(chosen.store, chosen.names)


def show(root: Path) -> None:
    """Print state, name, size, seconds and the main settings of every artifact."""
    total = 0
    for state, folder in list_artifacts(root):
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        total += size
        print(
            f"{state:10}  {folder.relative_to(root)!s:32}  {size / 2**20:8.1f} MB  {_describe(folder, state)}"
        )
    print(f"{total / 2**20:.1f} MB in {root}")


def _describe(folder: Path, state: str) -> str:
    if state != "whole":
        return ""
    record = read_record(folder)
    known = ("name", "objective", "strategy", "ratio", "task", "trained_on", "scale", "seed")
    settings = {key: value for key, value in record["settings"].items() if key in known}
    if isinstance(settings.get("objective"), dict):
        settings["objective"] = settings["objective"]["name"]
    return f"{record['seconds']:7.1f} s  " + " ".join(f"{key}={value}" for key, value in settings.items())


def remove(root: Path, names: list[str]) -> None:
    """Remove artifacts by stage, name or state, each once; StudyError, and nothing removed, if a name fits none."""
    if not names:
        raise StudyError("store remove: name a stage, stage/id, unfinished, damaged or all")
    stored = list(list_artifacts(root))
    chosen: set[Path] = set()
    for name in names:
        found = {folder for state, folder in stored if _matches(name, state, folder)}
        if not found:
            raise StudyError(f"store remove {name}: nothing stored in {root} has that name; see `make store`")
        chosen |= found
    for folder in sorted(chosen):
        shutil.rmtree(folder)
    print(f"removed {len(chosen)} artifacts ({', '.join(names)})")


def _matches(name: str, state: str, folder: Path) -> bool:
    return name in ("all", state, folder.parent.name, f"{folder.parent.name}/{folder.name}")
