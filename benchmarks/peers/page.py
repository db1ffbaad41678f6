"""Show the rows of a measurement in docs/performance.md, as tables and a figure: `python -m benchmarks.peers.page`.

It needs the study's packages. `make peers` runs it after the measurement; every number comes from results/bench/peers.jsonl.
"""

import sys
from pathlib import Path
from typing import Any

import pandas as pd

from mlm_vs_clm.files import ROOT, read_lines, write_atomically
from mlm_vs_clm.report.drawing import Drawing, add_legend, panels, save, style_context
from mlm_vs_clm.report.rendering import to_markdown, write_between_markers
from mlm_vs_clm.report.tables import DASH, Entry, Table, enter_number

ROWS, PAGE = ROOT / "results" / "bench" / "peers.jsonl", ROOT / "docs" / "performance.md"
COLUMNS = {
    "peer": "peer",
    "ours": "ours",
    "words": "words",
    "documents": "texts",
    "share": "blank",
    "our_texts_per_second": "ours, texts/s",
    "their_texts_per_second": "theirs, texts/s",
    "ratio": "ratio",
    "ratio_of_processor_time": "by processor time",
    "our_peak_mb": "ours, MB",
    "their_peak_mb": "theirs, MB",
    "equal": "equal",
}
GROWN = {
    "growth": "varied",
    "documents": "texts",
    "blanks": "blanks",
    "our_seconds": "seconds of processor time",
    "over_linear": "over linear",
    "our_peak_mb": "MB",
}
LOOKS = ("o-", "s--", "^-.", "D:", "v-", "P--", "X-.", "h:")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#6b6b6b")


def main(rows: Path = ROWS, page: Path = PAGE, figures: Path = PAGE.parent) -> None:
    """Write the block and its figure."""
    measured = pd.DataFrame(read_lines(rows))
    grown = measured[measured["growth"].notna()] if "growth" in measured else measured[:0]
    compared = measured.drop(grown.index)
    with style_context():
        save(draw(compared[compared["status"] == "made"]), figures)
    blocks = [describe(measured), to_markdown(compare_table(compared))]
    blocks += [to_markdown(growth_table(grown))] if len(grown) else []
    blocks.insert(1, "![Ratios by the number of texts](peers.svg)")
    text = write_between_markers(page.read_text(encoding="utf-8"), "peers", "\n\n".join(blocks))
    write_atomically(page, text)


def describe(measured: pd.DataFrame) -> str:
    """Return on what was measured, and what else the machine did."""
    about = measured.iloc[0]
    return (
        f"Measured on {about['processor']}, one thread a side, torch {about['torch']}, transformers {about['transformers']}. The machine had other "
        f"work: {about['load_before']:.1f} processes wanted a core before the run, so that texts per second are lower than on a quiet "
        "machine, and ratios, of which both sides take turns, are what counts."
    )


def compare_table(compared: pd.DataFrame) -> Table:
    """Return a row per peer, way of ours and size; where a peer was not run, its reason."""
    return Table(
        name="peers",
        title="Beside other libraries",
        caption=(
            "Ratio: texts/s of ours over theirs, the median over rounds, of which slow rows have one; also by processor time, which other work disturbs less. MB: the most "
            "that the process of a side held in a run, with torch and the model. Equal: the share of fills that are the same, or of scores within a thousandth. "
            "A peer fills one token a pass. Float32 on both sides. TextAttack solves another problem: "
            "each blank with the originals of all others in sight, and no punctuation."
        ),
        header=[*COLUMNS.values()],
        rows=[[enter(row, name) for name in COLUMNS] for row in compared.to_dict(orient="records")],
        command="make peers",
    )


def growth_table(grown: pd.DataFrame) -> Table:
    """Return how time and memory of this library grow."""
    return Table(
        name="peers-growth",
        title="Growth with texts and with blanks",
        caption=(
            "Texts of 60 words: 30 % blank at 16 tokens a pass where their number is varied; 32 texts at one token a pass where their blanks are. "
            "Over linear: the time per blank over that of the first row of its kind; 1 is linear growth."
        ),
        header=[*GROWN.values()],
        rows=[[enter(row, name) for name in GROWN] for row in grown.to_dict(orient="records")],
        command="make peers",
    )


def enter(row: dict[str, Any], name: str) -> Entry:
    """Return a cell; the ratio of a row that was not run has its reason."""
    value = row.get(name)
    if name == "ratio" and row.get("status") == "not run":
        return Entry("not run", reason=str(row["reason"]))
    if name == "share" and pd.notna(value):
        return Entry(f"{value:.0%}", value)
    if isinstance(value, str):
        return Entry(value)
    return enter_number(float("nan") if value is None else value, "{:,.4g}", DASH)


def draw(measured: pd.DataFrame) -> Drawing:
    """Return the ratios by the number of texts, a line per peer and way of ours."""
    figure, axes = panels(1, 1, height=3.4)
    axis, looks = axes.flat[0], {}
    plain = measured[(measured["words"] == 60) & (measured["share"] == 0.3)]
    for number, (names, rows) in enumerate(plain.groupby(["peer", "ours"], sort=False)):
        style, colour = LOOKS[number % len(LOOKS)], COLOURS[number % len(COLOURS)]
        look = {"marker": style[0], "linestyle": style[1:], "color": colour}
        ordered = rows.sort_values("documents")
        axis.plot(ordered["documents"], ordered["ratio"], **look)
        looks[", ".join(map(str, names))] = look
    axis.axhline(1, color="#6b6b6b", linewidth=0.8)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("texts")
    axis.set_ylabel("times as fast as the peer")
    add_legend(figure, looks)
    ratios = "; ".join(
        f"{row.peer}, {row.ours}: {row.ratio:.3g} at {row.documents} texts" for row in plain.itertuples()
    )
    return Drawing(
        name="peers",
        title="Beside other libraries",
        caption="Texts of 60 words, 30 % blank. Above the line this library is faster.",
        alt=f"Lines of the ratio of texts per second by the number of texts. {ratios}.",
        figure=figure,
    )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
