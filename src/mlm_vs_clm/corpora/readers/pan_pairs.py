"""PAN's authorship verification of 2020 to 2023: a pair of texts a line, and the truth in a file beside it."""

import re
from pathlib import Path, PurePosixPath
from typing import Any

from ...documents import Document
from ...errors import StudyError
from .base import GivenProblem, OnMistake, ReaderResult, check_id, raise_mistake
from .cells import text_of
from .files import Files, reading
from .given_problems import Texts, name_authors
from .jsonl import parse
from .official import ORDER, part_of_path

RULE = (
    "authors are those of the truth where it names them, else they follow from its answers; a text that stands in "
    "several pairs is one document, of test where it stands in both; labels are the fandom or the discourse type"
)
PairKey = tuple[str, str]  # split, id
KINDS = ("fandoms", "discourse_types")


def read(path: Path, on_mistake: OnMistake = raise_mistake) -> ReaderResult:
    """Read a folder (or zip) of pairs.jsonl with truth.jsonl, or of <name>.jsonl with <name>-truth.jsonl.

    Files or folders whose names say training or test are official splits. Pairs without truth and lines that do
    not parse are mistakes; the truth about absent pairs is counted.
    """
    result = ReaderResult(on_mistake=on_mistake)
    with reading(path, result) as files:
        names = [name for name in files.ending(".jsonl") if "answers" not in PurePosixPath(name).name]
        truths = {_stem(name): name for name in names if _is_truth(name)}
        pairs = [name for name in names if not _is_truth(name)]
        if not pairs:
            raise StudyError(f"{path} holds no pairs.jsonl: give a folder of pairs.jsonl and truth.jsonl")
        texts, met = Texts(result), set[PairKey]()
        for name in sorted(pairs, key=lambda name: ORDER.index(part_of_path(name))):
            result.attempt(_read_pairs, files, name, truths.get(_stem(name)), met, texts)
        name_authors(result)
    return result


def _read_pairs(files: Files, name: str, truth: str | None, met: set[PairKey], texts: Texts) -> None:
    if truth is None:
        raise StudyError(f"{files.where(name)}: its truth.jsonl is missing: put it beside this file")
    result = texts.result
    answers: dict[str, dict] = {}
    for number, line in files.lines(truth):
        result.attempt(_keep_answer, line, files.where(truth, number), answers)
    official = part_of_path(name)
    for number, line in files.lines(name):
        result.attempt(_read_pair, line, files.where(name, number), answers, met, official, texts)
    absent = answers.keys() - {id for of, id in met if of == official}
    result.counted["answers to absent problems (not used)"] += len(absent)


def _keep_answer(line: str, where: str, answers: dict[str, dict]) -> None:
    row = parse(line, where)
    authors = row.get("authors") or ["", ""]
    is_pair = isinstance(authors, list) and len(authors) == 2
    if not isinstance(row.get("id"), str) or not isinstance(row.get("same"), bool) or not is_pair:
        raise StudyError(f'{where}: not of the shape {{"id", "same", "authors"?: [2]}}: correct the line')
    check_id(row["id"], where)
    answer = {"same": row["same"], "authors": [text_of(author, "author", where) for author in authors]}
    if all(answer["authors"]) and (answer["authors"][0] == answer["authors"][1]) != answer["same"]:
        raise StudyError(f"{where}: its answer (same) contradicts its authors: correct one of them")
    if answers.setdefault(row["id"], answer) != answer:
        raise StudyError(f"{where}: a second answer to the pair {row['id']}: remove one")


def _read_pair(
    line: str, where: str, answers: dict[str, dict], met: set[PairKey], official: str, texts: Texts
) -> None:
    row = parse(line, where)
    id, pair = row.get("id"), row.get("pair")
    if not isinstance(id, str) or not isinstance(pair, list) or [type(text) for text in pair] != [str, str]:
        raise StudyError(f'{where}: not of the shape {{"id", "pair": [2 texts]}}: correct the line')
    check_id(id, where)
    if (official, id) in met:
        raise StudyError(f"{where}: the id {id} is used twice: make ids unique")
    met.add((official, id))
    if id not in answers:
        raise StudyError(f"{where}: the truth has no line for this pair: add it or remove the pair")
    kinds: Any = next((row[kind] for kind in KINDS if row.get(kind) is not None), [])
    if not isinstance(kinds, list) or len(kinds) not in (0, 2):
        raise StudyError(f"{where}: its fandoms or discourse types are not a list of two: correct the line")
    document_ids = []
    for place, text in enumerate(pair):
        stem = f"{id}-{'ab'[place]}"
        labels = tuple(filter(None, (text_of(kind, "labels", where) for kind in kinds[place : place + 1])))
        document = Document(stem, text, labels=labels, author=answers[id]["authors"][place])
        document_ids.append(texts.add(document, official, where))
    texts.result.problems.append(GivenProblem(id, (document_ids[0],), document_ids[1], answers[id]["same"]))


def _is_truth(name: str) -> bool:
    return "truth" in PurePosixPath(name).name


def _stem(name: str) -> str:
    """Return what a file of pairs and its truth have in common."""
    path = PurePosixPath(name)
    steps = re.split(r"[-_.]?(?:pairs|truth)[-_.]?", path.stem)
    return str(path.with_name("-" + "-".join(filter(None, steps))))
