"""What a cell gives away: of the texts that its writer was trained on, of the words that were masked, and by its model.

The texts that a writer read stand against held-out ones of the same corpus (dev and test), equally many words of each. Of
a document only the first window counts on both sides, as the held-out splits have no other.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from blankfill.draws import keyed_rng
from blankfill.text import split_words

from ..arms.writing import list_read
from ..documents import Document
from ..errors import StudyError
from ..files import write_lines
from ..metrics import DISCLOSURE
from ..metrics.disclosure import COPIED, MEMBERSHIP, NAMES, count_copied, count_names, place_losses
from ..training.budgets import choose_budget
from ..training.objectives import OBJECTIVES
from .artifacts import inputs_of, read_record
from .cells import load_blanked_texts, load_documents, load_filled
from .scoring import MetricStatistics, to_line

FEWEST = 2  # texts of a side


def measure_disclosure(settings: dict, inputs: dict[str, Path], folder: Path, device: str) -> None:
    """Write `statistics.jsonl`, as `score` does: one line per measure, one row per document of the cell.

    Raises StudyError for a corpus with too few texts of a side.
    """
    _, blanked = load_blanked_texts(inputs)
    filled = load_filled(inputs["generation"])
    read, held_out = choose_sides(settings, inputs)
    texts = [filled_text.text for filled_text in filled]
    sides = cut_equal(read, held_out)
    rows = {("document", COPIED): count_copied(texts, *sides)}
    if read_record(inputs["corruption"])["settings"]["strategy"] == "entities":
        fills, originals = (
            [blanked_text.fills for blanked_text in filled],
            [blanked_text.originals() for blanked_text in blanked],
        )
        rows["fills", NAMES] = count_names(fills, originals)
    if settings["membership"]:
        rows["document", MEMBERSHIP] = ask_model(inputs, read, held_out, len(blanked), device)
    measured = [MetricStatistics(*name, DISCLOSURE[name[1]], statistics) for name, statistics in rows.items()]
    write_lines(folder / "statistics.jsonl", map(to_line, measured))


def choose_sides(settings: dict, inputs: dict[str, Path]) -> tuple[list[Document], list[Document]]:
    """Return the documents that the writer read and those held out, each in an order of its own that no arm changes."""
    corpora = tuple((key, path) for key, path in inputs.items() if key.startswith("corpus/"))
    held_out = [document for split in ("dev", "test") for document in load_documents(inputs["corpus"], split)]
    fewest = min((len(split_words(document.text)) for document in held_out), default=0)
    documents = list_read(inputs["start"], corpora, inputs["corpus"], tuple(sorted(settings["read"].items())))
    read = [
        document
        for document in documents
        if document.id == f"{document.origin_id}-0" and len(split_words(document.text)) >= fewest
    ]
    if min(len(read), len(held_out)) < FEWEST:
        raise StudyError(
            f"disclosure: {len(read)} texts read and {len(held_out)} held out, {FEWEST} of each are needed: give a larger corpus"
        )
    return _shuffle(read, "read"), _shuffle(held_out, "held out")


def _shuffle(documents: Sequence[Document], name: str) -> list[Document]:
    return [documents[i] for i in keyed_rng("disclosure", name).permutation(len(documents))]


def cut_equal(read: Sequence[Document], held_out: Sequence[Document]) -> tuple[list[str], list[str]]:
    """Return the first texts of both sides that together have as many words as the smaller side."""
    sides = [[document.text for document in side] for side in (read, held_out)]
    words = [np.cumsum([len(split_words(text)) for text in side]) for side in sides]
    most = min(count[-1] for count in words)
    first, second = (side[: int((count <= most).sum())] for side, count in zip(sides, words, strict=True))
    return first, second


def ask_model(
    inputs: dict[str, Path], read: Sequence[Document], held_out: Sequence[Document], n: int, device: str
) -> np.ndarray:
    """Return (n, 1) pseudo-values of the AUC by the model's loss, NaN beyond the pairs that there are."""
    from blankfill import Filler
    from blankfill.auditing.membership import measure_losses
    from blankfill.networks.checkpoints import load_model, load_tokenizer

    model = inputs_of(inputs["generation"])["model"]
    folder, _ = choose_budget(model, read_record(inputs["corpus"])["settings"]["name"])
    kind = OBJECTIVES[read_record(model)["settings"]["objective"]["name"]].kind
    filler = Filler(load_model(folder, kind), load_tokenizer(folder), device=device)
    pairs = min(n, len(read), len(held_out))
    losses = [
        np.array(measure_losses([document.text for document in side[:pairs]], filler, 0))
        for side in (read, held_out)
    ]
    rows = np.full((n, 1), np.nan)
    rows[:pairs, 0] = place_losses(*losses)
    return np.hstack([rows, np.where(np.isnan(rows), np.nan, 1.0)])
