"""`mlm-vs-clm audit`: what generated texts, and a model, give away of training texts."""

import argparse
import sys
from pathlib import Path
from typing import Any

from ..errors import BlankfillError
from .lines import FORMS, STANDARD, Source, encode
from .options import add_machine_options, no_loading_bar

EXAMPLE = """example:
  mlm-vs-clm audit --train train.jsonl --holdout heldout.jsonl --generated synthetic.jsonl --model my-model > audit.json

Every file has one text per line, plain or as JSON {"text": ...}. The result is one JSON object; a summary of one line
per measure goes to standard error. Neither holds words of a text. Measures stand beside those of the held-out texts,
which must be of the same source and must not have been trained on.
"""
TEXTS = ("train", "holdout", "generated")
PAIRS = {
    "names": "names that were masked in the training texts",
    "canaries": "phrases that were planted in the training texts",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog, parser.formatter_class = EXAMPLE, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--train", required=True, metavar="FILE", help="texts that the model was trained on")
    parser.add_argument(
        "--holdout", required=True, metavar="FILE", help="texts of the same source that it was not trained on"
    )
    parser.add_argument("--generated", required=True, metavar="FILE", help="texts to be published")
    for name, about in PAIRS.items():
        parser.add_argument(f"--{name}", metavar="FILE", help=about)
        parser.add_argument(
            f"--{name}-control", metavar="FILE", help=f"the same of held-out texts; goes with --{name}"
        )
    parser.add_argument("--model", help="hub id or folder of the model, to measure the loss of the texts")
    add_machine_options(parser)
    parser.add_argument(
        "--form", choices=FORMS, default="auto", help="form of the files (default: by their look)"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed of the bootstrap (default: 0)")
    parser.add_argument("--out", default=STANDARD, help="file for the result (default: standard output)")


def run(options: argparse.Namespace) -> None:
    """Measure, print the summary and write the result."""
    files = [getattr(options, name) for name in (*TEXTS, *PAIRS, *(f"{name}_control" for name in PAIRS))]
    if files.count(STANDARD) > 1:
        raise BlankfillError("standard input (-) is read once: give a file for all texts but one")
    if options.out != STANDARD:
        reserve(Path(options.out))
    texts = [read_texts(getattr(options, name), options.form) for name in TEXTS]
    pairs = {name: read_pair(options, name) for name in PAIRS}
    from ..auditing.report import audit

    with no_loading_bar():
        report = audit(
            *texts,
            **pairs,
            model=options.model,
            tokenizer=options.tokenizer,
            seed=options.seed,
            device=options.device,
        )
    print(report, file=sys.stderr)
    result = encode(report.to_dict()) + b"\n"
    if options.out == STANDARD:
        sys.stdout.buffer.write(result)
    else:
        Path(options.out).write_bytes(result)


def reserve(path: Path) -> None:
    """Raise BlankfillError where a result cannot be written: what stands there stays."""
    is_broken_link = path.is_symlink() and not path.exists()
    if is_broken_link or path.is_file() or path.is_dir():
        raise BlankfillError(f"--out {path} is there already: give another name")
    try:
        path.open("ab").close()
        if path.is_file():
            path.unlink()
    except OSError as error:
        raise BlankfillError(f"--out {path} cannot be written: {error.strerror}: give another name") from None


def read_texts(name: str, form: str) -> list[str]:
    """Return the texts of a file; a blank plain line is none."""
    return [line.text for line in Source(name, form) if line.fields or line.text.strip()]


def read_pair(options: argparse.Namespace, name: str) -> Any:
    """Return the phrases of a kind and their control, None where neither was given; BlankfillError for one alone."""
    files = [getattr(options, name), getattr(options, f"{name}_control")]
    if not any(files):
        return None
    if not all(files):
        raise BlankfillError(f"--{name} and --{name}-control go together: give both files")
    return tuple(read_texts(file, options.form) for file in files)
