"""`mlm-vs-clm augment`: variants of texts in which a model rewrote some words, with their labels."""

import argparse
import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..augmenting.choosing import OF_LABELS, STRATEGIES
from ..augmenting.labels import KEEP, POLICIES
from ..config import FillConfig
from ..errors import BlankfillError
from ..ranges import MANY, Range, check_number
from ..streams import show_progress
from .lines import Line, Sink, Source, open_lines
from .options import add_on_error, add_options, add_settings, given_settings, no_loading_bar

if TYPE_CHECKING:
    from ..augmenting.augmenter import InfillAugmenter

EXAMPLE = """example:
  mlm-vs-clm augment notes.jsonl --out more.jsonl --model google-bert/bert-base-uncased -n 3 --protect mg --labels drop_replaced

A JSON line {"id": ..., "text": ..., "entities": [{"start": 0, "end": 7, "label": "Drug"}, ...]} becomes n lines with new
text and moved entities; its other fields stay as they are. With -n 2 or more their ids are <id>-1, <id>-2, ..., and
`source_id` is the id of the line. Draws are keyed by the id, by default the number of the line.
"""
AT_A_TIME = 32  # texts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_options(parser, EXAMPLE)
    parser.add_argument("-n", type=int, default=1, metavar="N", help="variants of each text (default: 1)")
    parser.add_argument(
        "--share",
        type=float,
        default=0.3,
        help="share of the words that may change which a variant replaces (default: 0.3)",
    )
    parser.add_argument(
        "--strategy",
        choices=tuple(STRATEGIES),
        default="random",
        help="which words may change (default: random)",
    )
    parser.add_argument(
        "--protect",
        action="append",
        default=[],
        metavar="WORDS",
        help="words that never change; may be repeated",
    )
    parser.add_argument(
        "--protect-pattern",
        action="append",
        default=[],
        metavar="REGEX",
        help="what matches never changes; may be repeated",
    )
    parser.add_argument(
        "--labels",
        choices=POLICIES,
        default=KEEP,
        help="whether a label stays on the new words where all of its words were replaced (default: keep)",
    )
    add_on_error(parser, "has no variants; for JSON Lines")
    add_settings(parser)


def run(options: argparse.Namespace) -> None:
    """Write the variants of the texts of the input, in order, as they come."""
    check_number("-n", options.n, Range(1, MANY, whole=True))
    settings = read_given(options)
    source, sink = open_lines(options)
    with sink:
        if options.on_error == "skip" and not sink.is_json:
            raise BlankfillError(
                "--on-error skip needs JSON Lines: plain lines would not tell which are missing"
            )
        lines, augmenter = read_lines(source, options), None
        with show_progress(options.progress, None) as advance:
            while chunk := [*islice(lines, AT_A_TIME)]:
                left = [line for line in chunk if any(sink.left(_name(line, options.n)))]
                if left:
                    augmenter = augmenter or make_augmenter(options, settings)
                    write_variants(augmenter, left, options.n, sink)
                advance(len(chunk))


def read_lines(source: Source, options: argparse.Namespace) -> Iterator[Line]:
    """Return the lines, with entities where an option needs them; BlankfillError for plain lines, which have none."""
    if options.strategy in OF_LABELS:
        needed_by = f"--strategy {options.strategy}"
    elif options.labels != KEEP:
        needed_by = f"--labels {options.labels}"
    else:
        return iter(source)
    if not source.is_json:
        raise BlankfillError(f"{needed_by} needs JSON Lines with entities: plain lines have none")
    return read_labelled(source, needed_by)


def read_labelled(source: Source, needed_by: str) -> Iterator[Line]:
    """Yield the lines; BlankfillError, which names the line, for one without entities."""
    for line in source:
        if "entities" not in line.fields:
            raise BlankfillError(
                f"{source.name}, line {line.number} has no `entities`, which {needed_by} needs: give them, [] for none"
            )
        yield line


def read_given(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given; a mistake there is told before anything heavy is imported."""
    settings = given_settings(options)
    FillConfig(**{"temperature": 1.0} | settings)
    try:
        for pattern in options.protect_pattern:
            re.compile(pattern)
    except re.error as error:
        raise BlankfillError(f"--protect-pattern: {error}: correct the pattern") from None
    return settings


def make_augmenter(options: argparse.Namespace, settings: dict[str, Any]) -> "InfillAugmenter":
    """Return the augmenter that the options describe; BlankfillError where its model cannot be loaded."""
    from ..augmenting.augmenter import InfillAugmenter

    names = ("share", "strategy", "labels", "on_error", "device", "dtype", "batch_tokens")
    with no_loading_bar():
        return InfillAugmenter(
            options.model,
            options.tokenizer,
            protect=[*options.protect, *map(re.compile, options.protect_pattern)],
            **{name: getattr(options, name) for name in names},
            **settings,
        )


def write_variants(augmenter: "InfillAugmenter", lines: list[Line], n: int, sink: Sink) -> None:
    """Write the variants of lines that have no result yet."""
    entities = [line.fields.get("entities") for line in lines]
    needs_none = augmenter.strategy not in OF_LABELS and not any(entities)
    augmented = augmenter.augment(
        [line.text for line in lines], n, None if needs_none else entities, ids=[line.id for line in lines]
    )
    for line, variants in zip(lines, augmented, strict=True):
        pending = {name.id for name in sink.left(_name(line, n))}
        columns = ["text", *(["entities"] if "entities" in line.fields else [])]
        for name, variant in zip(_name(line, n), variants, strict=False):
            if name.id in pending:
                row = {**line.fields, "id": name.id if n > 1 else line.fields.get("id", line.id)}
                row |= {"source_id": line.id} if n > 1 else {}
                sink.write(row | {key: variant[key] for key in columns}, variant["text"])


def _name(line: Line, n: int) -> Iterator[Line]:
    """Yield the variants of a line with the numbers and ids of their results."""
    for i in range(n):
        yield Line((line.number - 1) * n + i + 1, f"{line.id}-{i + 1}" if n > 1 else line.id, line.text)
