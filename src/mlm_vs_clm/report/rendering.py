"""From a table to Markdown and LaTeX; a missing entry carries a letter, its reason stands below."""

import unicodedata
from string import ascii_lowercase

from ..errors import StudyError
from .tables import Entry, Table, markdown_row

LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "[": "{[}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "–": "--",
    "±": r"$\pm$",
    "×": r"$\times$",
    "\n": " ",
}


def letter_reasons(table: Table) -> dict[str, str]:
    """Return a letter for every distinct reason, in order of appearance: a to z, then aa, ab, ..."""
    reasons = dict.fromkeys(entry.reason for row in table.rows for entry in row if entry.reason)
    return {reason: letter_of(i) for i, reason in enumerate(reasons)}


def letter_of(index: int) -> str:
    """Return the letters of a footnote."""
    first, second = divmod(index, 26)
    return (ascii_lowercase[first - 1] if first else "") + ascii_lowercase[second]


def write_entry(entry: Entry, letters: dict[str, str]) -> str:
    """Return an entry's text with the letter of its reason."""
    return f"{entry.text} ({letters[entry.reason]})" if entry.reason else entry.text


def is_numeric(table: Table, column: int) -> bool:
    """Return whether a column holds numbers, which are set to the right."""
    return any(row[column].number is not None for row in table.rows)


def to_markdown(table: Table) -> str:
    """Return the table in Markdown with its caption, its reasons and its command."""
    letters = letter_reasons(table)
    lines = [markdown_row(table.header)]
    lines.append(
        "|" + "|".join(" ---: " if is_numeric(table, i) else " --- " for i in range(len(table.header))) + "|"
    )
    lines += [markdown_row([write_entry(entry, letters) for entry in row]) for row in table.rows]
    notes = [f"({letter}) {reason}" for reason, letter in letters.items()]
    command = ["Made by:", "", *(f"    {line}" for line in table.command.splitlines())]
    parts = [f"### {table.title}", "\n".join(lines), table.caption, *notes, "\n".join(command)]
    return "\n\n".join(parts) + "\n"


def to_latex(table: Table) -> str:
    """Return a `tabular` that needs no package, to be read with `\\input`; caption and command as comments."""
    letters = letter_reasons(table)
    columns = "".join(latex_column(table, i) for i in range(len(table.header)))
    lines = [f"% {table.title}. {table.caption}", f"\\begin{{tabular}}{{{columns}}}", "\\hline"]
    lines += [latex_row(table.header), "\\hline"]
    lines += [latex_row(write_entry(entry, letters) for entry in row) for row in table.rows]
    lines.append("\\hline")
    for reason, letter in letters.items():
        note = escape_latex(f"({letter}) {reason}")
        lines.append(f"\\multicolumn{{{len(table.header)}}}{{l}}{{{note}}} \\\\")
    return "\n".join([*lines, "\\end{tabular}", ""])


def latex_column(table: Table, column: int) -> str:
    """Return how a column is set: numbers to the right, words to the left, long text in lines of its own."""
    if is_numeric(table, column):
        return "r"
    return "p{100mm}" if any(len(row[column].text) > 60 for row in table.rows) else "l"


def latex_row(texts) -> str:
    """Return one row of a LaTeX table."""
    return " & ".join(escape_latex(text) for text in texts) + " \\\\"


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it stands; letters beyond ASCII lose their accents."""
    return "".join(LATEX.get(letter) or to_ascii(letter) for letter in text)


def to_ascii(letter: str) -> str:
    """Return the nearest ASCII letters, a question mark where there is none."""
    return unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode() or "?"


def latex_document(tables: list[Table]) -> str:
    """Return a document that compiles on its own and shows every table of its folder."""
    parts = [
        "% pdflatex all_tables.tex",
        "\\documentclass{article}",
        "\\usepackage[paperwidth=520mm,paperheight=420mm,margin=10mm]{geometry}",
        "\\begin{document}",
        "\\scriptsize",
    ]
    for table in tables:
        title = f"\\section*{{{escape_latex(table.title)}}}"
        parts += [
            title,
            f"\\noindent {escape_latex(table.caption)}\\par\\medskip",
            f"\\noindent\\input{{{table.name}}}\\clearpage",
        ]
    return "\n".join([*parts, "\\end{document}", ""])


def write_between_markers(readme_text: str, name: str, table: str) -> str:
    """Return the text with `table` between `<!-- begin: name -->` and `<!-- end: name -->`.

    Raises StudyError where a marker is missing, doubled, or where the two stand in the wrong order.
    """
    begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    if (
        readme_text.count(begin) != 1
        or readme_text.count(end) != 1
        or readme_text.index(end) < readme_text.index(begin)
    ):
        raise StudyError(
            f"the README needs one {begin!r} and, after it, one {end!r}: put both where the table belongs"
        )
    before, rest = readme_text.split(begin)
    after = rest.split(end)[1]
    return f"{before}{begin}\n\n{table.strip()}\n\n{end}{after}"
