"""What writing costs: by arm, order and length of document, its growth, and quality at equal compute."""

import pandas as pd

from ..analysis.cells import CELL, STEPS
from ..analysis.equal_compute import BASES, PARTS
from ..analysis.gap import MEASURES
from ..analysis.tables import at_main_cell, explain_missing
from . import commands, style
from .differences import SCALES, enter_difference, name_measure
from .style import ordered
from .tables import ABSENT, Entry, Table, enter, enter_number, order_lines

GIGA = 1e9
COUNTED = "Counted in FLOPs without the products of attention, which grow with the square of the length."
AXES = ("context", "length", "order")
LINE = ("corpus", "arm", "seed")
RANKS = [style.CORPORA, style.ARMS, ()]


def cost_table(compute: pd.DataFrame, scale: str) -> list[Table]:
    """Return one table: what a document costs at the main cell, an arm that runs a network a row."""
    main = at_main_cell(compute)
    whole = main[(main["part"] == PARTS[0]) & (main["flops"] > 0)]
    if whole.empty:
        return []
    header = (*LINE, *AXES, "passes", "token-forwards", "GFLOPs")
    header += (*(f"GFLOPs, {part}" for part in PARTS[1:]), "seconds", "peak memory (MB)")
    rows = [
        enter_costs(whole, main, line)
        for line in order_lines(whole.assign(seed=whole["seed"].astype(int)), list(LINE), RANKS)
    ]
    return [
        Table(
            name="compute",
            title="Cost of a document by arm, order and length",
            caption=(
                f"Random blanks at ratio {CELL[1]:g}, means a document; thirds by the number of sub-words. {COUNTED} Thirds are "
                "counted again by the rule of each arm and checked against its ledger. Seconds are wall time beside other "
                "work; memory is the most that the process held, with what it had made before."
            ),
            header=header,
            rows=tuple(rows),
            command=commands.for_cells("generate", scale, whole),
        )
    ]


def enter_costs(whole: pd.DataFrame, main: pd.DataFrame, line: tuple) -> tuple[Entry, ...]:
    """Return one line: the means of all documents, FLOPs by third, what was measured."""
    all_of_them = pick(whole, line).iloc[0]
    parts = pick(main, line)
    return (
        Entry(line[0]),
        Entry(line[1]),
        enter_number(line[2], "{:g}"),
        *(Entry(str(all_of_them[axis])) for axis in AXES),
        enter_number(all_of_them["passes"], "{:,.1f}"),
        enter_number(all_of_them["token_forwards"]),
        enter_number(all_of_them["flops"] / GIGA, "{:,.3g}"),
        *(enter_third(parts, part) for part in PARTS[1:]),
        enter_number(all_of_them["seconds"], "{:,.3f}"),
        enter_number(all_of_them["peak_memory_mb"]),
    )


def pick(rows: pd.DataFrame, line: tuple) -> pd.DataFrame:
    """Return the rows of one corpus, arm and seed."""
    corpus, arm, seed = line
    return rows[(rows["corpus"] == corpus) & (rows["arm"] == arm) & (rows["seed"] == seed)]


def enter_third(parts: pd.DataFrame, part: str) -> Entry:
    """Return the FLOPs of a third of the documents, or why they are not known."""
    found = parts.loc[parts["part"] == part, "flops"]
    if len(found):
        return enter_number(found.iloc[0] / GIGA, "{:,.3g}")
    reasons = parts["reason"].dropna()
    return Entry("missing", reason=reasons.iloc[0] if len(reasons) else ABSENT)


def growth_table(growth: pd.DataFrame, scale: str) -> list[Table]:
    """Return one table: the power of length with which each arm's cost grows."""
    if growth.empty:
        return []
    growth = growth.assign(reason=explain_missing(growth), seed=growth["seed"].astype(int))
    found = {(*(getattr(r, k) for k in LINE), r.measure): r for r in growth.itertuples(index=False)}
    measures = {"token_forwards": "token-forwards", "flops": "FLOPs"}
    rows = [
        (
            *(Entry(str(part)) for part in line),
            *(enter(found.get((*line, measure)), 2) for measure in measures),
            enter_number(found[(*line, "flops")].n) if (*line, "flops") in found else Entry("–"),
        )
        for line in order_lines(growth, list(LINE), RANKS)
    ]
    return [
        Table(
            name="growth",
            title="Growth of cost with the length of a document",
            caption=(
                f"Slope of log cost on log sub-words over documents, random blanks at ratio {CELL[1]:g} [95 % bootstrap "
                f"interval]: 1 is twice the cost for twice the length, 2 four times. {COUNTED}"
            ),
            header=(*LINE, *measures.values(), "documents"),
            rows=tuple(rows),
            command=commands.for_cells("generate", scale, growth.assign(strategy=CELL[0], ratio=CELL[1])),
        )
    ]


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
