"""A corpus's files, in a folder, a zip or alone: read by name, and never from outside."""

import gzip
import lzma
import os
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from typing import NoReturn

from ...errors import StudyError
from ...files import hash_lines, hash_of, list_hashes
from .base import ReaderResult, read_bytes, refuse_nul

UNREAD = "files that this format does not use (not read)"


class Files(AbstractContextManager["Files"]):
    """The files below a folder or in a zip, or one file; hidden ones do not count.

    `names` are relative, with slashes, sorted. A zip is open until the end of a `with` block. Raises StudyError for a
    path that is missing, for a link or a zip member that leads out of it, and for a name that is used twice in a zip or
    is not UTF-8.
    """

    def __init__(self, path: Path):
        self.path, self.opened = path, set[str]()
        self.zip = _open_zip(path) if zipfile.is_zipfile(path) else None
        try:
            self.names = sorted(_zip_names(self.zip, path) if self.zip else _names(path))
            _check_names(self.names, path)
        except StudyError:
            self.close()
            raise

    def __exit__(self, *error: object) -> None:
        """Close the zip."""
        self.close()

    def close(self) -> None:
        """Close the zip, if these files are in one; their names stay."""
        if self.zip:
            self.zip.close()

    def where(self, name: str, line: int = 0) -> str:
        """Return how a mistake names a file, and a line of it."""
        place = str(self.path) if self.path.name == name and self.path.is_file() else f"{self.path}/{name}"
        return f"{place}, line {line}" if line else place

    def ending(self, *suffixes: str) -> list[str]:
        """Return the names that end in one of the suffixes, in whatever case."""
        return [name for name in self.names if name.lower().endswith(suffixes)]

    def only(self, *suffixes: str) -> str:
        """Return the name of the single file, or of the single one with one of the suffixes; StudyError for any other number."""
        names = self.ending(*suffixes) if suffixes and len(self.names) > 1 else self.names
        if len(names) != 1:
            kind = " ".join([*suffixes[:1], "files"])
            raise StudyError(f"{self.path} holds {len(names)} {kind}: give the path of one")
        return names[0]

    def read_text(self, name: str) -> str:
        """Return a file's text as it stands, byte-order mark and line ends too; StudyError if it is not UTF-8 or holds NUL."""
        try:
            return refuse_nul(self._read_bytes(name).decode("utf-8"), self.where(name))
        except UnicodeDecodeError as error:
            raise StudyError(f"{self.where(name)}: not UTF-8 at byte {error.start}: convert it") from None

    def read_plain(self, name: str) -> str:
        """Return a file's text without byte-order mark, each line end a line feed."""
        return plain(self.read_text(name))

    def lines(self, name: str) -> Iterator[tuple[int, str]]:
        """Yield (number, line) of the lines that are not blank."""
        for number, line in enumerate(self.read_plain(name).split("\n"), start=1):
            if line.strip():
                yield number, line

    def _read_bytes(self, name: str) -> bytes:
        self.opened.add(name)
        if self.zip is None:
            return read_bytes(self.path / name if self.path.is_dir() else self.path)
        try:
            content = self.zip.read(name)
            return gzip.decompress(content) if name.endswith(".gz") else content
        except (
            RuntimeError,
            zipfile.BadZipFile,
            NotImplementedError,
            zlib.error,
            lzma.LZMAError,
            EOFError,
            OSError,
        ):
            raise StudyError(f"{self.where(name)}: locked or damaged in the zip: unpack it") from None


@contextmanager
def reading(path: Path, result: ReaderResult) -> Iterator[Files]:
    """Open the files of a corpus for a block; those that it did not read are counted in the result."""
    with Files(path) as files:
        yield files
        if unread := len({*files.names} - files.opened):
            result.counted[UNREAD] += unread


def plain(text: str) -> str:
    """Return a text without byte-order mark, each line end a line feed."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def is_hidden(name: str) -> bool:
    """Return whether a file is a system's own and not the corpus's (.DS_Store, __MACOSX)."""
    return any(step.startswith(".") or step == "__MACOSX" for step in PurePosixPath(name).parts)


def fingerprint(path: Path) -> str:
    """Return the sha256 of a file, or of a folder as one number over its files' names and contents."""
    return hash_lines(list_hashes(path, Files(path).names)) if path.is_dir() else hash_of(path)


def _names(path: Path) -> Iterator[str]:
    if path.is_file():
        yield path.name
        return
    if not path.is_dir():
        raise StudyError(f"{path} is missing: correct corpus.path")
    root = path.resolve()
    for folder, folders, names in os.walk(path, onerror=_refuse_locked):
        for file in (Path(folder, step) for step in (*folders, *names)):
            name = file.relative_to(path).as_posix()
            if is_hidden(name):
                continue
            try:
                target = file.resolve(strict=True)
            except (OSError, RuntimeError):  # a link to nothing, or to itself
                raise StudyError(
                    f"{path}/{name} leads to nothing that can be read: remove it, or put its file there"
                ) from None
            if not target.is_relative_to(root):
                raise StudyError(f"{path}/{name} is a link that leaves the folder: put a copy in its place")
            if file.is_file():
                yield name
            elif file.is_symlink() and is_hidden(target.relative_to(root).as_posix()):
                raise StudyError(f"{path}/{name} is a link to a hidden folder: put a copy in its place")
        folders[:] = [step for step in folders if not is_hidden(step)]


def _refuse_locked(error: OSError) -> NoReturn:
    raise StudyError(f"{error.filename} cannot be read ({error.strerror}): change its rights, or take it out")


def _check_names(names: list[str], path: Path) -> None:
    for name, times in Counter(names).items():
        if not name.isascii() and name.encode(errors="replace").decode() != name:
            raise StudyError(f"{path}: the name of the file {ascii(name)} is not UTF-8: rename it")
        if times > 1:
            raise StudyError(f"{path} holds {times} files {name}: leave one of them in it")


def _open_zip(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        raise StudyError(f"{path} is a damaged zip: fetch it again") from None


def _zip_names(archive: zipfile.ZipFile, path: Path) -> Iterator[str]:
    for info in archive.infolist():
        name = PurePosixPath(info.filename)
        is_link = stat.S_ISLNK(info.external_attr >> 16)
        if name.is_absolute() or ".." in name.parts or "\\" in info.filename or is_link:
            raise StudyError(f"{path} holds a member or link that leaves the zip: repack it")
        if not info.is_dir() and not is_hidden(info.filename):
            yield info.filename
