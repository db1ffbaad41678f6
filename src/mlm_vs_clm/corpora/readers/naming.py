"""Ids for documents that are files or folders."""

from collections import Counter

from ...errors import StudyError


def name_documents(paths: list[str]) -> dict[str, str]:
    """Return an id for each path without ending: its last step, or all steps joined by _ where last steps repeat.

    Raises StudyError where even these are not unique.
    """
    last = Counter(path.rpartition("/")[2] for path in paths)
    are_unique = all(count == 1 for count in last.values())
    ids = {path: path.rpartition("/")[2] if are_unique else path.replace("/", "_") for path in paths}
    if len(set(ids.values())) < len(paths):
        raise StudyError(
            "two files would get the same id, as their paths differ in / and _ alone: rename one"
        )
    return ids
