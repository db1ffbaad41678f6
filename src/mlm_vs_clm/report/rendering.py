"""From a table to Markdown: a missing entry has a letter, and its reason is below."""

from string import ascii_lowercase

from ..errors import StudyError
from .tables import Entry, Table, markdown_row


def letter_reasons(table: Table) -> dict[str, str]:
    """Return a letter for every distinct reason, in order of appearance: a to z, then aa, ab, ..."""
    reasons = dict.fromkeys(entry.reason for row in table.rows for entry in row if entry.reason)
    return {reason: letter_of(i) for i, reason in enumerate(reasons)}


def letter_of(index: int) -> str:
    """Return the letters of a footnote."""
    first, second = divmod(index, 26)
    return (ascii_lowercase[first - 1] if first else "") + ascii_lowercase[second]


def format_entry(entry: Entry, letters: dict[str, str]) -> str:
    """Return an entry's text with the letter of its reason."""
    return f"{entry.text} ({letters[entry.reason]})" if entry.reason else entry.text


def is_numeric(table: Table, column: int) -> bool:
    """Return whether a column holds numbers, which are set to the right."""
    return any(row[column].number is not None for row in table.rows)


def to_markdown(table: Table) -> str:
    """Return the table in Markdown with its caption, its reasons and its command."""
    letters = letter_reasons(table)
    rule = [" ---: " if is_numeric(table, i) else " --- " for i in range(len(table.header))]
    rows = (markdown_row([format_entry(entry, letters) for entry in row]) for row in table.rows)
    lines = [markdown_row(table.header), f"|{'|'.join(rule)}|", *rows]
    notes = [f"({letter}) {reason}" for reason, letter in letters.items()]
    command = ["Made by:", "", *(f"    {line}" for line in table.command.splitlines())]
    paragraphs = [f"### {table.title}", "\n".join(lines), table.caption, *notes, "\n".join(command)]
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
