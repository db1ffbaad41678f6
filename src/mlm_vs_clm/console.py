"""What all commands share: the option of the store, an error in one line, its traceback, and a reader that is gone."""

import argparse
import os
import select
import sys
import traceback
from pathlib import Path

from .errors import StudyError

STDOUT = 1  # the file descriptor
READER_GONE = 141  # what a shell reports of a command that a closed pipe ended


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add the option `--store`."""
    parser.add_argument(
        "--store", type=Path, default=Path("outputs"), help="folder of artifacts (default: outputs)"
    )


def describe_error(error: BaseException) -> str:
    """Return one line: the message of a StudyError; of another error its type and place, as its message may quote a text."""
    if isinstance(error, StudyError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"unexpected {type(error).__name__}{place}: see its traceback"


def print_traceback(error: BaseException) -> None:
    """Print where an error came from and what `describe_error` says of it, never its own message."""
    stack = "".join(traceback.format_tb(error.__traceback__))
    print(f"Traceback (most recent call last):\n{stack}{describe_error(error)}", file=sys.stderr, flush=True)


def open_streams() -> None:
    """Keep the places of standard streams that the caller closed from files that are opened later.

    Messages then go nowhere, and reading fails. Raises StudyError for a closed output.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the first free number
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (until the process ends)
    if sys.stdout is None:
        raise StudyError("standard output is closed: send it to a file, or to /dev/null")


def lost_reader() -> bool:
    """Return whether nobody reads the output any more (`| head`); what is not yet written then goes nowhere.

    Another pipe may break too, that of a worker process, which is an error to tell.
    """
    output = select.poll()
    output.register(STDOUT, select.POLLOUT)
    is_lost = any(event & select.POLLERR for _, event in output.poll(0))
    if is_lost:
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
    return is_lost
