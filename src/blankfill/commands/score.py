"""`mlm-vs-clm score`: say how likely a model finds texts."""

import argparse
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import TYPE_CHECKING

from ..streams import show_progress
from .lines import Line, key_of_spans, open_lines
from .options import add_options, add_settings, given_settings, make_filler

if TYPE_CHECKING:
    from ..filler import Filler
    from ..likelihood import Likelihood

EXAMPLE = """example:
  echo 'Take two tablets a day.' | mlm-vs-clm score --model openai-community/gpt2

A JSON line {"id": ..., "text": ...} may give the characters to score as `spans` (or `blanks`) [[start, end], ...]; else
the whole text is scored. A result has `nats` (minus the log-likelihood), `characters` and `tokens`; of a plain line it is the nats alone.
"""
AT_A_TIME = 64  # texts
USED = "context right_words order per_pass passes threshold entropy_bound seed schedule".split()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_options(parser, EXAMPLE)
    parser.add_argument(
        "--method",
        choices=("exact", "pseudo"),
        default="exact",
        help="pseudo: each token masked alone, the rest in sight (default: exact, in the order of filling)",
    )
    add_settings(parser, *USED)


def run(options: argparse.Namespace) -> None:
    """Score the texts of the input, in order, as they come."""
    from ..scoring import refuse_settings  # loads the network library

    if options.method == "pseudo":
        refuse_settings("method pseudo", given_settings(options), USED)
    source, sink = open_lines(options)
    with sink:
        filler = make_filler(options)
        with show_progress(options.progress, None) as advance:
            for line, likelihood in score_lines(filler, sink.left(source), options.method):
                row = {"id": line.fields.get("id", line.id), "nats": likelihood.nats}
                sink.write(
                    row | {"characters": likelihood.characters, "tokens": likelihood.tokens},
                    str(likelihood.nats),
                )
                advance(1)


def score_lines(filler: "Filler", lines: Iterable[Line], method: str) -> Iterator[tuple[Line, "Likelihood"]]:
    """Yield lines with their likelihoods; scored together are at most AT_A_TIME that give their spans under one key."""
    for key, lines_of_key in groupby(lines, key_of_spans):
        while chunk := [*islice(lines_of_key, AT_A_TIME)]:
            spans = [line.fields[key] for line in chunk] if key else None
            texts, ids = [line.text for line in chunk], [line.id for line in chunk]
            likelihoods = filler.score(texts, spans, ids=ids, method=method)
            assert isinstance(likelihoods, list)  # one for each text of a list
            yield from zip(chunk, likelihoods, strict=True)
