"""Memory that runs out is one line: which setting to lower, and what stays."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from .errors import StudyError


@contextmanager
def advise_if_full(work: str, advice: str) -> Iterator[None]:
    """Raise StudyError with this advice where the memory of the GPU, or the machine, is too small for the work."""
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise _told(work, advice) from error
    except RuntimeError as error:
        if "not enough memory" not in str(error) and "out of memory" not in str(error):
            raise
        raise _told(work, advice) from error


def advise_smaller_steps(documents: int) -> str:
    """Say which settings make a training step of this many documents at once fit; they change no result's name."""
    return (
        f"set scale.training.micro_batch_documents below {documents}, or scale.training.gradient_checkpointing=true "
        "(neither changes the step), or workers=1 where others share the device"
    )


def _told(work: str, advice: str) -> StudyError:
    return StudyError(
        f"out of memory while {work}: {advice}, and run the same command again; finished cells stay"
    )
