"""Generated documents as a folder that `datasets.load_dataset` reads, with a card of what they are.

mlm-vs-clm export-dataset outputs/generate/<id> --out <folder>

The folder is the user's choice, since the text may be clinical; nothing writes one by itself.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

import yaml

from ..corpora.card import card_markdown
from ..corpora.storage import to_dataset
from ..documents import Document
from ..errors import StudyError
from ..files import filling_empty
from ..pipeline.artifacts import inputs_of, name_of, read_record
from .brat_export import add_arguments, load_generated, print_counts

__all__ = ["add_arguments", "run"]

PARQUET, CARD = "data/generated.parquet", "README.md"
TOLD = ("context", "length", "order", "per_pass", "temperature", "top_k", "top_p", "seed")


def write_dataset(documents: list[Document], card: str, folder: Path) -> None:
    """Write the documents as Parquet beside their card.

    Raises StudyError where the folder holds files already or cannot be written.
    """
    from datasets import disable_progress_bars

    disable_progress_bars()
    with filling_empty(folder):
        (folder / PARQUET).parent.mkdir()
        to_dataset(documents).to_parquet(folder / PARQUET)
        (folder / CARD).write_text(card, encoding="utf-8", newline="\n")


def describe_dataset(generation: Path, documents: list[Document], lost: Counter) -> str:
    """Return the card of generated documents: who wrote them, from which corpus, with which words hidden, under which licence."""
    record, read = read_record(generation), inputs_of(generation)
    arm, origin = record["settings"], json.loads((read["corpus"] / "card.json").read_text(encoding="utf-8"))
    hidden = json.loads((read["corruption"] / "summary.json").read_text(encoding="utf-8"))
    head = {
        "pretty_name": f"{origin['name']} written by {arm['name']}",
        "tags": ["synthetic", "text-infilling", "mlm-vs-clm"],
        "configs": [{"config_name": "default", "data_files": [{"split": "generated", "path": PARQUET}]}],
    }
    how = ", ".join(f"{key} {arm[key]}" for key in TOLD if key in arm)
    labels = sum(len(document.entities) for document in documents)
    lines = [
        f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---",
        f"# {head['pretty_name']}",
        "These texts are no originals. Words of real documents were hidden and a program wrote others in their place; what it wrote may be "
        "false. The words that were not hidden are those of the original.",
        "## How it was written",
        f"- **Arm**: `{arm['name']}` ({how}); artifact {name_of(generation)}, code {record['commit'][:12]}",
        f"- **Hidden**: {hidden['blanks']:,} of {hidden['words']:,} words ({hidden['share']:.1%}), strategy {hidden['strategy']}, "
        f"ratio {hidden['ratio']:g}, seed {hidden['seed']}",
        f"- **Documents**: {len(documents):,}, in the split `generated`",
        f"- **Labels**: those of the original, carried to the words that stand in their place: {labels:,} entities"
        + "".join(f"; {count:,} lost: {reason}" for reason, count in sorted(lost.items())),
        "- **Licence**: that of the corpus below, since most words are its own",
        "## The corpus that it was written from",
        card_markdown(origin).partition("\n")[2].strip(),
    ]
    return "\n\n".join(lines) + "\n"


def run(chosen: argparse.Namespace) -> None:
    """Write the folder; print what it holds and the entities lost, by reason."""
    documents, lost = load_generated(chosen.generation)
    try:
        card = describe_dataset(chosen.generation, documents, lost)
    except (OSError, ValueError, KeyError) as error:
        raise StudyError(
            f"{chosen.generation}: its corpus or blanks have no whole record: run the command that made it again"
        ) from error
    write_dataset(documents, card, chosen.out)
    print_counts(documents, lost)
