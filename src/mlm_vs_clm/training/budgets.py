"""The token budgets of one training, and which of its models fills a corpus."""

import json
from pathlib import Path

from ..errors import StudyError


def list_budgets(token_budget: int, n: int) -> list[int]:
    """Return n token budgets, each half of the next; the last is the whole."""
    return [round(token_budget / 2**k) for k in reversed(range(n))]


def choose_budget(folder: Path, corpus: str, budget: int = 0) -> tuple[Path, dict]:
    """Return the folder of the model that a training kept, and where it stands on the training's curve.

    `budget` 0 is the model with the lowest dev loss on the corpus, or, for a corpus that it was not trained on, the last
    one. A training that ran out of patience has its last model at every later budget. A folder without training.json is
    a checkpoint as it came: it is returned, with no place on a curve. Raises StudyError for a budget at which no model
    was kept.
    """
    if not (folder / "training.json").is_file():
        return folder, {}
    about = json.loads((folder / "training.json").read_text())
    curve = about["budgets"]
    if about["stopped_early"] and budget > curve[-1]["budget"]:
        return folder / str(curve[-1]["budget"]), curve[-1]
    point = next((row for row in curve if row["budget"] == budget), None)
    if budget and point is None:
        budgets = ", ".join(str(row["budget"]) for row in curve)
        raise StudyError(
            f"arm.budget={budget}: no model was kept there; choose one of {budgets}, or 0 for the best"
        )
    if point is None:
        point = min(curve, key=lambda row: row["dev_loss"].get(corpus, -row["budget"]))
    return folder / str(point["budget"]), point


def is_out_of_patience(curve: list[dict], patience: int) -> bool:
    """Return whether the last `patience` budgets lowered the dev loss of no corpus; 0 never runs out."""
    losses = [[point["dev_loss"][name] for point in curve] for name in curve[0]["dev_loss"]]
    last = max(of_corpus.index(min(of_corpus)) for of_corpus in losses)
    return 0 < patience <= len(curve) - 1 - last
