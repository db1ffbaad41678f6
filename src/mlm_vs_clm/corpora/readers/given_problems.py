"""Predefined authorship problems: authors are inferred from them, and they are sampled as units."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ...documents import Document, hash_text
from .base import GivenProblem, ReaderResult

RULE = (
    "where a corpus gives authorship problems, test holds the documents of whole problems, at least as many documents "
    "as asked for; a text that stands in several problems is one document, and a problem is kept if all its "
    "documents are in one split; the first window of a text stands for it, and a problem with a window that is too short is not asked"
)


@dataclass
class Texts:
    """The documents of a corpus of problems, each text once, whichever problems it is in."""

    result: ReaderResult
    ids: dict[str, str] = field(default_factory=dict)

    def add(self, document: Document, official: str, where: str) -> str:
        """Keep a document if its text is new; return the id of the document with its text."""
        fingerprint = hash_text(document.text)
        stored_id = self.ids.get(fingerprint)
        if stored_id is None:
            self.ids[fingerprint] = self.result.add(document, official, where)
            return self.ids[fingerprint]
        is_other = self.result.parts.get(stored_id, "") != official
        reason = "repeated document of another official split" if is_other else "repeated document"
        self.result.drop(document.id, reason)
        return stored_id


def name_authors(result: ReaderResult) -> None:
    """Give each document without author one that is inferred from the problems, by the name that a text of the author has.

    Known documents of a problem share their author, and the unknown one has it if and only if the truth is yes; a
    document in two problems joins their authors. A problem that contradicts what others imply is left out.
    """
    author = {document.id: document.id for document in result.documents}
    _keep(result, lambda p: author.keys() >= {*p.known, p.unknown}, "problem with an empty document")

    def find(id: str) -> str:
        while author[id] != id:
            author[id] = author[author[id]]
            id = author[id]
        return id

    for problem in result.problems:
        for id in (*problem.known[1:], *([problem.unknown] if problem.same else [])):
            author[find(id)] = find(problem.known[0])
    named = {find(document.id): document.author for document in result.documents if document.author}
    names = {document.id: named.get(find(document.id), find(document.id)) for document in result.documents}
    result.documents = [replace(d, author=d.author or names[d.id]) for d in result.documents]
    agrees = lambda p: p.same or find(p.known[0]) != find(p.unknown)  # noqa: E731
    _keep(result, agrees, "problem whose truth contradicts other problems")


def _keep(result: ReaderResult, fits: Callable[[GivenProblem], bool], reason: str) -> None:
    """Leave out the problems that do not fit, and record why."""
    for problem in result.problems:
        if not fits(problem):
            result.drop(problem.id, reason)
    result.problems = [problem for problem in result.problems if fits(problem)]


def list_complete(problems: Sequence[GivenProblem], splits: dict[str, list[Document]]) -> list[dict]:
    """Return a row for each problem whose documents' first windows all stand in one split, by their ids there."""
    rows = []
    for split, windows in splits.items():
        ids = {window.id for window in windows}
        for problem in problems:
            known_ids, unknown = [f"{id}-0" for id in problem.known], f"{problem.unknown}-0"
            if ids.issuperset([*known_ids, unknown]):
                row = {"split": split, "id": problem.id, "known": known_ids, "unknown": unknown}
                rows.append(row | {"same": problem.same})
    return rows
