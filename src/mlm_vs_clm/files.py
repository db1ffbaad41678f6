"""Files on disk: atomic writes, JSON Lines, CSV, hashes, and one line for an error of the system."""

import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from .errors import StudyError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


MANIFEST = "MANIFEST.sha256"  # of all results, in the format of sha256sum
STUDY = "study.yaml"  # in the folder of a study


CHECKOUT = Path(__file__).resolve().parents[2]
# Of the checkout: conf, docs, experiments, notebooks, results. An installed package has what it reads of these in `shipped`.
ROOT = CHECKOUT if (CHECKOUT / "conf" / "config.yaml").is_file() else Path(__file__).parent / "shipped"
CHECKPOINT = "checkpoint"
FULL = (errno.ENOSPC, errno.EDQUOT)


def write_lines(path: Path, rows: Iterable[dict]) -> None:
    """Write one JSON object per line, keys in the order given."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(map(to_json_line, rows))


def to_json_line(row: dict) -> str:
    """Return an object as a line of JSON Lines, with its end."""
    return json.dumps(row, ensure_ascii=False) + "\n"


def read_lines(path: Path) -> Iterator[dict]:
    """Yield the objects of a JSON Lines file."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def write_table(path: Path, rows: list[dict], columns: list[str]) -> None:
    """Write rows as CSV with exactly these columns; floats to seven digits, as the last bits depend on the machine."""
    import pandas as pd

    pd.DataFrame(rows, columns=columns).to_csv(path, index=False, lineterminator="\n", float_format="%.7g")


def write_csv(table: "pd.DataFrame", path: Path) -> None:
    """Write a tidy table with eight significant digits, an empty cell for a missing value; packed where the name ends in .gz."""
    # No date: same rows, same bytes.
    packing = {"method": "gzip", "mtime": 0} if path.suffix == ".gz" else None
    table.to_csv(path, index=False, float_format="%.8g", lineterminator="\n", compression=packing)


def write_parquet(table: "pd.DataFrame", path: Path) -> None:
    """Write a table with each number in the smallest type that holds it exactly, and NaN as a missing value.

    The same rows give the same bytes, since the schema keeps no version of pandas.
    """
    import pyarrow as pa
    from pyarrow import parquet

    columns = {name: table[name] for name in table}
    arrays = [pa.array(list(c)) if c.dtype.kind not in "iufb" else _narrow(c) for c in columns.values()]
    table_of_arrays = pa.Table.from_arrays(arrays, list(columns))
    apart = [name for name, array in zip(columns, arrays, strict=True) if _is_scattered(array)]
    others = [name for name in columns if name not in apart]
    encodings = dict.fromkeys(apart, "BYTE_STREAM_SPLIT")  # a sixth smaller, where a dictionary saves nothing
    packing = {"compression": "zstd", "compression_level": 19}  # a fifteenth smaller than the default level
    parquet.write_table(
        table_of_arrays, path, use_dictionary=others, column_encoding=encodings or None, **packing
    )


def _is_scattered(array: Any) -> bool:
    """Return whether an Arrow array has fractions that mostly differ from one another."""
    values = array.drop_null()
    return str(array.type) in ("float", "double") and len(values.unique()) > len(values) / 2


def _narrow(column: "pd.Series") -> Any:
    """Return numbers as an Arrow array of the smallest type that holds all of them exactly."""
    import numpy as np
    import pyarrow as pa

    values = column.to_numpy(dtype=float)
    absent = np.isnan(values)
    filled = np.where(absent, 0.0, values)
    with np.errstate(over="ignore", invalid="ignore"):
        small = next(
            (kind for kind in (np.int8, np.int16, np.int32, np.int64, np.float32) if _holds(filled, kind)),
            float,
        )
    return pa.array(filled.astype(small), mask=absent)


def _holds(values: "np.ndarray", kind: type) -> bool:
    return bool((values.astype(kind).astype(float) == values).all())


def read_parquet(path: Path | BinaryIO) -> "pd.DataFrame":
    """Return a table of `write_parquet`, its numbers as float64 and NaN where they are missing."""
    from pyarrow import parquet

    table = parquet.read_table(path).to_pandas()
    numbers = table.select_dtypes("number").columns
    return table.astype(dict.fromkeys(numbers, float))


def explain_os_error(error: Exception, place: Path, advice: str = "choose another folder") -> str:
    """Return one line for a folder that is full, not writable or not a folder; `advice` is what to do but for a full disk."""
    where = getattr(error, "filename", None) or place
    reason = getattr(error, "strerror", None) or error
    is_full = getattr(error, "errno", None) in FULL or "No space left" in str(error)
    return f"cannot read or write {where}: {reason}; {'free disk space or ' * is_full}{advice}"


@contextmanager
def filling_empty(folder: Path) -> Iterator[None]:
    """Make a folder for what is written into it; StudyError where it holds files already or cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise StudyError(f"{folder} is not empty: choose another folder, or remove it")
        yield
    except OSError as error:
        raise StudyError(explain_os_error(error, folder)) from error


def list_studies(results: Path) -> dict[str, Path]:
    """Return the folder of each study in `results`, by name."""
    return {folder.name: folder for folder in sorted(Path(results).glob("*")) if (folder / STUDY).is_file()}


def write_atomically(path: Path, text: str) -> None:
    """Write a UTF-8 file so that a reader sees the old bytes or the new ones, never a part."""
    beside = path.with_name(f".{path.name}.partial")
    beside.write_text(text, encoding="utf-8", newline="\n")
    flush_to_disk(beside)
    os.replace(beside, path)


def flush_to_disk(path: Path) -> None:
    """Return once the bytes of a file are on disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def hash_file(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_of(path: Path) -> str:
    """Return the sha256 of a file, or of a folder as one number over its files' names and hashes, caches left out.

    A file is read again only when its size or time has changed.
    """
    if path.is_file():
        return _hash_once(path, path.stat().st_size, path.stat().st_mtime_ns)
    files = [file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return hash_lines(sorted(list_hashes(path, [file.relative_to(path).as_posix() for file in files])))


@cache
def _hash_once(path: Path, size: int, changed: int) -> str:
    return hash_file(path)


def list_hashes(folder: Path, names: list[str]) -> list[str]:
    """Return one line per file of a folder: its name and the sha256 of its contents."""
    return [f"{name} {hash_of(folder / name)}\n" for name in names]


def hash_lines(lines: list[str]) -> str:
    """Return the sha256 of lines of text."""
    return hashlib.sha256("".join(lines).encode()).hexdigest()
