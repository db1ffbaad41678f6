"""The order of data: which documents stand in which batch, the same for every objective."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ...documents import find_sentence_starts
from ...draws import keyed_rng
from ..checkpoints import answer_marks
from ..objectives import IGNORE, Marks, Noise, Objective, Subwords


def tokenize(
    texts: list[str], tokenizer: PreTrainedTokenizerBase, max_subwords: int, kind: str = "masked"
) -> list[Subwords]:
    """Return `[CLS] text [SEP]` of each text, cut at `max_subwords`, as a model of this kind takes it.

    What a tokenizer sets around a text stays. A causal model's may set nothing (GPT-2) or no end (Llama): the
    marks are then those that filling sets (fill.blanks.to_rows).
    """
    if not texts:
        return []
    opening, closing = _missing_marks(tokenizer) if kind == "causal" else ([], [])
    encoded = tokenizer(texts, truncation=True, max_length=max_subwords - len(opening + closing))
    made = []
    for number, (text, ids) in enumerate(zip(texts, encoded["input_ids"], strict=True)):
        words = [-1 if word is None else word for word in encoded.word_ids(number)]
        starts = (encoded.char_to_token(number, place) for place in find_sentence_starts(text))
        made.append(
            Subwords(
                np.array(opening + ids + closing, dtype=int),
                np.array([-1] * len(opening) + words + [-1] * len(closing), dtype=int),
                tuple(sorted({start + len(opening) for start in starts if start is not None})),
            )
        )
    return made


def _missing_marks(tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], list[int]]:
    """Return the marks that a causal model's text needs and its tokenizer does not set: where it starts and ends."""
    set_around = tokenizer("a")["input_ids"]
    starts = (tokenizer.cls_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id)
    ends = (tokenizer.sep_token_id, tokenizer.eos_token_id)
    opening, closing = ([mark for mark in marks if mark is not None][:1] for marks in (starts, ends))
    return (
        [] if set_around[:1] == opening else opening,
        [] if set_around[-1:] == closing else closing,
    )


def find_marks(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> Marks:
    """Return the ids that objectives put in place of text, and what the model's decoder starts from."""
    start = model.config.decoder_start_token_id if model.config.is_encoder_decoder else None
    answers = tuple(answer_marks(tokenizer).values())
    return Marks(tokenizer.mask_token_id, len(tokenizer), start, answers)


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
        marks: Marks,
        pad_id: int,
        seed: int,
    ):
        self.documents, self.batches, self.objective, self.noise = documents, batches, objective, noise
        self.marks, self.pad_id, self.seed = marks, pad_id, seed

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, number: int) -> dict[str, torch.Tensor]:
        return self.take(number, range(len(self.batches[number])))

    def take(self, number: int, places: Sequence[int]) -> dict[str, torch.Tensor]:
        """Return a part of a batch: the examples at these places, the same in whatever parts a batch is read."""
        make, documents = self.objective.make_example, self.batches[number]
        examples = [
            make(
                self.documents[documents[place]],
                self.noise,
                self.marks,
                keyed_rng(self.seed, "noise", number, place),
            )
            for place in places
        ]
        return pad_examples(examples, self.pad_id)

    def split(self, number: int, most: int) -> list[dict[str, torch.Tensor]]:
        """Return a batch as micro-batches of at most `most` documents (0: all at once)."""
        places = range(len(self.batches[number]))
        size = most or len(places) or 1
        return [self.take(number, places[i : i + size]) for i in range(0, len(places), size)]

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
