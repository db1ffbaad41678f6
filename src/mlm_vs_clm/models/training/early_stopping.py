"""When training has gone on long enough: the evaluation with the lowest dev loss, and how long ago it was."""

from ...errors import StudyError


def best_evaluation(curve: list[dict]) -> int:
    """Return the number of the evaluation with the lowest `dev_loss`, the first of equals.

    Raises StudyError where one is missing, as nothing was predicted in the dev documents.
    """
    losses = [point["dev_loss"] for point in curve]
    if None in losses:
        raise StudyError(
            "scale.training.patience needs a dev loss, and nothing is predicted in the dev documents: raise "
            "scale.training.dev_documents, or set patience=0"
        )
    return losses.index(min(losses))


def is_out_of_patience(curve: list[dict], patience: int) -> bool:
    """Tell whether the last `patience` evaluations brought no lower dev loss; 0 never runs out."""
    return bool(patience) and len(curve) - 1 - best_evaluation(curve) >= patience


def describe_stopping(curve: list[dict], patience: int, is_whole: bool) -> dict:
    """Return what is recorded: the patience, whether the budget was used up, and the evaluation that was kept."""
    best = curve[best_evaluation(curve)]
    kept = {name: best[name] for name in ("step", "dev_loss")}
    return {"patience": patience, "stopped_early": not is_whole, "best": kept}
