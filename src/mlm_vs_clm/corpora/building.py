"""A corpus made of files: read, cut, freed of repeats, split and described; or a user's own checked without storing it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..documents import Document
from ..errors import StudyError
from .card import card_markdown, describe
from .readers import READERS, infer
from .readers.base import GivenProblem, OnMistake, ReaderResult, raise_mistake
from .readers.files import fingerprint
from .readers.given_problems import RULE as PROBLEMS_RULE
from .readers.given_problems import list_complete
from .readers.hub import HUB
from .readers.official import RULE as OFFICIAL_RULE
from .readers.official import feeds_of, separate_ids, split_by_part
from .sources import ANYWHERE, LICENSED, SOURCES, CorpusSource
from .splits import RULE as SPLITS_RULE
from .splits import Sizes, drop_repeats, drop_shared_authors, split
from .storage import Corpus, encode
from .windows import RULE as WINDOWS_RULE
from .windows import Cutting, cut

Results = dict[str, ReaderResult]  # by official part
N_NOTED = 200  # windows of each part that a check's note reads


@dataclass(frozen=True)
class Gathered:
    """The windows of each official part, what was left out, and what else the files hold; `source` says
    which splits the parts feed."""

    source: CorpusSource
    parts: dict[str, list[Document]]
    dropped: list[dict[str, str]]
    problems: list[GivenProblem]
    counted: Counter
    rules: dict[str, str]

    @property
    def windows(self) -> list[Document]:
        """Return the windows of all parts."""
        return [window for of_official in self.parts.values() for window in of_official]


def build(
    source: CorpusSource,
    files: dict[str, Path],
    sizes: Sizes,
    cutting: Cutting,
    skip_mistakes: bool = False,
) -> Corpus:
    """Read a source's files (official part -> path), cut windows, split.

    The same files and settings give the same corpus. Raises StudyError for a mistake in a file, unless they
    are to be skipped (and counted), and when the files hold fewer documents than asked for.
    """
    mistakes: list[StudyError] = []
    on_mistake = mistakes.append if skip_mistakes else raise_mistake
    gathered = gather(source, files, cutting, on_mistake)
    places = (str(mistake).partition(": ")[0] for mistake in mistakes)
    gathered.dropped.extend({"id": place, "reason": "mistake in the input"} for place in places)
    return arrange(gathered, files, sizes, cutting.seed)


def check_own(
    source: CorpusSource,
    path: Path,
    sizes: Sizes,
    cutting: Cutting,
    task: str,
    note: Callable[[list[str]], str],
) -> tuple[str, list[str], bool]:
    """Return a corpus's data card as Markdown ("" if it cannot be read), and every mistake found, without its text.

    The third value says whether nothing is wrong but with single documents, so that the corpus is sound without these.
    `note(texts)` may say more of the language of the first windows: a line of the card, or "".
    """
    mistakes: list[StudyError] = []
    files = {"": path}
    try:
        gathered = gather(source, files, cutting, mistakes.append)
    except StudyError as mistake:
        return "", [str(error) for error in (*mistakes, mistake)], False
    n_of_documents = len(mistakes)
    mistakes += _missing_for(task, gathered.windows)
    try:
        corpus = arrange(gathered, files, sizes, cutting.seed)
        encode(corpus)  # all that a run does before it writes
        card = corpus.card
    except StudyError as mistake:
        mistakes.append(mistake)
        by_official = {official or "all": windows for official, windows in gathered.parts.items()}
        card = describe(source, by_official, gathered.dropped, gathered.rules, [path.name], +gathered.counted)
    windows = [window.text for of_official in gathered.parts.values() for window in of_official[:N_NOTED]]
    card["language"]["note"] = note(windows)
    paragraphs = [card_markdown(card), *_list_without_room(task, gathered.windows)]
    return "\n".join(paragraphs), [str(mistake) for mistake in mistakes], n_of_documents == len(mistakes)


def _missing_for(task: str, windows: list[Document]) -> list[StudyError]:
    """Return a mistake if no document has what the task learns from; texts without labels are compared all the same."""
    authors = Counter(window.author for window in windows if window.author)
    if task == "ner" and not any(window.entities for window in windows):
        problem, needed = "no document has entities", "entities"
    elif task == "verification" and max(authors.values(), default=0) < 2:
        problem, needed = "no author has two documents", "authors"
    else:
        return []
    return [StudyError(f"corpus.task={task}: {problem}: choose another task or give {needed}")]


def _list_without_room(task: str, windows: list[Document]) -> list[str]:
    """Return a note where all documents have the same answer to the task: every score would be its bound."""
    answers_of: dict[str, tuple[str, set]] = {
        "genres": ("labels", {frozenset(window.labels) for window in windows}),
        "verification": ("author", {window.author for window in windows}),
    }
    kind, answers = answers_of.get(task, ("", set()))
    if task == "genres" and not any(answers):
        return ["note: no document has labels: the texts are compared, and no task model is trained"]
    if len(answers) != 1 or not any(answers):
        return []
    return [f"note: corpus.task={task}: all documents have the same {kind}, so the task measures nothing"]


def arrange(gathered: Gathered, files: dict[str, Path], sizes: Sizes, seed: int) -> Corpus:
    """Return the four splits of what was gathered, and their card; StudyError where a split cannot be filled."""
    splits, not_drawn = split(gathered.source, gathered.parts, sizes, seed, gathered.problems)
    dropped = gathered.dropped + not_drawn
    problems = list_complete(gathered.problems, splits)
    counted = +gathered.counted
    if gathered.problems:
        counted["problems given"] = len(gathered.problems)
        counted.update(f"problems whole in {problem['split']}" for problem in problems)
    names = [path.name for path in files.values()]
    card = describe(gathered.source, splits, dropped, gathered.rules, names, counted)
    return Corpus(splits, dropped, card, problems)


def gather(
    source: CorpusSource,
    files: dict[str, Path],
    cutting: Cutting,
    on_mistake: OnMistake = raise_mistake,
) -> Gathered:
    """Return each official part's windows, no text twice in all parts together, and what was dropped."""
    sizes = f"{cutting.min_words} to {cutting.max_words} words"
    if not 1 <= cutting.min_words <= cutting.max_words:
        raise StudyError(f"{source.name}: windows of {sizes} cannot be cut")
    read = find_reader(source)
    as_read = results = {official: read(path, on_mistake) for official, path in files.items()}
    if not any(result.documents for result in results.values()):
        paths = ", ".join(map(str, files.values()))
        raise StudyError(f"{paths}: no document with text could be read: give a path that holds some")
    if len(results) > 1:
        separate_ids(results)
    problems = [problem for result in results.values() for problem in result.problems]
    rules = {"reading": READERS[source.reader].rule, "windows": f"{WINDOWS_RULE}; {sizes}"}
    rules |= {"splits": SPLITS_RULE}
    rules |= {"problems": PROBLEMS_RULE} if problems else {}
    if "" in results:
        results = split_by_part(results[""])
        if source.feeds == ANYWHERE:
            feeds = feeds_of(results)
            rules |= {"official splits": OFFICIAL_RULE} if feeds else {}
            source = replace(source, feeds=feeds or source.feeds)
    # After the parts are known, as documents beside one named split are counted with them.
    counted = sum((result.counted for result in as_read.values()), Counter())
    steps = cut_once(results, source.group_by == "author", cutting)
    dropped = [row for step in steps for result in step.values() for row in result.dropped]
    return Gathered(source, _documents(steps[-1]), dropped, problems, counted, rules)


def find_reader(source: CorpusSource) -> Callable[..., ReaderResult]:
    """Return the function that reads a source, which takes a path and what to do at a mistake."""
    if source.reader not in READERS:
        raise StudyError(f"corpus.reader={source.reader} is unknown: choose one of {', '.join(READERS)}")
    reader = READERS[source.reader]
    if not source.columns:
        return reader.read
    if not reader.takes_columns:
        names = ", ".join(name for name, kind in READERS.items() if kind.takes_columns)
        raise StudyError(f"corpus.columns is for {names}, not {source.reader}: leave it out")
    if "entities" in source.columns and not reader.takes_entities:
        names = ", ".join(name for name, kind in READERS.items() if kind.takes_entities)
        raise StudyError(f"corpus.columns.entities is for {names}, not {source.reader}: leave it out")
    return partial(reader.read, columns=source.columns)


def cut_once(read: Results, by_author: bool, cutting: Cutting) -> list[Results]:
    """Return what is left after each step: as read, each text once, (each author in one part), cut, each window once."""
    steps = [read, drop_repeats(_documents(read), "document")]
    if by_author and len(read) > 1:
        steps.append(drop_shared_authors(_documents(steps[-1])))
    steps.append({official: cut(texts, cutting) for official, texts in _documents(steps[-1]).items()})
    steps.append(drop_repeats(_documents(steps[-1]), "window"))
    return steps


def _documents(results: Results) -> dict[str, list[Document]]:
    return {official: result.documents for official, result in results.items()}


def name_own(name: str, path: str | None, reader: str | None, columns: dict[str, str], task: str) -> dict:
    """Return the settings that name a user's corpus: path, content (sha256), reader, columns and what is kept together.

    Raises StudyError for a path that is missing, outside of what can be read, or given to another corpus.
    """
    if name in SOURCES:
        raise StudyError(f"corpus={name} comes from a package: add corpus=own to read corpus.path={path}")
    if not path:
        raise StudyError(f"corpus {name} has no source: give corpus.path=<a file or folder of documents>")
    is_hub = bool(HUB.fullmatch(path)) and not Path(path).exists()
    if not is_hub and not Path(path).exists():
        raise StudyError(f"corpus.path={path} is missing: {_where_from(name)}")
    # A pipe can be read once, and not hashed.
    if not is_hub and not (Path(path).is_file() or Path(path).is_dir()):
        raise StudyError(f"corpus.path={path} is no file or folder: save the documents in a file")
    reader = reader or infer(path)
    if reader == "datasets" and not is_hub and not Path(path).is_dir():
        raise StudyError(f"corpus.path={path} is not a datasets folder (save_to_disk): correct it")
    group_by = "author" if task == "verification" else "source"
    settings: dict = {"path": path, "sha256": "" if is_hub else fingerprint(Path(path)), "reader": reader}
    settings |= {"group_by": group_by} | ({"columns": columns} if columns else {})
    find_reader(own_source(name, settings))
    return settings


def _where_from(name: str) -> str:
    if name not in LICENSED:
        return "correct the path"
    return f"ask {LICENSED[name].giver}, and put it there or give corpus.path=<where it is>"


def own_source(name: str, settings: dict) -> CorpusSource:
    """Return the source of the settings that `name_own` returns."""
    source = LICENSED.get(name, CorpusSource(name, settings["reader"]))
    columns = settings.get("columns", {})
    return replace(source, reader=settings["reader"], group_by=settings["group_by"], columns=columns)
