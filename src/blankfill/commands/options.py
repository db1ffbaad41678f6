"""Options that the commands share: which model, which settings, which lines."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..config import DTYPES, FillConfig, types_of_settings
from .lines import FORMS, STANDARD

if TYPE_CHECKING:
    from ..filler import Filler


def add_options(parser: argparse.ArgumentParser, example: str) -> None:
    """Add where texts come from, where results go (`open_lines`), and which model is used (`make_filler`); show the example."""
    parser.epilog, parser.formatter_class = example, argparse.RawDescriptionHelpFormatter
    parser.set_defaults(default_of=parser.get_default)  # of the options of each command, too
    parser.add_argument(
        "input",
        nargs="?",
        default=STANDARD,
        help="file of JSON Lines or plain lines (default: standard input)",
    )
    parser.add_argument(
        "--out",
        default=STANDARD,
        help="file for the results; one that exists is continued with the texts it lacks, under the same model and settings (default: standard output)",
    )
    parser.add_argument(
        "--form", choices=FORMS, default="auto", help="form of the input (default: by its look)"
    )
    parser.add_argument("--model", required=True, help="hub id, or folder with safetensors and a tokenizer")
    add_machine_options(parser)
    parser.add_argument(
        "--dtype", choices=("auto", *DTYPES), default="auto", help="type of the weights (default: auto)"
    )
    parser.add_argument(
        "--batch-tokens",
        type=int,
        default=2048,
        metavar="N",
        help="tokens in a batch at most (default: 2048)",
    )
    parser.add_argument("--progress", action="store_true", help="show how many texts are done")


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """Add what goes with a model: another tokenizer, and where it is read."""
    parser.add_argument("--tokenizer", help="hub id or folder of another tokenizer (default: the model's)")
    parser.add_argument(
        "--device", default="auto", help="cpu, cuda, mps, ... (default: a GPU where there is one)"
    )


def add_on_error(parser: argparse.ArgumentParser, skipped: str) -> None:
    """Add what happens to a text that cannot be filled; `skipped` says it of `skip`."""
    parser.add_argument(
        "--on-error",
        choices=("raise", "skip"),
        default="raise",
        help=f"skip: a text that cannot be filled {skipped} (default: raise)",
    )


OF_TWO = ("weight",)  # settings of two models


def add_settings(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add settings of `FillConfig`, by default all of a single model; `make_filler` reads them."""
    group = parser.add_argument_group(
        "settings", "each has the default of the kind of model; docs/python.md explains them"
    )
    for name, kind in types_of_settings().items():
        if name in names or not names and name not in OF_TWO:
            group.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar=kind.__name__.upper())


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given, by name."""
    values = {name: getattr(options, name, None) for name in types_of_settings()}
    return {name: value for name, value in values.items() if value is not None}


def make_filler(options: argparse.Namespace) -> "Filler":
    """Return the filler that the options describe; BlankfillError where its model cannot be loaded."""
    # A mistake there is told before anything heavy is imported.
    config = FillConfig(**given_settings(options))
    from ..filler import Filler

    machine: dict[str, Any] = {name: getattr(options, name) for name in ("device", "dtype", "batch_tokens")}
    with no_loading_bar():
        return Filler(options.model, options.tokenizer, config=config, **machine)


@contextmanager
def no_loading_bar() -> Iterator[None]:
    """Hide the bar that transformers shows while it loads a model."""
    from transformers.utils import logging

    was_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_shown:
            logging.enable_progress_bar()
