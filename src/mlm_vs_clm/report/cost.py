"""What generation costs: the table of the ledger, and quality at equal compute."""

import pandas as pd

from ..analysis.cells import CELL, STEPS
from ..analysis.equal_compute import BASES
from ..analysis.gap import MEASURES
from ..analysis.tables import at_main_cell, explain_missing, main_ratio
from . import commands, style
from .differences import SCALES, enter_difference, name_measure
from .style import ordered
from .tables import ABSENT, Entry, Table, enter_number, order_lines

GIGA = 1e9
AXES = ("context", "length", "order")
KEYS = ("corpus", "arm", "seed")
PER_DOCUMENT = {  # column of the ledger -> heading, unit, format
    "passes": ("passes", 1, "{:,.1f}"),
    "token_forwards": ("token-forwards", 1, "{:,.0f}"),
    "flops": ("GFLOPs", GIGA, "{:,.3g}"),
    "seconds": ("seconds", 1, "{:,.3f}"),
}
IN_ALL = {"documents": "documents", "blanks": "blanks", "tokens_filled": "tokens filled"}
IN_ALL |= {"peak_memory_mb": "peak memory (MB)"}
PLACE = ("device", "precision")


def cost_table(ledger: pd.DataFrame, scale: str) -> list[Table]:
    """Return one table: what each arm cost at the main cell, one row per corpus, arm and seed."""
    main = at_main_cell(ledger)
    if main.empty:
        return []
    axes = [axis for axis in AXES if axis in main]
    lines = order_lines(main, list(KEYS), [style.CORPORA, style.ARMS, ()])
    found = {tuple(row[key] for key in KEYS): row for _, row in main.iterrows()}
    header = (*KEYS, *axes, *(name for name, *_ in PER_DOCUMENT.values()), *IN_ALL.values(), *PLACE)
    return [
        Table(
            name="cost",
            title="Cost of generation",
            caption=(
                f"Random blanks at ratio {main_ratio(ledger):g}; all other cells are in ledger.csv. Passes, token-forwards, "
                "GFLOPs and seconds are means per document. FLOPs leave out the products of attention, which grow with the "
                "square of the length. Seconds are wall time beside other work; memory is the peak of the process."
            ),
            header=header,
            rows=tuple(enter_cost(found[line], axes) for line in lines),
            command=commands.for_cells("generate", scale, main),
        )
    ]


def enter_cost(row: pd.Series, axes: list[str]) -> tuple[Entry, ...]:
    """Return one row of the table of costs."""
    per_document = [
        enter_number(row[column] / row["documents"] / unit, form)
        for column, (_, unit, form) in PER_DOCUMENT.items()
    ]
    words = [Entry(str(row[column])) if pd.notna(row[column]) else Entry("–") for column in (*axes, *PLACE)]
    return (
        Entry(row["corpus"]),
        Entry(row["arm"]),
        enter_number(row["seed"], "{:g}"),
        *words[: len(axes)],
        *per_document,
        *(enter_number(row[column]) for column in IN_ALL),
        *words[len(axes) :],
    )


def equal_table(equal: pd.DataFrame, scale: str) -> list[Table]:
    """Return one table: corpus and step down, each measure at equal documents and at equal compute across."""
    if equal.empty:
        return []
    equal = equal.assign(reason=explain_missing(equal))
    found = {(r.corpus, r.step, r.scope, r.metric, r.basis): r for r in equal.itertuples(index=False)}
    header = ["corpus", "step", "difference", "FLOPs, first over second"]
    for measure in MEASURES:
        header += [f"{name_measure(*measure)}: {basis}" for basis in BASES]
    rows = [
        (
            *map(Entry, (corpus, step.name, f"{step.first} - {step.second}")),
            enter_ratio(equal[(equal["corpus"] == corpus) & (equal["step"] == step.name)]),
            *(entry for measure in MEASURES for entry in enter_bases(found, (corpus, step.name, *measure))),
        )
        for corpus in ordered(equal["corpus"], style.CORPORA)
        for step in STEPS
    ]
    made = equal[equal["value"].notna()]
    arms = pd.concat([made[["corpus", side]].rename(columns={side: "arm"}) for side in ("first", "second")])
    return [
        Table(
            name="equal_compute",
            title="Quality at equal documents and at equal compute",
            caption=(
                f"Random blanks at ratio {CELL[1]:g}; first arm minus second, paired, [95 % bootstrap interval]. At the "
                "compute of one, the other's score is read off the line between the runs of its method, at other orders or paces, "
                "whose FLOPs lie nearest below and above."
            ),
            header=tuple(header),
            rows=tuple(rows),
            command=commands.for_cells("score", scale, arms.assign(strategy=CELL[0], ratio=CELL[1])),
        )
    ]


def enter_ratio(rows: pd.DataFrame) -> Entry:
    """Return how many times the FLOPs of the second the first takes, at equal documents."""
    rows = rows[(rows["basis"] == BASES[0]) & (rows["flops_second"] > 0)]
    ratios = rows["flops_first"] / rows["flops_second"]
    return enter_number(ratios.iloc[0], "{:,.3g}") if len(ratios) else Entry("missing", reason=ABSENT)


def enter_bases(found: dict, key: tuple) -> tuple[Entry, ...]:
    """Return a measure's difference at each of BASES: they are different questions, none stands in for another."""
    return tuple(enter_difference(found.get((*key, basis)), SCALES[key[-1]][1]) for basis in BASES)
