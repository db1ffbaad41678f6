"""The one kind of error that a user can fix."""


class BlankfillError(Exception):
    """A mistake in the input or the machine, in one line: what is wrong, where, what to do."""

    def __init__(self, message: str):
        # An id or a value that it names may have line breaks.
        super().__init__(" ".join(message.splitlines()))
