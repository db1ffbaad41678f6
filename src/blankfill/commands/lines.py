"""Texts in and results out: JSON Lines or plain lines, one at a time, from files or standard streams."""

import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from errno import EBADF
from hashlib import blake2b
from numbers import Integral
from pathlib import Path
from typing import IO, Any

from ..errors import BlankfillError

try:
    import fcntl
except ImportError:  # as on Windows
    fcntl = None  # type: ignore[assignment]

STANDARD = "-"  # standard input or output
FORMS = ("auto", "jsonl", "lines")
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
BEGUN = ".settings.json"  # the file beside an output that says how it was begun
# What does not change a result: some options, and what `add_options` keeps beside them.
CHANGE_NOTHING = ("input", "out", "progress", "device", "batch_tokens", "on_error", "default_of")
MODEL_FILES, EDGE = ("*.json", "*.safetensors", "*.txt", "*.model"), 2**16  # bytes at both ends of a file


@dataclass(frozen=True)
class Line:
    """One text of the input: its number from 1, its id (by default the number), and its JSON object, if it has one."""

    number: int
    id: str
    text: str
    fields: dict[str, Any] = field(default_factory=dict)


def key_of_spans(line: Line) -> str:
    """Return the key under which a line gives characters, `blanks` or `spans`, or ""; BlankfillError for both."""
    keys = [key for key in ("blanks", "spans") if key in line.fields]
    if len(keys) > 1:
        raise BlankfillError(f"line {line.number} has both `blanks` and `spans`: leave one of them out")
    return "".join(keys)


class Source:
    """The lines of a file or of standard input, read once; `is_json` says which form they have.

    JSON Lines have a string `text` and may have an `id`, a string or whole number that no other line has. A plain
    line is a text. Raises BlankfillError, which names the line and shows nothing of it.
    """

    def __init__(self, name: str, form: str = "auto"):
        self.name = "standard input" if name == STANDARD else name
        try:
            self.file: IO[bytes] = standard(sys.stdin) if name == STANDARD else Path(name).open("rb")
            self.head = [self.file.readline().removeprefix(b"\xef\xbb\xbf")]
            while form == "auto" and self.head[-1].isspace():
                self.head.append(self.file.readline())
        except OSError as error:
            advice = "give a file" if name == STANDARD else "check the path"
            raise BlankfillError(f"{self.name} cannot be read: {error.strerror}: {advice}") from None
        self.is_json = form == "jsonl" or form == "auto" and self._looks_like_json(name)

    def _looks_like_json(self, name: str) -> bool:
        return name.endswith(JSON_SUFFIXES) or self.head[-1].lstrip().startswith(b"{")

    def __iter__(self) -> Iterator[Line]:
        seen: set[str] = set()
        for number, raw in enumerate(self._raw(), 1):
            line = self._read(number, raw)
            if line is None:
                continue
            if line.id in seen:
                raise BlankfillError(f"{self.name}, line {number}: an earlier line has the same id")
            seen.add(line.id)
            yield line

    def _raw(self) -> Iterator[bytes]:
        with self.file:
            yield from filter(None, self.head)
            yield from self.file

    def _read(self, number: int, raw: bytes) -> Line | None:
        """Return a line; None for an empty one between JSON objects."""
        try:
            text = raw.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise BlankfillError(f"{self.name}, line {number} is not UTF-8: convert the file") from None
        if not self.is_json:
            return Line(number, str(number), text)
        return self._read_object(number, text) if text.strip() else None

    def _read_object(self, number: int, text: str) -> Line:
        row = parse_object(text, f"{self.name}, line {number}")
        if not isinstance(row.get("text"), str):
            raise BlankfillError(f"{self.name}, line {number}: the object needs a string `text`")
        id = row.get("id", number)
        if isinstance(id, bool) or not isinstance(id, str | Integral):
            raise BlankfillError(f"{self.name}, line {number}: an id is a string or a whole number")
        return Line(number, str(id), row["text"], row)


def parse_object(text: str, place: str) -> dict[str, Any]:
    """Return the JSON object of a line; BlankfillError, which names the place, for anything else."""
    try:
        row = json.loads(
            text,
            parse_constant=refuse_constant,
            parse_float=parse_finite,
            object_pairs_hook=lambda pairs: refuse_twice(pairs, place),
        )
    except (ValueError, RecursionError):
        raise BlankfillError(f"{place} is not JSON: give --form lines for plain text") from None
    if not isinstance(row, dict):
        raise BlankfillError(f"{place}: a JSON object is needed, this is a {type(row).__name__}")
    return row


def refuse_twice(pairs: list[tuple[str, Any]], place: str) -> dict[str, Any]:
    """Return a JSON object; BlankfillError where a key stands in it twice, as a reader would drop the first value."""
    if len(row := dict(pairs)) < len(pairs):
        raise BlankfillError(f"{place}: an object has the same key twice: remove one of them")
    return row


def refuse_constant(name: str) -> None:
    """Raise ValueError for NaN and Infinity, which are no JSON."""
    raise ValueError(name)


def parse_finite(number: str) -> float:
    """Return a number; ValueError for one beyond what can be written back."""
    if not math.isfinite(value := float(number)):
        raise ValueError(number)
    return value


def standard(stream: Any) -> IO[bytes]:
    """Return the bytes of standard input or output; OSError where it is closed."""
    if stream is None:
        raise OSError(EBADF, "it is closed")
    return stream.buffer


class Sink:
    """Writes results to a file or to standard output, each at once: a JSON object or a plain line per text.

    A file that exists already is continued: `left` returns the lines that have no result there. What an interrupted
    run left of a last line is cut off. `settings` are kept beside the file; an option that is not among them, as it
    came later, had its default. A device or pipe takes the results as standard output does. Raises BlankfillError for a
    file that was begun with other settings, holds something else, or is written by another process.
    """

    def __init__(self, name: str, is_json: bool, settings: Mapping[str, Any], defaults: Mapping[str, Any]):
        self.name, self.is_json = name, is_json or name.endswith(JSON_SUFFIXES)
        self.done: set[str] = set()
        self.n_done = 0
        path = Path(name)
        if name == STANDARD:
            self.file: IO[bytes] = standard(sys.stdout)
        elif path.exists() and not path.is_file():  # a device or a pipe, which keeps nothing to go on from
            self.file = path.open("wb")
        else:
            self.file = path.open("ab")
            try:
                self._lock()
                end = self._take_up(path)
                self._compare(Path(f"{name}{BEGUN}"), settings, defaults)
                self.file.truncate(end)
            except BaseException:
                self.file.close()
                raise
        if self.n_done:
            print(f"{name} holds {self.n_done} results: only the others are made", file=sys.stderr)

    def __enter__(self) -> "Sink":
        return self

    def __exit__(self, *error: Any) -> None:
        if self.name != STANDARD:
            self.file.close()

    def _lock(self) -> None:
        """Keep other processes off the file until it is closed, where the system and the disk have locks."""
        if not fcntl:
            return
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlankfillError(
                f"another process writes to {self.name}: wait until it ends, or give another --out"
            ) from None
        except OSError:  # a disk without locks, as on some clusters
            return

    def _take_up(self, path: Path) -> int:
        """Note which results are there, and return where they end."""
        end = 0
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                if not raw.endswith(b"\n"):
                    break
                end += len(raw)
                self.n_done += 1
                if self.is_json:
                    self.done.add(self._id_of(raw, number))
        return end

    def _id_of(self, raw: bytes, number: int) -> str:
        place = f"{self.name}, line {number}"
        row = parse_object(raw.decode("utf-8", "replace"), place)
        if "id" not in row:
            raise BlankfillError(f"{place} is no result of this command: give another --out")
        return str(row["id"])

    def _compare(self, path: Path, settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        """Refuse to continue with other settings than those of `path`; an output without results begins with these."""
        if self.file.tell() and not path.exists():
            raise BlankfillError(
                f"{self.name} cannot be continued: {path.name}, which says how it was begun, is missing: give another --out"
            )
        if not self.n_done:
            path.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
            return
        begun = {**defaults, **parse_object(path.read_text(encoding="utf-8", errors="replace"), str(path))}
        if changed := sorted(key for key in {*begun, *settings} if begun.get(key) != settings.get(key)):
            raise BlankfillError(
                f"{self.name} was begun with another {', another '.join(changed)}: give another --out, or delete it to begin again"
            )

    def left(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Yield the lines that have no result yet."""
        for line in lines:
            is_done = line.id in self.done if self.is_json else line.number <= self.n_done
            if not is_done:
                yield line

    def write(self, row: dict[str, Any], plain: str) -> None:
        """Write a result: `row`, which has an id, or `plain` where the output has plain lines."""
        if not self.is_json and "\n" in plain:
            raise BlankfillError(
                f"the result of line {row['id']} has a line break, and plain lines cannot hold one: give --out a "
                "name that ends in .jsonl"
            )
        self.file.write((encode(row) if self.is_json else plain.encode("utf-8", "replace")) + b"\n")
        self.file.flush()


def encode(row: dict[str, Any]) -> bytes:
    """Return a JSON object in UTF-8; half characters, which UTF-8 lacks, are escaped."""
    try:
        return json.dumps(row, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(row).encode("utf-8")


def open_lines(options: Any) -> tuple[Source, Sink]:
    """Return where the lines of a command come from and where its results go (`add_options`)."""
    if options.input != STANDARD and options.out != STANDARD:
        if Path(options.out).exists() and Path(options.input).resolve() == Path(options.out).resolve():
            raise BlankfillError(f"--out {options.out} is the input itself: give another name")
    elif options.input == STANDARD and sys.stdin and sys.stdin.isatty():
        print("Reading texts from the keyboard, one per line; end with Ctrl-D.", file=sys.stderr)
    source = Source(options.input, options.form)
    form = {"form": "jsonl" if source.is_json else "lines"}  # as it was read, by its look or as asked for
    settings = describe_settings(options) | form
    defaults = {name: options.default_of(name) for name in settings}
    return source, Sink(options.out, source.is_json, settings, defaults)


def describe_settings(options: Any) -> dict[str, Any]:
    """Return the options of a command that change its results, as JSON; a folder of a model by what is in it."""
    values = {
        name: value
        for name, value in vars(options).items()
        if name not in CHANGE_NOTHING and value is not None
    }
    places = {name: identify_model(values[name]) for name in ("model", "tokenizer") if name in values}
    return json.loads(json.dumps(values | places))


def identify_model(name: str) -> str:
    """Return the name of a model; for a folder its last part, and a hash over the files' sizes and both ends of each."""
    folder = Path(os.path.expanduser(name))
    if not folder.is_dir():
        return name
    digest = blake2b(digest_size=8)
    for path in sorted({path for pattern in MODEL_FILES for path in folder.glob(pattern) if path.is_file()}):
        with path.open("rb") as file:
            digest.update(
                f"{path.name} {path.stat().st_size} ".encode("utf-8", "surrogatepass") + file.read(EDGE)
            )
            file.seek(max(0, path.stat().st_size - EDGE))
            digest.update(file.read(EDGE))
    return f"{folder.resolve().name} ({digest.hexdigest()})"
