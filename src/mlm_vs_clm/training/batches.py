"""The order of the data: which documents are in which batch, the same for every objective."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from blankfill.draws import keyed_rng
from blankfill.networks.checkpoints import edge_tokens, sentinel_tokens

from ..documents import find_sentence_starts
from ..errors import StudyError
from .masked_examples import pair_sentences
from .noise import IGNORE, TargetTokens, TokenizedDocument, TrainedObjective
from .objectives import OBJECTIVES, Objective, objective_of_batch

Batch = dict[str, torch.Tensor]
T = TypeVar("T")


def tokenize(
    texts: list[str], tokenizer: PreTrainedTokenizerBase, max_subwords: int, kind: str = "masked"
) -> list[TokenizedDocument]:
    """Return `[CLS] text [SEP]` of each text, cut at `max_subwords` tokens, as a model of this kind takes it.

    Special tokens that a tokenizer adds are kept. A causal model's may add none (GPT-2) or no EOS (Llama): the text
    then gets those that filling adds (`edge_tokens`).
    """
    if not texts:
        return []
    opening, closing = missing_tokens(tokenizer) if kind == "causal" else ([], [])
    encoded = tokenizer(
        texts,
        truncation=True,
        max_length=max_subwords - len(opening + closing),
        split_special_tokens=True,  # what is typed as [MASK] is text, as it is when blanks are filled
    )
    documents = []
    for number, (text, ids) in enumerate(zip(texts, encoded["input_ids"], strict=True)):
        words = [-1 if word is None else word for word in encoded.word_ids(number)]
        starts = (encoded.char_to_token(number, place) for place in find_sentence_starts(text))
        documents.append(
            TokenizedDocument(
                np.array(opening + ids + closing, dtype=int),
                np.array([-1] * len(opening) + words + [-1] * len(closing), dtype=int),
                tuple(sorted({start + len(opening) for start in starts if start is not None})),
                max((end for _, end in encoded[number].offsets), default=0),
            )
        )
    return documents


def missing_tokens(tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], list[int]]:
    """Return the tokens that a causal model's text needs and its tokenizer does not add: at the start and the end."""
    added = tokenizer("a")["input_ids"]
    opening, closing = edge_tokens(tokenizer)
    has_opening = added[: len(opening)] == opening
    has_closing = added[len(added) - len(closing) :] == closing
    return [] if has_opening else opening, [] if has_closing else closing


def find_target_tokens(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> TargetTokens:
    """Return the ids that objectives put in place of text, and what the model's decoder starts from."""
    start = model.config.decoder_start_token_id if model.config.is_encoder_decoder else None
    mask = -1 if tokenizer.mask_token_id is None else tokenizer.mask_token_id
    return TargetTokens(mask, len(tokenizer), start, tuple(sentinel_tokens(tokenizer).values()))


def order_batches(
    lengths: list[int], corpora: list[str], token_budget: int, batch_documents: int, seed: int
) -> list[Sequence[int]]:
    """Return the documents (indices) of every batch: corpora in turn, epochs shuffled, similar lengths together.

    Stops once the token budget is reached. Independent of the objective.
    """
    chosen: list[int] = []
    tokens, queue = 0, _endless(corpora, seed)
    while tokens < token_budget:
        chosen.append(next(queue))
        tokens += lengths[chosen[-1]]
    rng, span = keyed_rng(seed, "batches"), 20 * batch_documents
    batches: list[Sequence[int]] = []
    for start in range(0, len(chosen), span):
        block = sorted(chosen[start : start + span], key=lambda i: lengths[i])
        groups = make_groups(block, batch_documents)
        batches += [groups[i] for i in rng.permutation(len(groups))]
    return batches


def make_groups(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Return the items in groups of `size`, the last of which may be smaller."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def choose_unique(lengths: list[int], unique_tokens: int, seed: int, corpus: str) -> list[int]:
    """Return the documents (indices, ascending) of a corpus that a training may read: drawn until they hold so many tokens.

    0: all. What a smaller number takes is part of what a larger one takes.
    """
    if not unique_tokens:
        return list(range(len(lengths)))
    drawn = keyed_rng(seed, "unique", corpus).permutation(len(lengths))
    n_taken = int(np.searchsorted(np.cumsum(np.array(lengths)[drawn]), unique_tokens)) + 1
    return sorted(int(i) for i in drawn[:n_taken])


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


class Batches:
    """Padded batches by number; the noise of a document is keyed by (seed, batch, place), never by the clock."""

    def __init__(
        self,
        documents: list[TokenizedDocument],
        batches: Sequence[Sequence[int]],
        objective: TrainedObjective,
        tokens: TargetTokens,
        pad_id: int,
        seed: int,
    ):
        self.documents, self.batches = documents, batches
        self.objective, self.noise = objective.name, objective.noise
        self.tokens, self.pad_id, self.seed = tokens, pad_id, seed

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, number: int) -> Batch:
        return self.take(number, range(len(self.batches[number])))

    def take(self, number: int, places: Sequence[int]) -> Batch:
        """Return the examples of a batch at these places, the same however the batch is divided."""
        objective, chosen = self.objective_at(number), self.batches[number]
        examples = []
        for place in places:
            rng, document = keyed_rng(self.seed, "noise", number, place), self.documents[chosen[place]]
            if objective.reads_pairs:
                document = pair_sentences(document, self.documents[rng.integers(len(self.documents))], rng)
            examples.append(objective.make_example(document, self.noise, self.tokens, rng))
        return pad_examples(examples, self.pad_id)

    def split(self, number: int, most: int) -> list[Batch]:
        """Return a batch as micro-batches of at most `most` documents (0: all at once)."""
        places = range(len(self.batches[number]))
        return [self.take(number, chosen) for chosen in make_groups(places, most or len(places) or 1)]

    def objective_at(self, number: int) -> Objective:
        """Return the objective of a batch."""
        return OBJECTIVES[objective_of_batch(number, len(self.batches), self.objective, self.noise)]

    def count_tokens(self, number: int) -> int:
        """Return the tokens of a batch's documents, once each however often an objective reads them."""
        return sum(len(self.documents[document].ids) for document in self.batches[number])


@dataclass(frozen=True)
class TrainingBatches:
    """What a training reads: the batches to learn from, with the corpus of each of their documents, and held-out ones.

    `dev` has the batches of each corpus by their objective, `pairs` the documents of each whose segments are asked about.
    """

    learned: Batches
    corpora: list[str]
    dev: dict[str, dict[str, Batches]]
    pairs: dict[str, list[TokenizedDocument]]

    def count_dev_tokens(self) -> int:
        """Return the tokens that a measurement of the dev loss reads."""
        held_out = [batches for of_objectives in self.dev.values() for batches in of_objectives.values()]
        return sum(batches.count_tokens(number) for batches in held_out for number in range(len(batches)))


# Everything else is padded with the padding token.
PADDING = {"labels": IGNORE, "position_ids": 0, "token_type_ids": 0, "weights": 0.0}


def pad_examples(examples: list[dict[str, np.ndarray]], pad_id: int) -> Batch:
    """Stack examples (right-padded, int64) and add the attention mask of `input_ids`, (batch, length).

    Examples with a `prefix` get a mask (batch, 1, length, length) instead, true where a position may see another.
    """
    batch = {}
    for name in examples[0].keys() - {"prefix"}:
        rows = [torch.as_tensor(example[name]) for example in examples]
        fill = PADDING.get(name, pad_id)
        batch[name] = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=fill)
    lengths = torch.tensor([len(example["input_ids"]) for example in examples])
    places = torch.arange(batch["input_ids"].shape[1])
    is_text = places < lengths[:, None]
    batch["attention_mask"] = is_text.long()
    if "prefix" in examples[0]:
        prefixes = torch.tensor([int(example["prefix"]) for example in examples])[:, None, None]
        visible = (places <= places[:, None]) | (places < prefixes)
        batch["attention_mask"] = (visible & is_text[:, None])[:, None]
    return batch


def check_room(batch: Batch, limit: int | None, objective: str) -> None:
    """Raise StudyError for a batch with more positions than the model has (None: no limit)."""
    positions = [batch[name].shape[1] for name in ("input_ids", "decoder_input_ids") if name in batch]
    if "position_ids" in batch:
        positions[0] = int(batch["position_ids"].max()) + 1
    if limit and 0 < limit < max(positions):
        raise StudyError(
            f"objective {objective} reads a document of {max(positions)} positions, and the model has {limit}: lower "
            "scale.training.max_subwords"
        )


def count_read(batch: Batch) -> int:
    """Return how many tokens of a batch are no padding."""
    mask = batch["attention_mask"]
    return int((mask if mask.dim() == 2 else mask[:, 0, -1]).sum())
