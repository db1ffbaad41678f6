"""How a causal model fills with both sides in sight and no training for it: it writes candidates, then reads on.

The candidates of a document are read side by side in one row, each attending to what was read before and to itself;
their keys and values are dropped when one is chosen, so what stands left of a blank is read once.
"""

from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..axes import check_values
from ..errors import BlankfillError
from ..memory import MEMORY
from ..networks.attention import as_filling, kept_in
from ..networks.evaluation import in_evaluation_mode
from ..networks.probe import Way, choose_way, probe_texts
from ..networks.sizes import HEAD_ROWS, attention_window, hidden_states, output_layer, vocabulary_size
from ..slots.ledger import Ledger
from ..slots.rows import TokenRow
from ..slots.vocabulary import Speller, check_finite, slot_bias
from ..text import BlankedText, DocumentError, FilledText
from .batches import batch_by_size
from .caches import make_cache
from .causal import check_opening, check_positions, count_walks, to_open_rows
from .searches import Search

# Whose a column is: of all candidates, of none any more; a query of none.
SHARED, DROPPED, PADDING = -1, -2, -3


@in_evaluation_mode
def fill_lookahead(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    length: str = "known",
    candidates: int = 8,
    lookahead: int = 16,
    batch_tokens: int = 32768,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks from left to right with the candidate that makes the kept words after it most likely.

    Candidates are the `candidates` likeliest first tokens by the left context, each continued greedily to the length of
    the blank (`known` or `one`, as in `fill_causal`). Written is the one with the greatest log-likelihood of its own
    tokens and of the kept tokens up to the next blank, at most `lookahead` of them; ties go to the likelier by the left.
    Between neighbouring blanks the left context decides.

    Raises BlankfillError for a model without position_ids, for more candidates than it has tokens, and what
    `fill_causal` raises; DocumentError for a text longer than the window of a layer that does not read all before it.
    """
    check_values("lookahead", {"length": length, "candidates": candidates, "lookahead": lookahead})
    check_candidates(candidates, vocabulary_size(model))
    check_positions(model, "look-ahead")
    check_side_by_side(model)
    rows = to_open_rows(model, tokenizer, blanked, length)
    for row in rows:
        check_opening(row)
        check_window(row, attention_window(model))
    searches = [Search(row, candidates, lookahead) for row in rows if row.slots]
    bias = slot_bias(tokenizer, vocabulary_size(model)).to(model.device)
    with as_filling(model), torch.inference_mode():
        for batch in batch_by_size(
            searches, lambda search: len(search.blanks), batch_tokens, lambda search: search.most
        ):
            _search(model, batch, bias)
    return Speller(tokenizer).assemble(blanked, rows), count_walks(model, blanked, searches)


def check_candidates(candidates: int, n_vocabulary: int) -> None:
    """Raise BlankfillError for more candidates than there are tokens."""
    if candidates > n_vocabulary:
        raise BlankfillError(
            f"candidates={candidates}: the vocabulary of the model has {n_vocabulary} tokens, give no more"
        )


def check_window(row: TokenRow, window: int | None) -> None:
    """Raise DocumentError for a document longer than what a layer reads, of which our masks know nothing."""
    if window is not None and len(row.ids) > window and row.slots:
        raise DocumentError(
            row.id,
            f"{len(row.ids)} tokens are too many for look-ahead, as some layers of the model read {window} at most: "
            "fill from the left context",
        )


def check_side_by_side(model: PreTrainedModel) -> None:
    """Raise BlankfillError for a network that does not keep candidates in one row apart, or does not remember what it read."""
    ways: dict[str, Way] = {"side by side": _probe_tree, "alone": _probe_alone}
    if choose_way(model, ways) == "alone":
        raise BlankfillError(
            f"look-ahead needs a network with a key-value cache and masks of its own, and {type(model).__name__} "
            "reads another text with them: fill from the left context"
        )


def _probe_parts(model: PreTrainedModel) -> tuple[list[int], list[list[int]]]:
    ids = probe_texts(model)[0]
    return ids[:4], [ids[4:6], ids[6:8]]


def _probe_tree(model: PreTrainedModel) -> torch.Tensor:
    """Return the logits of two candidates after a text, read side by side."""
    before, candidates = _probe_parts(model)
    row = TokenRow("probe", [*before, *candidates[0]], [4, 5], [0, 0])
    search = Search(row, len(candidates), 2)
    with as_filling(model):
        reader = _TreeReader(model, [search])
        reader.read([search])
        search.count(0)
        search.parts = candidates
        return output_layer(model)(reader.read([search])[0].flatten(0, 1)).float()


def _probe_alone(model: PreTrainedModel) -> torch.Tensor:
    """Return the same by a plain pass for each candidate."""
    before, candidates = _probe_parts(model)
    texts = [torch.tensor([[*before, *candidate]], device=model.device) for candidate in candidates]
    return torch.cat([model(input_ids=ids).logits[0, -2:] for ids in texts]).float()


def _search(model: PreTrainedModel, batch: list[Search], bias: torch.Tensor) -> None:
    """Fill the documents of a batch, in rounds of one pass each."""
    reader, head = _TreeReader(model, batch), output_layer(model)
    while batch := _trim(batch):
        states = reader.read(batch)
        decisive = [
            search.targets() if search.parts[0] and not search.is_finished else [] for search in batch
        ]
        likelihoods = _score_kept(head, states, decisive)
        asking, last = [], []
        for search, scores, hidden in zip(batch, likelihoods, states, strict=True):
            if search.is_finished:
                continue
            search.count(sum(map(len, search.targets())))
            proposes = search.hear(scores)
            reader.take_note(search)
            if proposes:
                hidden = hidden if search.chosen is None else hidden[search.chosen : search.chosen + 1]
                asking.append(search)
                last.append(hidden[:, -1])
                search.n_scored += len(hidden)
            search.chosen = None
        if asking:
            _propose(head, asking, last, bias)
            for search in asking:
                reader.take_note(search)
                search.chosen = None
        reader.compact()
        MEMORY.release_if_grown()


def _trim(batch: list[Search]) -> list[Search]:
    """Drop finished documents at the end: the batch shrinks, and its cache with it."""
    while batch and batch[-1].is_finished:
        batch = batch[:-1]
    return batch


def _score_kept(head, states: list[torch.Tensor], targets: list[list[list[int]]]) -> list[list[float]]:
    """Return the log-likelihood of each part's targets, predicted from its states but the last."""
    rows = [i for i, branches in enumerate(targets) if branches]
    if not rows:
        return [[] for _ in targets]
    flat = torch.cat([states[i][:, :-1].flatten(0, 1) for i in rows])
    ids = torch.tensor([token for i in rows for branch in targets[i] for token in branch], device=flat.device)
    chunks = zip(flat.split(HEAD_ROWS), ids.split(HEAD_ROWS), strict=True)
    likelihoods = [-cross_entropy(head(chunk).float(), of, reduction="none") for chunk, of in chunks]
    values = iter(torch.cat(likelihoods).tolist())
    return [[sum(next(values) for _ in branch) for branch in branches] for branches in targets]


def _propose(head, asking: list[Search], last: list[torch.Tensor], bias: torch.Tensor) -> None:
    """Give each document the likeliest tokens after each of its parts that may stand there."""
    sizes, n = [len(states) for states in last], max(search.n_candidates for search in asking)
    kinds = [search.kind() for search, size in zip(asking, sizes, strict=True) for _ in range(size)]
    values, tokens = [], []
    for chunk, kind in zip(
        torch.cat(last).split(HEAD_ROWS),
        torch.tensor(kinds, device=bias.device).split(HEAD_ROWS),
        strict=True,
    ):
        logits = check_finite(head(chunk).float())
        legal = logits + bias[kind]
        ids = legal.topk(n, dim=-1).indices.sort(-1).values  # equal ones in the order of the vocabulary
        order = legal.gather(-1, ids).sort(dim=-1, descending=True, stable=True).indices
        ids = ids.gather(-1, order)
        tokens.append(ids)
        values.append(legal.gather(-1, ids) - logits.logsumexp(-1, keepdim=True))  # -inf: may not stand there
    proposals = zip(asking, torch.cat(values).split(sizes), torch.cat(tokens).split(sizes), strict=True)
    for search, value, ids in proposals:
        search.propose(value, ids)


class _TreeReader:
    """Reads the open candidates of each document side by side: a row per document, a mask that keeps them apart."""

    def __init__(self, model: PreTrainedModel, batch: list[Search]):
        self.model, self.end = model, 0
        n_columns = max(search.most for search in batch)
        self.cache: Any = make_cache(n_columns, kept_in(model))
        self.owner = np.full((len(batch), n_columns), DROPPED)
        self.row_of = {id(search): row for row, search in enumerate(batch)}

    def read(self, batch: list[Search]) -> list[torch.Tensor]:
        """Read the parts of each document; return the hidden states (parts, n, width) of each."""
        branches = [[] if search.is_finished else search.parts for search in batch]
        n_new = max(sum(map(len, candidates)) for candidates in branches)
        ids, places = np.zeros((2, len(batch), n_new), dtype=int)
        asking = np.full_like(ids, PADDING)
        for row, candidates in enumerate(branches):
            start = 0
            for number, tokens in enumerate(candidates):
                now = slice(start, start + len(tokens))
                ids[row, now], places[row, now] = tokens, batch[row].depth + np.arange(len(tokens))
                asking[row, now] = number if len(candidates) > 1 else SHARED
                start += len(tokens)
        new = slice(self.end, self.end + n_new)
        self.owner[:, new], self.owner[: len(batch), new] = (
            DROPPED,
            np.where(asking == PADDING, DROPPED, asking),
        )
        inputs = {"input_ids": self._tensor(ids), "position_ids": self._tensor(places)}
        inputs["attention_mask"] = self._mask(asking, n_new)
        hidden = hidden_states(self.model, inputs | {"past_key_values": self.cache, "use_cache": True})
        self.end += n_new
        sizes = [sum(map(len, candidates)) for candidates in branches]
        return [
            states[:size].unflatten(0, (len(candidates), -1)) if candidates else states[:0]
            for states, size, candidates in zip(hidden, sizes, branches, strict=True)
        ]

    def take_note(self, search: Search) -> None:
        """Keep the columns of the candidate that was chosen, and drop those of the others."""
        if search.chosen is not None:
            owner = self.owner[self.row_of[id(search)]]
            owner[owner >= 0] = np.where(owner[owner >= 0] == search.chosen, SHARED, DROPPED)

    def compact(self) -> None:
        """Move the columns that are still read to the front of each row."""
        live = self.owner[:, : self.end] != DROPPED
        targets = live.cumsum(1) - 1
        rows, sources = np.nonzero(live & (targets != np.arange(self.end)))
        places, end = targets[rows, sources], int(live.sum(1).max())
        owners = self.owner[rows, sources]
        self.owner[rows, sources] = DROPPED
        self.owner[rows, places] = owners
        n_rows = len(self.cache.layers[0].keys)
        moved = [self._tensor(numbers[rows < n_rows]) for numbers in (rows, sources, places)]
        for layer in self.cache.layers:
            layer.move(*moved, n_rows, end)
        self.end = end

    def _mask(self, asking: np.ndarray, n_new: int) -> torch.Tensor:
        """Return what each token reads (documents, 1, n, columns): what all share, its own candidate, itself."""
        owner = self.owner[: len(asking), None, : self.end + n_new]
        query, column = np.arange(n_new)[:, None] + self.end, np.arange(self.end + n_new)
        seen = ((owner == SHARED) | (owner == asking[:, :, None])) & (column <= query) | (column == query)
        mask = self._tensor(seen)[:, None]
        if self.model.config._attn_implementation == "eager":
            return torch.zeros(mask.shape, device=mask.device, dtype=self.model.dtype).masked_fill(
                ~mask, torch.finfo(self.model.dtype).min
            )
        return mask

    def _tensor(self, numbers: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(numbers)).to(self.model.device)
