"""The data dictionary of results/README.md: what each table of a study is, and the unit and meaning of its columns."""

from ..errors import StudyError
from ..evidence import documents
from ..evidence.columns import DOCUMENTS, SHARED, TABLES, Column, Declaration
from ..evidence.tables import STUDY
from ..metrics import MEASURES


def write_dictionary() -> str:
    """Return the data dictionary in Markdown: a section per table, a line per column; keys in bold."""
    files = {name: f"{name}.csv" for name in TABLES} | {STUDY: f"study.yaml, under `{STUDY}`"}
    columns = [describe_sum(name) for name in documents.COLUMNS]
    tables = [(files[name], table) for name, table in TABLES.items()]
    tables.append((documents.FILE, Declaration(DOCUMENTS.about, columns, is_rare=False)))
    return "\n\n".join(_write_section(*table) for table in tables)


def describe_sum(name: str) -> Column:
    """Return a column of the frame `documents`; raises StudyError for one without a meaning."""
    scores = [
        Column(metric, "of the metric", "score of the document")
        for metric, measure in MEASURES.items()
        if measure.sums.get("document") == (metric,)
    ]
    for column in (*DOCUMENTS.columns, *SHARED, *scores):
        if column.name == name:
            return Column(name, column.holds, column.meaning, name in documents.KEYS)
    raise StudyError(f"evidence/columns.txt does not say what {name} means: add a line to `documents`")


def _write_section(file: str, table: Declaration) -> str:
    rows = [
        f"| {f'**{column.name}**' if column.is_key else column.name} | {column.unit} | {column.meaning} |"
        for column in table.columns
    ]
    head = [f"### {file}", "", f"{table.about.capitalize()}.", ""]
    return "\n".join([*head, "| column | unit | meaning |", "|---|---|---|", *rows])
