"""The one kind of error that a user can mend, and how any other is told in a line."""

import sys
import traceback
from pathlib import Path


class StudyError(Exception):
    """A mistake in the input or the machine, told in one line: what is wrong, where, what to do."""


def describe_error(error: BaseException) -> str:
    """Return one line: a StudyError's own words; of a surprise its type and place, as its words may quote a text."""
    if isinstance(error, StudyError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"unexpected {type(error).__name__}{place}: see its traceback"


def tell_stack(error: BaseException) -> None:
    """Print where a surprise came from and what `describe_error` says of it, never its own words."""
    stack = "".join(traceback.format_tb(error.__traceback__))
    print(f"Traceback (most recent call last):\n{stack}{describe_error(error)}", file=sys.stderr, flush=True)
