"""From a table to Markdown: a missing entry has a letter, and its reason is below."""

from string import ascii_lowercase

from ..errors import StudyError
from .tables import Table, markdown_row


class Notes:
    """The notes of a table or a page: each reason once, with its letter, in order of appearance."""

    def __init__(self) -> None:
        self.letters: dict[str, str] = {}

    def mark(self, reason: str) -> str:
        """Return the letter of a reason, a new one where it was not given before."""
        return self.letters.setdefault(reason, letter_of(len(self.letters)))


def letter_of(index: int) -> str:
    """Return the letters of a footnote: a to z, then aa, ab, ..."""
    first, second = divmod(index, 26)
    return (letter_of(first - 1) if first else "") + ascii_lowercase[second]


def is_numeric(table: Table, column: int) -> bool:
    """Return whether a column holds numbers, which are set to the right."""
    return any(row[column].number is not None for row in table.rows)


def to_markdown(table: Table) -> str:
    """Return the table in Markdown with its caption, its reasons and its command."""
    notes = Notes()
    rule = [" ---: " if is_numeric(table, i) else " --- " for i in range(len(table.header))]
    lines = [markdown_row(table.header), f"|{'|'.join(rule)}|"]
    for row in table.rows:
        texts = [
            f"{entry.text} ({notes.mark(entry.reason)})" if entry.reason else entry.text for entry in row
        ]
        lines.append(markdown_row(texts))
    reasons = [f"({letter}) {reason}" for reason, letter in notes.letters.items()]
    command = ["Made by:", "", *(f"    {line}" for line in table.command.splitlines())]
    paragraphs = [f"### {table.title}", "\n".join(lines), table.caption, *reasons, "\n".join(command)]
    return "\n\n".join(paragraphs) + "\n"


def write_between_markers(text: str, name: str, block: str) -> str:
    """Return the text with `block` between `<!-- begin: name -->` and `<!-- end: name -->`.

    Raises StudyError where a marker is missing, doubled, or where the two are in the wrong order.
    """
    begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(end) < text.index(begin):
        raise StudyError(
            f"the page needs one {begin!r} and, after it, one {end!r}: put both where the block belongs"
        )
    before, after_begin = text.split(begin)
    after = after_begin.split(end)[1]
    return f"{before}{begin}\n\n{block.strip()}\n\n{end}{after}"
