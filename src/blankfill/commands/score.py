"""`mlm-vs-clm score`: say how likely a model finds texts."""

import argparse
from itertools import groupby, islice

from ..streams import show_progress
from .lines import key_of_spans, open_lines
from .options import add_options, add_settings, given_settings, make_filler

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
            for key, lines in groupby(sink.left(source), key_of_spans):
                while chunk := [*islice(lines, AT_A_TIME)]:
                    spans = [line.fields[key] for line in chunk] if key else None
                    likelihoods = filler.score(
                        [line.text for line in chunk],
                        spans,
                        ids=[line.id for line in chunk],
                        method=options.method,
                    )
                    assert isinstance(likelihoods, list)  # one for each text of a list
                    for line, likelihood in zip(chunk, likelihoods, strict=True):
                        row = {"id": line.fields.get("id", line.id), "nats": likelihood.nats}
                        sink.write(
                            row | {"characters": likelihood.characters, "tokens": likelihood.tokens},
                            str(likelihood.nats),
                        )
                    advance(len(chunk))
