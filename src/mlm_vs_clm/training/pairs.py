"""How often a model tells whether one segment of text follows another, on documents that it has not learned from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from safetensors.torch import save_file
from torch import nn

from blankfill.draws import keyed_rng

from .batches import Batch, Batches, make_groups, pad_examples
from .masked_examples import join_segments, masked_pair
from .noise import TokenizedDocument

# Where a second segment comes from that does not follow.
DOCUMENT, SENTENCE = "another document", "a later sentence"
COLUMNS = ("corpus", "negatives", "document", "right", "n")
HEAD, BATCH = "next_sentence.safetensors", 16
CUTS = 2  # of a document: all of them would take longer than a training of the default study
Pair = tuple[int, str, TokenizedDocument]  # the number of the document, the kind of its negatives, the pair
# Returns 1 for each pair whose second segment is told to follow the first.
Judge = Callable[[Batch], list[int]]


def list_pairs(documents: Sequence[TokenizedDocument], seed: int) -> list[Pair]:
    """Return held-out pairs: at CUTS sentences of a document, one that follows and one that does not, for both negatives.

    What does not follow is a sentence of another document, or a later one of the same document; the last sentence of a
    document has none of the second kind.
    """
    whole = [number for number, document in enumerate(documents) if document.sentences]
    return [
        (number, kind, pair)
        for number in whole
        for cut in _draw_cuts(documents[number].sentences, keyed_rng(seed, "cuts", number))
        for kind, wrong in _list_wrong(documents, whole, number, cut, seed)
        for pair in (join_segments(documents[number], cut, documents[number], cut, is_next=True), wrong)
    ]


def _draw_cuts(sentences: Sequence[int], rng: np.random.Generator) -> list[int]:
    return sorted(map(int, rng.permutation(sentences)[:CUTS]))


def _list_wrong(
    documents: Sequence[TokenizedDocument], whole: list[int], number: int, cut: int, seed: int
) -> Iterator[tuple[str, TokenizedDocument]]:
    rng, document = keyed_rng(seed, "pairs", number, cut), documents[number]
    if candidates := [candidate for candidate in whole if candidate != number]:
        unrelated = documents[int(rng.choice(candidates))]
        start = int(rng.choice(unrelated.sentences))
        yield DOCUMENT, join_segments(document, cut, unrelated, start, is_next=False)
    if later := [start for start in document.sentences if start > cut]:
        yield SENTENCE, join_segments(document, cut, document, int(rng.choice(later)), is_next=False)


def write_pairs(
    documents: Mapping[str, Sequence[TokenizedDocument]], like: Batches, judge: Judge, folder: Path
) -> None:
    """Write `pairs.csv`: per document and kind of negatives, how many of its `n` pairs `judge` tells right.

    Pairs are masked as the batches of the training (`like`) are.
    """
    rows = [
        {"corpus": corpus, "document": number, "negatives": kind, "right": int(verdict == pair.is_next)}
        for corpus, of_corpus in documents.items()
        for batch in make_groups(list_pairs(of_corpus, like.seed), BATCH)
        for verdict, (number, kind, pair) in zip(judge(_to_batch(batch, like)), batch, strict=True)
    ]
    groups = pd.DataFrame(rows, columns=COLUMNS[:-1]).groupby([*COLUMNS[:3]], as_index=False)["right"]
    groups.agg(right="sum", n="size").to_csv(folder / "pairs.csv", index=False)


def _to_batch(pairs: Sequence[Pair], like: Batches) -> Batch:
    examples = [
        masked_pair(pair, like.noise, like.tokens, keyed_rng(like.seed, "noise of pairs", number, place))
        for place, (number, _, pair) in enumerate(pairs)
    ]
    return pad_examples(examples, like.pad_id)


def save_head(head: nn.Module, folder: Path) -> None:
    """Write the head that tells pairs, as safetensors: the state of a `torch.nn.Sequential` of BERT's pooler and classifier."""
    save_file({name: value.contiguous().cpu() for name, value in head.state_dict().items()}, folder / HEAD)
