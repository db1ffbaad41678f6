"""Files of small corpora, and a reader's mistakes in them, none of which may quote a text."""

from refusals import SECRET


def put(folder, name, content=""):
    """Write a file below a folder, its parents too; return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def collect(read, path, **settings):
    """Return a reader's result and its mistakes, without the path that they begin with."""
    mistakes = []
    result = read(path, mistakes.append, **settings)
    assert not any(SECRET in str(mistake) or "\n" in str(mistake) for mistake in mistakes)
    return result, [str(mistake).removeprefix(str(path)).lstrip("/,: ") for mistake in mistakes]
