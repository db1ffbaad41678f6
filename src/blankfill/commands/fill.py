"""`mlm-vs-clm fill`: fill the blanks of texts."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby, tee
from typing import TYPE_CHECKING, Any

from .lines import Line, key_of_spans, open_lines
from .options import add_on_error, add_options, add_settings, make_filler

if TYPE_CHECKING:
    from ..filled import Infill
    from ..filler import Filler

EXAMPLE = """example:
  echo 'Take ___ tablets a ___.' | mlm-vs-clm fill --model google-bert/bert-base-uncased

A JSON line {"id": ..., "text": ...} may give its `blanks` (or `spans`) as [[start, end], ...]; else each --marker in
the text is one.
Its result has the new text, and `fills` and `spans` for the blanks; its other fields stay as they are.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_options(parser, EXAMPLE)
    parser.add_argument("--marker", default="___", help="what stands for a blank in a text (default: ___)")
    add_on_error(parser, "is left as it is, with the reason")
    add_settings(parser)


def run(options: argparse.Namespace) -> None:
    """Fill the texts of the input, in order, as they come."""
    source, sink = open_lines(options)
    with sink:
        for line, filled in fill_lines(make_filler(options), sink.left(source), options):
            is_filled = filled.reason is None
            if not (is_filled or sink.is_json):
                print(f"{source.name}, line {line.number} is left as it is: {filled.reason}", file=sys.stderr)
            sink.write(describe(line, filled), filled.text if is_filled else line.text)


def fill_lines(
    filler: "Filler", lines: Iterable[Line], options: argparse.Namespace
) -> Iterator[tuple[Line, "Infill"]]:
    """Yield lines with what fills them; those that follow each other and give their blanks under one key are one stream."""
    for key, lines_of_key in groupby(lines, key_of_blanks):
        texts, blanks, ids, read = tee(lines_of_key, 4)
        infills = filler.iter(
            (line.text for line in texts),
            (line.fields[key] for line in blanks) if key else options.marker,
            ids=(line.id for line in ids),
            on_error=options.on_error,
            progress=options.progress,
        )
        yield from zip(read, infills, strict=True)


def key_of_blanks(line: Line) -> str:
    """Return the key under which a line gives its blanks, or "": `spans` of a line that was filled say where its fills are."""
    return "" if "fills" in line.fields and "blanks" not in line.fields else key_of_spans(line)


def describe(line: Line, filled: "Infill") -> dict[str, Any]:
    """Return the JSON object of a filled line; of one that was filled before, an error of that time is gone."""
    own = {"id", "text", "blanks", "fills", "spans", *(["error"] if "fills" in line.fields else [])}
    columns = {name: value for name, value in line.fields.items() if name not in own}
    row = {
        "id": line.fields.get("id", line.id),
        "text": filled.text if filled.reason is None else line.text,
        "fills": filled.fills,
        "spans": filled.spans,
    }
    return row | columns | ({} if filled.reason is None else {"error": filled.reason})
