"""The order of data: which documents stand in which batch, the same for every objective."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from .draws import keyed_rng
from .objectives import IGNORE, Noise, Objective, Subwords


def tokenize(texts: list[str], tokenizer: PreTrainedTokenizerBase, max_subwords: int) -> list[Subwords]:
    """Return `[CLS] text [SEP]` of each text, cut at `max_subwords`."""
    encoded = tokenizer(texts, truncation=True, max_length=max_subwords)
    return [
        Subwords(np.array(ids), np.array([-1 if word is None else word for word in encoded.word_ids(i)]))
        for i, ids in enumerate(encoded["input_ids"])
    ]


def order_batches(
    lengths: list[int], corpora: list[str], token_budget: int, batch_documents: int, seed: int
) -> list[list[int]]:
    """Return the documents (indices) of every batch: corpora in turn, epochs shuffled, similar lengths together.

    Stops once the token budget is reached. The objective has no say in it.
    """
    chosen, tokens, queue = [], 0, _endless(corpora, seed)
    while tokens < token_budget:
        chosen.append(next(queue))
        tokens += lengths[chosen[-1]]
    rng, batches = keyed_rng(seed, "batches"), []
    span = 20 * batch_documents
    for start in range(0, len(chosen), span):
        block = sorted(chosen[start : start + span], key=lambda i: lengths[i])
        groups = [block[i : i + batch_documents] for i in range(0, len(block), batch_documents)]
        batches += [groups[i] for i in rng.permutation(len(groups))]
    return batches


def _endless(corpora: list[str], seed: int) -> Iterator[int]:
    """Yield document indices for ever: one of each corpus in turn, each corpus in its own shuffled epochs."""
    places = {name: np.flatnonzero(np.array(corpora) == name) for name in dict.fromkeys(corpora)}
    streams = [_epochs(indices, seed, name) for name, indices in places.items()]
    while True:
        for stream in streams:
            yield next(stream)


def _epochs(indices: np.ndarray, seed: int, name: str) -> Iterator[int]:
    epoch = 0
    while True:
        yield from (int(i) for i in keyed_rng(seed, "order", name, epoch).permutation(indices))
        epoch += 1


class Batches(torch.utils.data.Dataset):
    """Padded batches by number; the noise of a document is keyed by (seed, batch, place), never by the clock."""

    def __init__(
        self,
        documents: list[Subwords],
        batches: list[list[int]],
        objective: Objective,
        noise: Noise,
        tokenizer: PreTrainedTokenizerBase,
        seed: int,
    ):
        self.documents, self.batches, self.objective, self.noise = documents, batches, objective, noise
        self.tokenizer, self.seed = tokenizer, seed

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, number: int) -> dict[str, torch.Tensor]:
        examples = [
            self.objective.make_example(
                self.documents[document],
                self.noise,
                self.tokenizer.mask_token_id,
                len(self.tokenizer),
                keyed_rng(self.seed, "noise", number, place),
            )
            for place, document in enumerate(self.batches[number])
        ]
        return pad_examples(examples, self.tokenizer.pad_token_id)

    def count_subwords(self, number: int) -> int:
        """Return the sub-words of a batch's documents, once each however often an objective reads them."""
        return sum(len(self.documents[document].ids) for document in self.batches[number])


PADDING = {"labels": IGNORE, "position_ids": 0}  # whatever else is padded takes the pad sub-word


def pad_examples(examples: list[dict[str, np.ndarray]], pad_id: int) -> dict[str, torch.Tensor]:
    """Stack examples (right-padded, int64) and add the attention mask of `input_ids`."""
    batch = {}
    for name in examples[0]:
        rows = [torch.as_tensor(example[name]) for example in examples]
        fill = PADDING.get(name, pad_id)
        batch[name] = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=fill)
    lengths = torch.tensor([len(example["input_ids"]) for example in examples])
    batch["attention_mask"] = (torch.arange(batch["input_ids"].shape[1]) < lengths[:, None]).long()
    return batch
