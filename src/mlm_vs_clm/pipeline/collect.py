"""What the report stage writes: the frames of a study, the tables that follow from them, examples, cards and the page."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd

from blankfill.text import FilledText

from ..evidence.correlation import correlate_tables
from ..evidence.observations import save_observations
from ..evidence.tables import COLUMNS
from ..files import write_table
from ..metrics.metric import normalise
from ..report.build import build
from ..report.study_folder import Background, derive_study
from .artifacts import inputs_of, name_of
from .cells import describe_score, describe_task, load_blanked_texts, load_filled, of_stage
from .observing import observe, to_main
from .provenance import library_versions

SHOWN = 4  # documents per corpus on the page, the first ones


def write_report(settings: dict, inputs: dict[str, Path], folder: Path, wordnet: Path) -> None:
    """Write the frames, tables, figures and page of one study into `folder`; words are looked up in `wordnet`."""
    observed = observe(settings, inputs, wordnet)
    examples = gather_examples(inputs, settings["examples"], to_main(settings))
    cards = [
        json.loads((path / "card.json").read_text(encoding="utf-8")) for path in of_stage(inputs, "corpus")
    ]
    about = describe_study(settings, observed.trainings, inputs)
    save_observations(observed, folder)
    build(*derive_study(observed, Background(examples, cards, about), settings["rules"]), folder)


def correlate_cells(settings: dict, inputs: dict[str, Path], folder: Path) -> None:
    """Write `correlation.csv` from the scored cells and task results among the inputs."""
    scores = _gather(of_stage(inputs, "score"), describe_score)
    downstream = _gather(of_stage(inputs, "downstream"), describe_task)
    rows = correlate_tables(scores, downstream, settings["bound"])
    write_table(folder / "correlation.csv", rows, COLUMNS["correlation"])


def _gather(paths: Iterable[Path], describe: Callable[[Path], dict]) -> pd.DataFrame:
    frames = [pd.read_csv(path / "scores.csv").assign(**describe(path)) for path in paths]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def gather_examples(inputs: dict[str, Path], corpora: list[str], main: tuple[str, float]) -> list[dict]:
    """Return, for SHOWN documents of each of the corpora, how every arm filled the same blanks: the main cell's first draw.

    `kept` is the text around the `originals`, and has one piece more. The fills of an arm are in the order of the
    blanks: 1 for the original as it stood, [text] for the original in other letters, else text. `texts` has what an arm
    wrote that does not keep the blanks apart.
    """
    cells = [(describe_score(path), inputs_of(path)) for path in of_stage(inputs, "score")]
    cells = [(cell, read) for cell, read in cells if (cell["strategy"], cell["ratio"]) == main]
    first = min((cell["seed"] for cell, _ in cells), default=0)
    examples: dict[tuple[str, str], dict] = {}
    for cell, read in cells:
        if cell["seed"] != first or cell["corpus"] not in corpora:
            continue
        _, blanked = load_blanked_texts(read)
        filled = {text.id: text for text in load_filled(read["generation"])}
        for document in blanked[:SHOWN]:
            about = {"corpus": cell["corpus"], "strategy": main[0], "ratio": main[1], "document": document.id}
            spans = [document.words[blank] for blank in document.blanks]
            kept, originals = split_text(document.text, spans)
            example = examples.setdefault(
                (cell["corpus"], document.id),
                about | {"kept": kept, "originals": originals, "arms": {}, "texts": {}},
            )
            text = filled.get(document.id)
            if text and _keeps(text, document.blanks, kept):
                example["arms"][cell["arm"]] = [*map(code_fill, text.fills, originals)]
            elif text:
                example["texts"][cell["arm"]] = text.text
    return list(examples.values())


def _keeps(text: FilledText, blanks: Iterable[int], kept: list[str]) -> bool:
    """Return whether a text is the kept one around its fills, space aside."""
    spans = [span for blank in blanks if (span := text.spans[blank])]
    around, _ = split_text(text.text, spans)
    return ["".join(piece.split()) for piece in around] == ["".join(piece.split()) for piece in kept]


def split_text(text: str, spans: Iterable[tuple[int, int]]) -> tuple[list[str], list[str]]:
    """Return the text before, between and after the spans (character offsets, in order), and that of the spans."""
    kept, originals, cursor = [], [], 0
    for start, end in spans:
        kept.append(text[cursor:start])
        originals.append(text[start:end])
        cursor = end
    return [*kept, text[cursor:]], originals


def code_fill(fill: str, original: str) -> int | str | list[str]:
    """Return 1 for the original as it stood, [fill] for the original in other letters, else the fill."""
    if normalise(fill) == normalise(original):
        return 1 if fill == original else [fill]
    return fill


def describe_budget(settings: dict) -> str:
    """Return how many tokens stand for the minutes of a study; nothing where the settings give the tokens."""
    if "minutes" not in settings:
        return ""
    return (
        f"At most {settings['token_budget']:,} tokens a model, what {settings['minutes']:g} minutes of training were "
        "measured to hold on this machine."
    )


def describe_study(settings: dict, trainings: pd.DataFrame, inputs: dict[str, Path]) -> dict:
    """Return what the page shows of how its numbers were made."""
    starts = sorted(set(trainings.get("initialisation", [])))
    scale, track = settings["scale"], settings.get("track")
    command = "make own CORPUS=<texts>" if scale == "own" else f"make reproduce SCALE={scale}"
    return {key: settings.get(key) for key in ("title", "question", "panels")} | {
        "scale": f"{scale} track={track}" if track else scale,
        "command": command + (f" TRACK={track}" if track else ""),
        "initialisation": "; ".join(starts),
        "budget": describe_budget(settings),
        "models": sorted(set(trainings.get("objective", []))),
        "versions": library_versions(),
        "artifacts": [
            {"stage": stage, "artifacts": len(paths), "names": ", ".join(map(name_of, paths))}
            for stage in ("corpus", "start", "pretrain")
            if (paths := list(dict.fromkeys(of_stage(inputs, stage))))
        ],
    }
