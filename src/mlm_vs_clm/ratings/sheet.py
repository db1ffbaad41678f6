"""The rating sheet: a balanced, blinded sample of texts in one page that opens offline, and its key.

The page shows corpus text, so it belongs in `outputs/` and never in `results/`. The key says which arm generated
which text: it stays with whoever analyses the ratings, and raters never get it.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from blankfill.text import FilledText

from ..errors import StudyError
from ..files import explain_os_error
from .questions import QUESTIONS, list_parts

# The original (`oracle`) and the arms that claim C7 compares; those without a result are left out and reported.
ORIGINAL = "oracle"
ARMS = (ORIGINAL, "mlm", "mlm_leaky", "mlm_left", "infill", "clm", "seq2seq_kept")
# Documents per corpus: below about ten, no p can survive the correction over the comparisons of claim C7.
TEXTS = 12


@dataclass(frozen=True)
class Item:
    """A text to rate, and where it comes from; `place` is its row in the statistics of the score artifact.

    `original` is "" where the original is not among the arms.
    """

    block: int
    corpus: str
    arm: str
    document: str
    place: int
    artifact: str
    text: str
    original: str = ""


def draw_sheet(
    cells: pd.DataFrame, read_texts: Callable[[str], list[FilledText]], texts: int, rng: np.random.Generator
) -> list[Item]:
    """Return what every arm generated for the same `texts` documents of each corpus, in blocks.

    A block shows each document once, and the arms rotate over the documents from block to block: a document
    is repeated only after all the others, and no arm comes first more often than another. `read_texts` returns the
    texts of a score artifact. Raises StudyError where a cell has too few documents.
    """
    items = []
    for corpus, arms in cells.groupby("corpus"):
        generated = {cell.arm: read_texts(cell.artifact) for cell in arms.itertuples()}
        n_documents = min(map(len, generated.values()))
        originals = [document.text for document in generated.get(ORIGINAL, [])]
        if n_documents < texts:
            raise StudyError(f"{corpus} has {n_documents} documents, {texts} are asked for: lower --texts")
        for turn, place in enumerate(rng.permutation(n_documents)[:texts]):
            for number, cell in enumerate(arms.itertuples()):
                block, filled = (number + turn) % len(arms), generated[cell.arm][place]
                original = originals[place] if originals else ""
                items.append(
                    Item(block, corpus, cell.arm, filled.id, int(place), cell.artifact, filled.text, original)
                )
    shuffled = [items[i] for i in rng.permutation(len(items))]
    return sorted(shuffled, key=lambda item: item.block)


def choose_cells(results: Path, arms: tuple, ratio: float, seed: int, strategy: str) -> pd.DataFrame:
    """Return one row (corpus, arm, artifact) per cell of this strategy, ratio and seed, arms in the given order.

    Raises StudyError where there are no results, or no such cell.
    """
    path = Path(results) / "scores.csv"
    if not path.is_file():
        raise StudyError(f"no scores.csv in {results}: run `make reproduce` first, or name --results")
    scores = pd.read_csv(path, keep_default_na=False, na_values=[""])
    scores = scores[scores["strategy"] == strategy]
    chosen = scores[np.isclose(scores["ratio"], ratio) & (scores["seed"] == seed)]
    if chosen.empty:
        ratios, seeds = (
            ", ".join(f"{value:g}" for value in sorted(scores[name].unique())) for name in ("ratio", "seed")
        )
        raise StudyError(
            f"{path} has no {strategy} cell at {ratio} and seed {seed}: its ratios are {ratios} and its seeds {seeds}"
        )
    cells = chosen.loc[chosen["arm"].isin(arms), ["corpus", "arm", "artifact"]].drop_duplicates()
    return cells.sort_values(["corpus", "arm"], key=lambda c: c.map(arms.index) if c.name == "arm" else c)


def name_items(items: list[Item]) -> dict[str, Item]:
    """Return the items by the ids that raters see, which contain their place on the sheet and nothing else."""
    return {f"t{number:03}": item for number, item in enumerate(items, 1)}


def has_originals(named: dict[str, Item]) -> bool:
    """Return whether every text of a sheet has its original."""
    return all(item.original for item in named.values())


def name_sheet(named: dict[str, Item]) -> str:
    """Return the id of a sheet: equal items have equal ids."""
    rows = json.dumps({id: asdict(item) for id, item in named.items()}, sort_keys=True)
    return hashlib.sha256(rows.encode()).hexdigest()[:10]


def make_key(sheet: str, named: dict[str, Item], ratio: float, seed: int, strategy: str) -> dict:
    """Return the key of a sheet: which arm generated which item, without the texts."""
    hidden = ("text", "original")
    items = {id: {k: v for k, v in asdict(item).items() if k not in hidden} for id, item in named.items()}
    cell = {"strategy": strategy, "ratio": ratio, "seed": seed}
    return {"sheet": sheet, "questions": sum(list_parts(has_originals(named)), []), **cell, "items": items}


def render_sheet(sheet: str, named: dict[str, Item]) -> str:
    """Return the page: ids, texts and their originals, questions and anchors, and nothing that names an arm."""
    loader = PackageLoader("mlm_vs_clm.ratings")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    texts = [
        {"item": id, "block": item.block}
        | {name: " ".join(getattr(item, name).split()) for name in ("text", "original")}
        for id, item in named.items()
    ]
    sections = list_parts(has_originals(named))
    questions_shown = {name: QUESTIONS[name] for section in sections for name in section}
    return environment.get_template("sheet.html").render(
        sheet=sheet, texts=texts, questions=questions_shown, parts=sections
    )


def write_sheet(out: Path, page: str, key: dict) -> tuple[Path, Path]:
    """Write `sheet-<id>.html` for the raters and, in a separate folder, `key/key-<id>.json`."""
    html, secret = out / f"sheet-{key['sheet']}.html", out / "key" / f"key-{key['sheet']}.json"
    try:
        secret.parent.mkdir(parents=True, exist_ok=True)
        html.write_text(page, encoding="utf-8", newline="\n")
        secret.write_text(json.dumps(key, indent=1) + "\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise StudyError(explain_os_error(error, out)) from error
    return html, secret
