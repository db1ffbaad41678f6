"""Generated documents as a brat folder, a .txt and a .ann each, for any tool that reads brat standoff.

python -m mlm_vs_clm export-brat outputs/generate/<id> --out <folder>

The folder is the user's choice, since the text may be clinical; nothing writes one by itself.
"""

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from ..documents import Document, Entity, check_offsets
from ..errors import StudyError
from ..files import filling_empty
from ..pipeline.artifacts import RECORD, read_record, refuse_damaged
from ..pipeline.cells import load_blanked_texts, load_filled
from ..tasks.projection import project

LINE = re.compile(r"[^\r\n]+")


def load_generated(generation: Path) -> tuple[list[Document], Counter]:
    """Return the documents of a generate artifact under the originals' labels, and the entities lost, by reason."""
    try:
        if (record := read_record(generation))["stage"] != "generate":
            raise ValueError(record["stage"])
        inputs = {name: generation.parents[1] / record["inputs"][name] for name in ("corpus", "corruption")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{generation} holds no {RECORD} of the generate stage: give outputs/generate/<id>"
        raise StudyError(message) from error
    refuse_damaged(generation)
    originals, blanked = load_blanked_texts(inputs)
    projected = [
        project(document, filled, b.words)
        for document, filled, b in zip(originals, load_filled(generation), blanked, strict=True)
    ]
    return [document for document, _ in projected], sum((lost for _, lost in projected), Counter())


def write_standoff(documents: list[Document], folder: Path) -> None:
    """Write <id>.txt and <id>.ann of each document; signs that a file name cannot hold are written as %xx.

    Raises StudyError for offsets outside a text and where the folder holds files already or cannot be written.
    """
    rows = {name_file(document): (document.text, annotate(document)) for document in documents}
    with filling_empty(folder):
        for name, (text, lines) in rows.items():
            (folder / f"{name}.txt").write_bytes(text.encode())
            (folder / f"{name}.ann").write_bytes(lines.encode())


def name_file(document: Document) -> str:
    """Return a file name, without its ending, that no other id has."""
    return quote(document.id, safe=" ()+,-.=@_")


def annotate(document: Document) -> str:
    """Return the T lines of a document's entities, in the order of the text."""
    ordered = sorted(document.entities, key=lambda entity: (entity.start, entity.end, entity.type))
    return "".join(
        f"T{number}\t{describe_entity(document, entity)}\n" for number, entity in enumerate(ordered, 1)
    )


def describe_entity(document: Document, entity: Entity) -> str:
    """Return `type start end<tab>text`; an entity over a line break is given in pieces, as brat asks."""
    check_offsets(entity, document.text, f"document {document.id}")
    pieces = list(LINE.finditer(document.text, entity.start, entity.end))
    places = ";".join(f"{piece.start()} {piece.end()}" for piece in pieces)
    kind = re.sub(r"\s+", "_", entity.type)
    return f"{kind} {places}\t{' '.join(piece.group() for piece in pieces)}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm export-brat` and `export-dataset`."""
    parser.add_argument(
        "generation",
        type=lambda text: Path(text).absolute(),  # "." in the folder itself has no parents
        help="outputs/generate/<id>, as experiments/generate.py prints",
    )
    parser.add_argument("--out", type=Path, required=True, help="a new or empty folder")


def run(chosen: argparse.Namespace) -> None:
    """Write the folder; print what it holds and the entities lost, by reason."""
    documents, lost = load_generated(chosen.generation)
    write_standoff(documents, chosen.out)
    print_counts(documents, lost)


def print_counts(documents: list[Document], lost: Counter) -> None:
    """Print as JSON how many documents and entities were written, and the entities lost, by reason."""
    counts = {"documents": len(documents), "entities": sum(len(d.entities) for d in documents)}
    print(json.dumps(counts | dict(sorted(lost.items()))))
