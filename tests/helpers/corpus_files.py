"""Files of small corpora, and a reader's mistakes in them, none of which may quote a text."""

import json

from refusals import SECRET


def put(folder, name, content=""):
    """Write a file below a folder, its parents too; return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def put_rows(folder, name, rows):
    """Write JSON Lines below a folder, rows that are text already as they are; return their path."""
    return put(folder, name, "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))


def save(folder, rows, features=None):
    """Save columns, or a list of rows, as a data set; return its folder."""
    from datasets import Dataset

    made = Dataset.from_list(rows) if isinstance(rows, list) else Dataset.from_dict(rows, features)
    made.save_to_disk(folder)
    return folder


def save_splits(folder, features=None, **splits):
    """Save the columns of each split as a data set of splits; return its folder."""
    from datasets import Dataset, DatasetDict

    DatasetDict({key: Dataset.from_dict(rows, features) for key, rows in splits.items()}).save_to_disk(folder)
    return folder


def collect(read, path, **settings):
    """Return a reader's result and its mistakes, without the path that they begin with."""
    mistakes = []
    result = read(path, mistakes.append, **settings)
    assert not any(SECRET in str(mistake) or "\n" in str(mistake) for mistake in mistakes)
    return result, [str(mistake).removeprefix(str(path)).lstrip("/,: ") for mistake in mistakes]
