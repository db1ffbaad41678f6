"""Four disjoint splits, free of repeated texts."""

import math
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

import numpy as np

from blankfill.ranges import count
from blankfill.text import split_words

from ..documents import Document, hash_text
from ..errors import StudyError
from .readers.base import GivenProblem, ReaderResult
from .sources import CorpusSource

RULE = (
    "repeated texts (same letters with their marks, and digits, whatever case, punctuation and spaces) are left out first; generate, dev "
    "and test hold the first window of a document, pretrain every window of the documents left; a document's "
    "windows, and an author's documents where the corpus is split by author, never stand in two splits; where only "
    "the most frequent labels are kept, they are counted on documents of pretrain"
)

DRAWN = ("generate", "dev", "test")
# One document in so many, times `at_most`.
SHARES = {"generate": (5, 1.0), "dev": (20, 1 / 3), "test": (5, 2.0)}
ENOUGH_AUTHORS = 6  # for two in generate, two in test, one in dev and one more
Groups = list[list[Document]]
# Windows, groups left, ids of other windows of the groups drawn.
Drawn = tuple[list[Document], Groups, list[str]]
T = TypeVar("T")


@dataclass
class SplitSizes:
    """How much each split holds: documents, and for pretrain at most so many words (None: all that is left).

    Drawn documents have a first window of at least `min_drawn_words` words; each author (or origin) drawn gives
    exactly `per_group` of them. A size of None follows from the corpus; see `fit_sizes`.
    """

    generate: int | None = count(None, 1)
    dev: int | None = count(None, 1)
    test: int | None = count(None, 1)
    pretrain_words: int | None = count(None, 1)
    min_drawn_words: int = count(1, 1)
    per_group: int = count(1, 1)


@dataclass
class Sizes(SplitSizes):
    """The sizes of a corpus, of which those that follow from it are at most `at_most`."""

    at_most: int = 150

    def of(self, split: str) -> int:
        """Return the number of documents of a split that is drawn."""
        size = getattr(self, split)
        assert size is not None, f"the size of {split} was not fitted"
        return size


def drop_repeats(by_official: dict[str, list[Document]], kind: str) -> dict[str, ReaderResult]:
    """Return each part's first documents of a normalised text; later ones are dropped as a repeated `kind`."""
    seen: dict[str, str] = {}
    results = {official: ReaderResult() for official in by_official}
    for official, documents in by_official.items():
        for document in documents:
            fingerprint = hash_text(document.text)
            if fingerprint not in seen:
                seen[fingerprint] = official
                results[official].add(document)
            elif seen[fingerprint] == official:
                results[official].drop(document.id, f"repeated {kind}")
            else:
                results[official].drop(document.id, f"repeated {kind} of another official split")
    return results


def drop_shared_authors(by_official: dict[str, list[Document]]) -> dict[str, ReaderResult]:
    """Return each part's documents, but for those whose author, if they have one, an earlier part has."""
    home: dict[str, str] = {}
    results = {official: ReaderResult() for official in by_official}
    for official, documents in by_official.items():
        for document in documents:
            if not document.author or home.setdefault(document.author, official) == official:
                results[official].add(document)
            else:
                results[official].drop(document.id, f"author of {home[document.author]}")
    return results


def split(
    source: CorpusSource,
    by_official: dict[str, list[Document]],
    sizes: Sizes,
    seed: int,
    problems: Sequence[GivenProblem] = (),
) -> tuple[dict[str, list[Document]], list[dict[str, str]]]:
    """Draw the splits from the windows of each official part; return them and what was dropped.

    Where authorship `problems` are given, test is drawn by whole problems. StudyError when a split cannot be filled.
    """
    groups = {
        official: _shuffle(source, official, windows, seed) for official, windows in by_official.items()
    }
    sizes = fit_sizes(source, groups, sizes, problems)
    check_sizes(source.name, sizes)
    n_candidates = {
        official: _n_candidates(source, official, sizes, len(groups[official])) for official in by_official
    }
    if source.n_labels:
        groups = _keep_labels(source, groups, n_candidates)
    splits: dict[str, list[Document]] = {"pretrain": [], "generate": [], "dev": [], "test": []}
    left: Groups = []
    dropped: list[dict[str, str]] = []
    for official, members in groups.items():
        remaining, certain = members[: n_candidates[official]], members[n_candidates[official] :]
        for name in drawn_from(source, official):
            if name == "test" and problems:
                shuffled = _permute(problems, _make_rng(source, "problems", seed))
                drawn, remaining, left_out = draw_whole(remaining, sizes, shuffled)
            else:
                drawn, remaining, left_out = draw(remaining, sizes.of(name), sizes, bool(source.n_labels))
            splits[name] += drawn
            reason = f"rest of a document or author drawn for {name}"
            dropped += [{"id": id, "reason": reason} for id in left_out]
        if "pretrain" in source.feeds[official]:
            left += remaining + certain
        else:
            dropped += [{"id": window.id, "reason": "not drawn"} for window in chain(*remaining, *certain)]
    pretrain = within_budget(left, sizes.pretrain_words)
    splits["pretrain"] = pretrain.documents
    check_filled(source.name, splits, sizes)
    return splits, dropped + pretrain.dropped


def fit_sizes(
    source: CorpusSource, groups: dict[str, Groups], sizes: Sizes, problems: Sequence[GivenProblem] = ()
) -> Sizes:
    """Return the sizes with each that is None taken from the documents that can be drawn from its official part.

    A fifth of them for generate and for test, a twentieth for dev, all where the part feeds this split alone; no more
    than `at_most`, twice and a third of it; whole authors.
    """
    fitted, group_size = {}, sizes.per_group
    for official, members in groups.items():
        eligible = (
            sum(_may_be_drawn(window, sizes, bool(source.n_labels)) for window in group) for group in members
        )
        n_groups = sum(n >= group_size for n in eligible)
        for name in drawn_from(source, official):
            divisor, times = SHARES[name]
            if name == "test" and problems:
                n_groups = len(_list_whole(members, sizes, problems)) // group_size
            share = n_groups if source.feeds[official] == (name,) else n_groups // divisor
            # Of authors whose texts are compared, two, where there are enough: one has no text of another.
            fewest = 2 if group_size > 1 and name != "dev" and n_groups >= ENOUGH_AUTHORS else 1
            fitted[name] = group_size * max(fewest, min(share, round(times * sizes.at_most) // group_size))
    return replace(sizes, **{name: size for name, size in fitted.items() if getattr(sizes, name) is None})


def drawn_from(source: CorpusSource, official: str) -> list[str]:
    """Return the splits that are drawn from an official part, in the order of drawing."""
    return [name for name in source.feeds[official] if name in DRAWN]


def draw(groups: Groups, size: int, sizes: Sizes, needs_label: bool) -> Drawn:
    """Return up to `size` windows, `per_group` from each of the first groups that have them."""
    drawn: list[Document] = []
    remaining: Groups = []
    left_out: list[str] = []
    for windows in groups:
        eligible = [window for window in windows if _may_be_drawn(window, sizes, needs_label)]
        if len(drawn) == size or len(eligible) < sizes.per_group:
            remaining.append(windows)
            continue
        chosen = eligible[: sizes.per_group]
        drawn += chosen
        left_out += [window.id for window in windows if window not in chosen]
    return drawn, remaining, left_out


def draw_whole(groups: Groups, sizes: Sizes, problems: Sequence[GivenProblem]) -> Drawn:
    """Return what `draw` does: the windows of whole problems, until test holds as many as were asked for."""
    chosen = _list_whole(groups, sizes, problems, sizes.of("test"))
    remaining, left_out = [], []
    for group in groups:
        if any(window.origin_id in chosen for window in group):
            left_out += [window.id for window in group if chosen.get(window.origin_id) is not window]
        else:
            remaining.append(group)
    return list(chosen.values()), remaining, left_out


def _list_whole(
    groups: Groups, sizes: Sizes, problems: Sequence[GivenProblem], most: float = math.inf
) -> dict[str, Document]:
    """Return the windows of problems that are whole in the groups, until there are `most`, by their document."""
    windows = {
        window.origin_id: window
        for window in chain.from_iterable(groups)
        if _may_be_drawn(window, sizes, needs_label=False)
    }
    chosen: dict[str, Document] = {}
    for problem in problems:
        ids = (*problem.known, problem.unknown)
        if len(chosen) < most and all(id in windows for id in ids):
            chosen |= {id: windows[id] for id in ids}
    return chosen


def within_budget(groups: Groups, n_words: int | None) -> ReaderResult:
    """Return the windows of the groups, in order, up to a budget of words; all of them if it is None."""
    result, spent = ReaderResult(), 0
    for window in chain.from_iterable(groups):
        spent += len(split_words(window.text))
        if n_words is None or spent <= n_words:
            result.add(window)
        else:
            result.drop(window.id, "beyond the words asked for in pretrain")
    return result


def check_sizes(name: str, sizes: Sizes) -> None:
    """Raise StudyError for sizes that cannot be drawn."""
    for split in DRAWN:
        size, multiple = sizes.of(split), f"a positive multiple of {sizes.per_group}"
        if size < 1 or size % sizes.per_group:
            raise StudyError(f"{name}: size {size} of {split} must be {multiple}: change it")


def check_filled(name: str, splits: dict[str, list[Document]], sizes: Sizes) -> None:
    """Raise StudyError if a split holds fewer documents than asked for, or pretrain none."""
    for split in DRAWN:
        size, n_documents = sizes.of(split), len(splits[split])
        if n_documents < size:
            counts = f"asked for {size} documents in {split}, found {n_documents} of {sizes.min_drawn_words} words or more"
            raise StudyError(f"{name}: {counts}: lower the size or min_drawn_words, or give more text")
    if not splits["pretrain"]:
        raise StudyError(f"{name}: no document is left for pretrain: lower the sizes or give more text")


def _shuffle(source: CorpusSource, official: str, windows: list[Document], seed: int) -> Groups:
    """Return the windows by origin or author; both these and each author's origins are in an order of the seed."""
    rng = _make_rng(source, official, seed)
    origins = _permute(_group(windows, "origin_id"), rng)
    key = "author" if source.group_by == "author" else "origin_id"
    return _permute(_group(chain.from_iterable(origins), key), rng)


def _make_rng(source: CorpusSource, name: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(f"{source.name}/{name}".encode())])


def _permute(items: Sequence[T], rng: np.random.Generator) -> list[T]:
    return [items[index] for index in rng.permutation(len(items))]


def _group(windows: Iterable[Document], key: str) -> Groups:
    """Return the windows by author or origin_id; a document without an author is a group of its own."""
    groups = defaultdict(list)
    for window in windows:
        groups[getattr(window, key) or (window.origin_id,)].append(window)
    return list(groups.values())


def _n_candidates(source: CorpusSource, official: str, sizes: Sizes, n_groups: int) -> int:
    """Return how many of a part's groups may be drawn: all, or twice as many as needed where labels are counted on
    the others, which are then certain to be in pretrain."""
    needed = sum(sizes.of(name) for name in drawn_from(source, official)) // sizes.per_group
    counts_here = source.n_labels and "pretrain" in source.feeds[official]
    return min(2 * needed, n_groups) if counts_here else n_groups


def _keep_labels(source: CorpusSource, groups: dict[str, Groups], n_drawn: dict) -> dict[str, Groups]:
    """Remove all labels but the most frequent (ties by name) of those groups that are certain to be in pretrain."""
    certain = chain.from_iterable(members[n_drawn[official] :] for official, members in groups.items())
    labels = {window.origin_id: window.labels for window in chain.from_iterable(certain)}
    counts = Counter(chain.from_iterable(labels.values()))
    frequent = sorted(counts, key=lambda label: (-counts[label], label))[: source.n_labels]
    return {
        official: [
            [replace(w, labels=tuple(x for x in w.labels if x in frequent)) for w in group]
            for group in members
        ]
        for official, members in groups.items()
    }


def _may_be_drawn(window: Document, sizes: Sizes, needs_label: bool) -> bool:
    is_first = window.id == f"{window.origin_id}-0"
    is_labelled = bool(window.labels) or not needs_label
    return is_first and is_labelled and len(split_words(window.text)) >= sizes.min_drawn_words
