"""PAN's authorship verification of 2013 to 2015: a folder a problem, known01.txt to known05.txt and unknown.txt."""

import re
from pathlib import Path, PurePosixPath

from ...documents import Document
from ...errors import StudyError
from .base import GivenProblem, OnMistake, ReaderResult, name_documents, parse_json, raise_mistake
from .files import Files, reading
from .given_problems import Texts, name_authors
from .official import ORDER, part_of_path

RULE = (
    "known documents of a problem share an author, and the unknown one has it if and only if truth.txt says Y; a text "
    "that stands in several problems is one document, of test where it stands in both; line ends become line feeds; "
    "labels are the language and genre of contents.json"
)
TRUTH, UNKNOWN, CONTENTS = "truth.txt", "unknown.txt", "contents.json"
KNOWN = re.compile(r"known\d+\.txt")
ANSWER = re.compile(r"(\S+)\s+([YN])")
Answers = dict[str, bool]


def read(path: Path, on_mistake: OnMistake = raise_mistake) -> ReaderResult:
    """Read a corpus, or a folder (or zip) of them; corpora whose folder's name says training or test are official.

    A problem without truth or known documents, and a bad line in truth.txt, are mistakes. Answers to absent
    problems are counted.
    """
    result = ReaderResult(on_mistake=on_mistake)
    with reading(path, result) as files:
        folders = [_folder(name) for name in files.names if _file(name) == UNKNOWN]
        if not folders:
            raise StudyError(f"{path} holds no {UNKNOWN}: give a folder of PAN's problem folders")
        named = {
            file_name: [name for name in files.names if _file(name) == file_name]
            for file_name in (TRUTH, CONTENTS)
        }
        answers = {_folder(name): _read_truth(files, name, result) for name in named[TRUTH]}
        labels = {_folder(name): result.attempt(_read_labels, files, name) or () for name in named[CONTENTS]}
        ids, texts = name_documents(folders), Texts(result)
        for folder in sorted(folders, key=lambda folder: ORDER.index(part_of_path(folder))):
            above = next((str(step) for step in PurePosixPath(folder).parents if str(step) in answers), "")
            problem = (files, folder, ids[folder], answers.get(above, {}), labels.get(above, ()))
            result.attempt(_read_problem, *problem, texts)
        present = {_file(folder) for folder in folders}
        absent = sum(id not in present for of_folder in answers.values() for id in of_folder)
        result.counted["answers to absent problems (not used)"] += absent
        name_authors(result)
    return result


def _read_problem(
    files: Files, folder: str, id: str, answers: Answers, labels: tuple[str, ...], texts: Texts
) -> None:
    """Add a problem and those of its documents that are not there yet."""
    inside = f"{folder}/".removeprefix("./")
    names = [name for name in files.names if _folder(name) == folder and KNOWN.fullmatch(_file(name))]
    if _file(folder) not in answers:
        raise StudyError(f"{files.where(folder)}: truth.txt does not answer this problem: add a line, Y or N")
    if not names:
        raise StudyError(f"{files.where(folder)}: no known01.txt: add the known documents")
    official = part_of_path(folder)
    documents = []
    for name in [*names, inside + UNKNOWN]:
        stem = f"{id}-{_file(name).removesuffix('.txt')}"
        documents.append(Document(stem, files.read_plain(name), labels=labels))
    document_ids = [texts.add(document, official, files.where(folder)) for document in documents]
    texts.result.problems.append(
        GivenProblem(id, tuple(document_ids[:-1]), document_ids[-1], answers[_file(folder)])
    )


def _read_truth(files: Files, name: str, result: ReaderResult) -> Answers:
    """Return the answer to each problem of a truth.txt: blank lines are skipped, an answer that changes is a mistake."""
    answers: Answers = {}
    for number, line in files.lines(name):
        result.attempt(_keep_answer, line, files.where(name, number), answers)
    return answers


def _keep_answer(line: str, where: str, answers: Answers) -> None:
    match = ANSWER.fullmatch(line.strip())
    if not match:
        raise StudyError(f"{where}: not a problem's name and Y or N: correct the line")
    if answers.setdefault(match[1], match[2] == "Y") != (match[2] == "Y"):
        raise StudyError(f"{where}: a second answer to the problem {match[1]}: remove one")


def _read_labels(files: Files, name: str) -> tuple[str, ...]:
    """Return language and genre of a contents.json, those that it has."""
    where = files.where(name)
    contents = parse_json(files.read_plain(name), where)
    if not isinstance(contents, dict):
        raise StudyError(f"{where}: not a JSON object: correct the file")
    labels = [contents[key] for key in ("language", "genre") if contents.get(key)]
    if not all(isinstance(label, str) for label in labels):
        raise StudyError(f"{where}: its language or genre is not a string: correct the file")
    return tuple(labels)


def _folder(name: str) -> str:
    return str(PurePosixPath(name).parent)


def _file(name: str) -> str:
    return PurePosixPath(name).name
