"""The study raises the library's error: one line that tells what is wrong, where and what to do."""

from blankfill.errors import BlankfillError as StudyError

__all__ = ["StudyError"]
