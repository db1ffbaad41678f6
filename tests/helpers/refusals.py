"""Calls that must be refused: with a clear line that quotes no text."""

import pytest

from mlm_vs_clm.errors import StudyError

SECRET = "secretword"


def assert_refused(says, read, *arguments, **settings):
    """Assert that a call raises StudyError with these words (a pattern), and quotes no text."""
    with pytest.raises(StudyError, match=says) as error:
        read(*arguments, **settings)
    assert SECRET not in str(error.value)
