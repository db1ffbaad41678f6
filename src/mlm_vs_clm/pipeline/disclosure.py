"""What a cell gives away: of the texts that its writer was trained on, of the words that were masked, and by its model.

The texts that a writer read stand against held-out ones of the same corpus (dev and test), equally many words of each. Of
a document only the first window counts on both sides, as the held-out splits have no other.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from blankfill.auditing.runs import words_of
from blankfill.draws import keyed_rng
from blankfill.text import split_words

from ..arms.writing import list_read
from ..documents import Document
from ..errors import StudyError
from ..files import write_lines
from ..metrics import DISCLOSURE
from ..metrics.disclosure import (
    CANARY_LOSS,
    CANARY_TEXT,
    COPIED,
    MEMBERSHIP,
    NAMES,
    count_copied,
    count_names,
    measure_surprise,
    place_losses,
)
from ..training.budgets import choose_budget
from ..training.canaries import OPENING, Canary, draw_canaries, name_canary
from ..training.objectives import OBJECTIVES
from .artifacts import inputs_of, read_record
from .cells import load_blanked_texts, load_documents, load_filled
from .scoring import MetricStatistics, to_line

if TYPE_CHECKING:
    from blankfill import Filler

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
    filler = load_filler(inputs, device) if settings["membership"] else None
    if filler:
        pairs = min(len(blanked), len(read), len(held_out))
        asked = [[document.text for document in side[:pairs]] for side in (read, held_out)]
        losses = [ask_model(side, filler) for side in asked]
        rows["document", MEMBERSHIP] = place_pairs(losses, len(blanked))
    if "canaries" in settings["read"]:
        rows |= measure_canaries(choose_canaries(settings, inputs), texts, filler)
    measured = [MetricStatistics(*name, DISCLOSURE[name[1]], statistics) for name, statistics in rows.items()]
    write_lines(folder / "statistics.jsonl", map(to_line, measured))


def choose_sides(settings: dict, inputs: dict[str, Path]) -> tuple[list[Document], list[Document]]:
    """Return the documents that the writer read and those held out, each in an order of its own that no arm changes."""
    held_out = [document for split in ("dev", "test") for document in load_documents(inputs["corpus"], split)]
    fewest = min((len(split_words(document.text)) for document in held_out), default=0)
    read = [
        document
        for document in list_read(inputs, settings["read"])
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


def choose_canaries(settings: dict, inputs: dict[str, Path]) -> tuple[list[Canary], list[Canary]]:
    """Return the canaries that were planted and read, and those drawn alike and never planted.

    Raises StudyError where the training read too few.
    """
    held_out, trained = (load_documents(inputs["corpus"], split) for split in ("test", "pretrain"))
    planted, control = draw_canaries(
        held_out, trained, settings["read"]["canaries"], settings["read"]["seed"]
    )
    read = {document.id for document in list_read(inputs, settings["read"])}
    canaries = [canary for i, canary in enumerate(planted) if name_canary(i) in read]
    if len(canaries) < FEWEST:
        raise StudyError(
            f"disclosure: the training read {len(canaries)} of {len(planted)} canaries, {FEWEST} are needed: raise "
            "scale.training.canary_copies or the token budget"
        )
    return canaries, control


def measure_canaries(
    sides: Sequence[Sequence[Canary]], texts: list[str], filler: "Filler | None"
) -> dict[tuple[str, str], np.ndarray]:
    """Return the rows of what the texts of a cell, and the model where it is asked, give away of the canaries of the first side."""
    phrases = [
        [words_of(f"{canary.opening.split()[-1]} {canary.drawn}") for canary in side] for side in sides
    ]
    surprise = [measure_surprise(side, texts) for side in phrases]
    rows = {("document", CANARY_TEXT): place_pairs(surprise, len(texts))}
    if filler:
        losses = [ask_model([canary.text for canary in side], filler, OPENING) for side in sides]
        rows["document", CANARY_LOSS] = place_pairs(losses, len(texts))
    return rows


def place_pairs(values: Sequence[Sequence[float] | np.ndarray], n: int) -> np.ndarray:
    """Return (n, 2) pseudo-values of the AUC of two sides, the lower value of a pair being the member's, and ones.

    A row is NaN beyond the pairs that there are; of more pairs than n, the first n count.
    """
    pairs = min(n, *map(len, values))
    rows = np.full((n, 2), np.nan)
    rows[:pairs, 0] = place_losses(*(np.array(side[:pairs]) for side in values))
    rows[:pairs, 1] = 1.0
    return rows


def load_filler(inputs: dict[str, Path], device: str) -> "Filler":
    """Return the model that wrote the texts of a cell."""
    from blankfill import Filler
    from blankfill.networks.checkpoints import load_model, load_tokenizer

    model, budget = (
        inputs_of(inputs["generation"])["model"],
        read_record(inputs["generation"])["settings"].get("budget", 0),
    )
    folder, _ = choose_budget(model, read_record(inputs["corpus"])["settings"]["name"], budget)
    kind = OBJECTIVES[read_record(model)["settings"]["objective"]["name"]].kind
    return Filler(load_model(folder, kind), load_tokenizer(folder), device=device)


def ask_model(texts: list[str], filler: "Filler", first: int = 0) -> list[float]:
    """Return the loss of each text in nats per token, of its words after the first, `first` many."""
    from blankfill.auditing.membership import measure_losses

    return measure_losses(texts, filler, 0, first)
