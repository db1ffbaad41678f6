"""Authorship problems: some known documents of an author, and one document that may be theirs."""

import datetime
from collections import Counter
from dataclasses import dataclass

import numpy as np

from blankfill.text import split_words

from ..documents import Document
from ..errors import StudyError
from .outcome import find_origin

N_KNOWN = 4
N_NEAREST = 5
UNITS = np.array([30, 10])  # days and words that make two documents equally different


@dataclass(frozen=True)
class Problem:
    """Row numbers of the known documents and of the unknown one; `author` wrote the known ones.

    `id` names a given problem; it is empty for a drawn one.
    """

    known: tuple[int, ...]
    unknown: int
    same: bool
    author: str
    id: str = ""


def draw_problems(documents: list[Document], rng: np.random.Generator) -> tuple[list[Problem], Counter]:
    """Return a same-author problem and a different-author twin for each document, and counts of what was skipped.

    Both share up to four known documents. The twin's unknown document is by another author with the
    same labels, where documents have any, drawn from the five nearest in date and length; one without a date
    comes after all that have one. A known document is never cut from the same text as the unknown one, nor equal to it. Documents without words or author are skipped.
    """
    usable = [i for i, d in enumerate(documents) if d.author and split_words(d.text)]
    skipped = Counter({"document without words or author": len(documents) - len(usable)})
    places = np.array([[find_day(d), len(split_words(d.text))] for d in documents]).reshape(-1, 2)
    problems = []
    for unknown in usable:
        known = choose_known(documents, usable, unknown, rng)
        twin = choose_twin(documents, usable, unknown, known, places, rng)
        if not known:
            skipped["no other document of the author"] += 1
        elif twin is None:
            skipped["no document of another author"] += 1
        else:
            author = documents[unknown].author
            problems += [Problem(known, unknown, True, author), Problem(known, twin, False, author)]
    return problems, +skipped


def place_problems(rows: list[dict], documents: list[Document]) -> list[Problem]:
    """Return given problems ("id", "known" and "unknown": document ids, "same") as row numbers of documents."""
    places = {document.id: row for row, document in enumerate(documents)}
    problems = []
    for row in rows:
        if absent := [id for id in (*row["known"], row["unknown"]) if id not in places]:
            problem = f"problem {row['id']}: document {absent[0]} is not in its split"
            raise StudyError(f"{problem}: remove the stored corpus (make store) and run again")
        known = tuple(places[id] for id in row["known"])
        author = documents[known[0]].author
        problems.append(Problem(known, places[row["unknown"]], row["same"], author, row["id"]))
    return problems


def choose_known(
    documents: list[Document], usable: list[int], unknown: int, rng: np.random.Generator
) -> tuple[int, ...]:
    """Return up to four other documents of the unknown one's author, in random order."""
    ours = [i for i in usable if documents[i].author == documents[unknown].author]
    candidates = [i for i in ours if not share_origin(documents[i], documents[unknown])]
    return tuple(candidates[i] for i in rng.permutation(len(candidates))[:N_KNOWN])


def choose_twin(
    documents: list[Document],
    usable: list[int],
    unknown: int,
    known: tuple[int, ...],
    places: np.ndarray,
    rng: np.random.Generator,
) -> int | None:
    """Return a document by another author with the unknown one's labels, near in `places` (n, day and words)."""
    document = documents[unknown]
    candidates = [i for i in usable if documents[i].author != document.author]
    candidates = [i for i in candidates if not any(share_origin(documents[i], documents[j]) for j in known)]
    candidates = [i for i in candidates if set(documents[i].labels) == set(document.labels)] or candidates
    if not candidates:
        return None
    apart = np.abs(places[candidates] - places[unknown]) / UNITS
    is_unknown = np.isnan(apart)
    apart[is_unknown] = 0.0 if is_unknown[:, 0].all() else np.inf
    nearest = np.argsort(apart.sum(axis=1), kind="stable")[:N_NEAREST]
    return candidates[int(rng.choice(nearest))]


def share_origin(first: Document, second: Document) -> bool:
    """Return whether two documents are windows of one text, or the same text twice."""
    return find_origin(first) == find_origin(second) or first.text == second.text


def find_day(document: Document) -> float:
    """Return the date as a day number, NaN where it is not known."""
    if not document.date:
        return np.nan
    try:
        return float(datetime.date.fromisoformat(document.date).toordinal())
    except ValueError as error:
        message = f"document {document.id}: its date is not of the form 2013-06-14; correct or delete it"
        raise StudyError(message) from error
