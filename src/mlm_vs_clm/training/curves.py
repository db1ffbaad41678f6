"""How far a training is: the tokens that it read, and the files that it leaves."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from ..files import write_atomically
from .batches import TrainingBatches
from .loss import weigh
from .objectives import OBJECTIVES, describe_noise


def count_seen(reading: TrainingBatches) -> tuple[np.ndarray, dict[str, list[float]]]:
    """Return the tokens seen after each step, and for each corpus how often it was read, from before the first step."""
    batches, names = reading.learned, np.array(reading.corpora)
    lengths = np.array([len(document.ids) for document in batches.documents])
    seen = {
        name: np.cumsum(
            [0, *(sum(lengths[i] for i in batch if names[i] == name) for batch in batches.batches)]
        )
        for name in dict.fromkeys(reading.corpora)
    }
    ends = np.sum(list(seen.values()), axis=0)[1:]
    passes = {name: (tokens / lengths[names == name].sum()).tolist() for name, tokens in seen.items()}
    return ends, passes


def write_curves(
    curve: list[dict], reading: TrainingBatches, parameters: dict, n_budgets: int, folder: Path
) -> None:
    """Write `curves.csv` (one row per budget and corpus) and `training.json`.

    A training whose curve has fewer points than `n_budgets`, after the one at its start, stopped early.
    """
    objective = reading.learned.objective
    rows = [
        {name: value for name, value in point.items() if name not in ("dev_loss", "passes")}
        | {"corpus": name, "dev_loss": loss, "passes": point["passes"][name]}
        for point in curve
        for name, loss in point["dev_loss"].items()
    ]
    pd.DataFrame(rows).to_csv(folder / "curves.csv", index=False, float_format="%.7g")
    if OBJECTIVES[objective].bounds_text:
        curve = [
            point | {"nats_per_character": _divide_by_characters(point["dev_loss"], reading)}
            for point in curve
        ]
    about = {
        "objective": objective,
        "noise": describe_noise(objective, reading.learned.noise),
        "seed": reading.learned.seed,
        "parameters": parameters,
        "stopped_early": len(curve) <= n_budgets,
        "budgets": curve[1:],
    }
    write_atomically(folder / "training.json", json.dumps(about, indent=1))


def _divide_by_characters(losses: dict[str, float], reading: TrainingBatches) -> dict[str, float]:
    """Return the dev loss of each corpus in nats per character, of an objective whose loss bounds the text."""
    per_character = {}
    for name, loss in losses.items():
        batches = reading.dev[name][reading.learned.objective]
        n_predicted = sum(weigh(batches[number]) for number in range(len(batches)))
        n_characters = sum(document.n_characters for document in batches.documents)
        per_character[name] = loss * n_predicted / n_characters
    return per_character
