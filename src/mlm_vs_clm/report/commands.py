"""The command that makes the rows behind a table, for a reader who wants to run them again."""

import pandas as pd

GROUPS = ("corpus", "arm")


def for_cells(stage: str, scale: str, rows: pd.DataFrame) -> str:
    """Return one line a set of ratios: strategies asked for at the same ratios share a line."""
    named = [list_choices(group, rows[group]) for group in GROUPS if group in rows]
    start = " ".join([f"python experiments/{stage}.py -m scale={scale}", *named])
    strategies: dict[str, list[str]] = {}
    for strategy, part in rows.dropna(subset="strategy").groupby("strategy"):
        ratios = list_choices("masking.ratio", part["ratio"].map("{:g}".format))
        strategies.setdefault(ratios, []).append(strategy)
    lines = [f"{start} masking={','.join(names)} {ratios}" for ratios, names in strategies.items()]
    return "\n".join(lines or [start])


def for_training(scale: str, rows: pd.DataFrame) -> str:
    """Return the lines for downstream rows: training on what arms wrote, then on the references."""
    written = rows[rows["strategy"].notna()].rename(columns={"trained_on": "arm"})
    beside = rows[rows["strategy"].isna()]
    lines = [for_cells("downstream", scale, written)] if len(written) else []
    if len(beside):
        references = list_choices("trained_on", beside["trained_on"])
        lines.append(f"{for_cells('downstream', scale, beside)} {references}")
    return "\n".join(lines)


def list_choices(option: str, values: pd.Series) -> str:
    """Return `option=a,b` with every distinct value."""
    return f"{option}={','.join(sorted(set(values.dropna())))}"
