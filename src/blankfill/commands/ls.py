"""`mlm-vs-clm ls`: what can be named."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from ..axes import AXIS
from ..slots.orders import ORDERS

EXAMPLE = """example:
  mlm-vs-clm ls models
"""
SETTINGS = "config.json"
NONE = "none below ./data, nor in the cache of the Hugging Face hub"
DEEPEST = 4  # folders below the one that is looked through


def list_models() -> Iterator[str]:
    """Yield the folders below ./data and the ids in the hub's cache that hold a model with safetensors."""
    for settings in sorted(_find_settings(Path("data"))):
        yield f"{settings.parent}  {_describe(settings)}"
    for snapshot in sorted(_hub_cache().glob("models--*/snapshots/*")):
        if (snapshot / SETTINGS).is_file() and any(snapshot.glob("*.safetensors")):
            name = snapshot.parents[1].name.removeprefix("models--").replace("--", "/")
            yield f"{name}  {_describe(snapshot / SETTINGS)}"


def _find_settings(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        if len(Path(place).relative_to(folder).parts) >= DEEPEST:
            folders.clear()
        if SETTINGS in names and any(name.endswith(".safetensors") for name in names):
            yield Path(place, SETTINGS)


def _hub_cache() -> Path:
    """Return where huggingface_hub keeps models, by the variables that it reads."""
    home = os.environ.get("HF_HOME", Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "huggingface"))
    return Path(os.environ.get("HF_HUB_CACHE", Path(home, "hub"))).expanduser()


def _describe(settings: Path) -> str:
    """Return the class of a model by its settings."""
    try:
        read = json.loads(settings.read_text(encoding="utf-8"))
        names = read.get("architectures") or [read.get("model_type", "unknown")]
        return ", ".join(map(str, [names] if isinstance(names, str) else names))
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return "settings cannot be read"


def list_orders() -> Iterator[str]:
    """Yield the orders in which slots are filled."""
    yield from ORDERS


def list_contexts() -> Iterator[str]:
    """Yield the contexts, each with the ways of filling that have it."""
    values = {writer: names for writer, names in AXIS["context"].values.items() if writer != "masked_left"}
    for name in dict.fromkeys(name for names in values.values() for name in names):
        yield f"{name}  {', '.join(writer for writer, names in values.items() if name in names)}"
    yield "masked_left  masked_left"


KINDS: dict[str, Callable[[], Iterator[str]]] = {
    "models": list_models,
    "orders": list_orders,
    "contexts": list_contexts,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog, parser.formatter_class = EXAMPLE, argparse.RawDescriptionHelpFormatter
    parser.add_argument("kind", nargs="?", choices=tuple(KINDS), help="what to list (default: all)")


def run(options: argparse.Namespace) -> None:
    """Print the names, one per line; all kinds have a heading each."""
    if options.kind:
        for name in [*KINDS[options.kind]()] or [NONE]:
            print(printable(name))
        return
    for kind, names in KINDS.items():
        print(f"{kind}:")
        for name in [*names()] or [NONE]:
            print(f"  {printable(name)}")


def printable(name: str) -> str:
    """Return a name as the terminal can show it: other characters are escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    return name.encode(encoding, "backslashreplace").decode(encoding)
