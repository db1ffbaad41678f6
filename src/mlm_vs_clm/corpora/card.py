"""The data card of a corpus: what it holds, what was left out, and what it is not."""

from collections import Counter
from collections.abc import Iterable
from statistics import median_low

from blankfill.text import split_words

from ..documents import Document
from .language import describe_language, language_lines
from .sources import CorpusSource

COLUMNS = ("documents", "sources", "authors", "words", "words_median", "entities", "labels")


def describe(
    source: CorpusSource,
    splits: dict[str, list[Document]],
    dropped: list[dict[str, str]],
    rules: dict[str, str],
    files: list[str],
    counted: dict[str, int],
) -> dict:
    """Return the card as plain values; `files` are the names of what was read, `counted` what else they held."""
    card = {
        "name": source.name,
        "origin": source.origin,
        "files": files,
        "licence": source.licence,
        "differs_from_the_paper": source.differs,
        "rules": rules,
        "language": describe_language(
            document.text for documents in splits.values() for document in documents
        ),
        "splits": {split: count(documents) for split, documents in splits.items()},
        "entities": {s: _tally(e.type for d in docs for e in d.entities) for s, docs in splits.items()},
        "labels": {s: _tally(label for d in docs for label in d.labels) for s, docs in splits.items()},
        "dropped": _tally(row["reason"] for row in dropped),
    }
    return card | ({"counted": dict(sorted(counted.items()))} if counted else {})


def count(documents: list[Document]) -> dict[str, int]:
    """Return one split's counts; `words_median` is the median length of a document (the lower one of two)."""
    lengths = [len(split_words(document.text)) for document in documents]
    return {
        "documents": len(documents),
        "sources": len({document.origin_id for document in documents}),
        "authors": len({document.author for document in documents if document.author}),
        "words": sum(lengths),
        "words_median": median_low(lengths or [0]),
        "entities": sum(len(document.entities) for document in documents),
        "labels": sum(len(document.labels) for document in documents),
    }


def card_markdown(card: dict) -> str:
    """Return a card as Markdown."""
    lines = [f"## {card['name']}", ""]
    lines += [f"- **Origin**: {card['origin']} ({', '.join(card['files'])})"]
    lines += [f"- **Licence**: {card['licence']}"]
    lines += [f"- **How it differs from the paper's**: {card['differs_from_the_paper']}"]
    lines += [f"- **Rule, {name}**: {rule}" for name, rule in card["rules"].items()]
    lines += language_lines(card["language"]) if "language" in card else []  # older cards say nothing
    heads = ["split", *(column.replace("_", ", ") for column in COLUMNS)]
    rows = [[split, *(counts[column] for column in COLUMNS)] for split, counts in card["splits"].items()]
    lines += ["", *_table(heads, rows)]
    for kind in ("entities", "labels"):
        names = list(dict.fromkeys(name for counts in card[kind].values() for name in counts))
        if names:
            rows = [[name, *(counts.get(name, 0) for counts in card[kind].values())] for name in names]
            lines += ["", *_table([kind, *card[kind]], rows)]
    lines += ["", *_table(["dropped, and why", "count"], list(card["dropped"].items()))]
    if card.get("counted"):
        lines += ["", *_table(["other counts", "count"], list(card["counted"].items()))]
    return "\n".join(lines) + "\n"


def _table(heads: list[str], rows: list) -> list[str]:
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1)]
    lines += [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows]
    return [f"| {' | '.join(map(_escape, cells))} |" for cells in lines]


def _escape(cell: str) -> str:
    """Return a cell that ends neither itself nor its row."""
    return cell.replace("|", "\\|").replace("\n", " ")


def _tally(names: Iterable[str]) -> dict[str, int]:
    """Return how often each name occurs, the most frequent first."""
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))
