"""Which tokens of an example each position sees: the attention of every objective, from the batches that training makes."""

from dataclasses import dataclass

import numpy as np

from ..objectives import IGNORE, OBJECTIVES, Noise, TargetTokens, TokenizedDocument, split_batches
from .batches import Batch, Batches


@dataclass(frozen=True)
class AttentionGrid:
    """One example: the ids that its n positions read (n,), which predict (n,), and what they see.

    `visible` (n, n) is true at [i, j] where position i sees position j. A decoder's positions come after its encoder's.
    """

    ids: np.ndarray
    predicts: np.ndarray
    visible: np.ndarray


def make_grids(
    document: TokenizedDocument, noise: Noise, tokens: TargetTokens, seed: int
) -> dict[str, AttentionGrid]:
    """Return the grid of a document under every objective, by name; `hybrid` has one for each kind of batch."""
    grids = {}
    for name in OBJECTIVES:
        n_kinds = len(split_batches(name, noise))
        batches = Batches([document], [[0]] * n_kinds, name, noise, tokens, 0, seed)
        for number in range(n_kinds):
            kind = batches.objective_at(number).kind
            title = name if n_kinds == 1 else f"{name}, {kind} batch"
            grids[title] = read_grid(batches[number], kind)
    return grids


def read_grid(batch: Batch, kind: str) -> AttentionGrid:
    """Return the grid of the one example of a batch, as a model of this kind sees it."""
    ids, predicts = batch["input_ids"][0].numpy(), (batch["labels"][0] != IGNORE).numpy()
    if kind == "seq2seq":
        n_read, written = len(ids), batch["decoder_input_ids"][0].numpy()
        ids, predicts = np.append(ids, written), np.append(np.zeros(n_read, dtype=bool), predicts)
        visible = np.tri(len(ids), dtype=bool)
        visible[:n_read, :n_read] = True
    elif batch["attention_mask"].dim() == 4:
        visible = batch["attention_mask"][0, 0].numpy()
    else:
        visible = np.ones((len(ids), len(ids)), dtype=bool)
        visible = np.tril(visible) if kind == "causal" else visible
    return AttentionGrid(ids, predicts, visible)
