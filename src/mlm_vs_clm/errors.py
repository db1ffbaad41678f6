"""The one kind of error that a user can mend."""


class StudyError(Exception):
    """A mistake in the input or the machine, told in one line: what is wrong, where, what to do."""
