"""From finished artifacts to the tables, cards and examples of the report."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd

from ..corpora import load_split
from ..errors import StudyError
from ..evidence.answers import answer
from ..evidence.claims import hash_rules, list_comparisons
from ..evidence.comparisons import compare_maskings
from ..evidence.competence import exclude, judge_competence
from ..evidence.correlation import compare_at_same_masking, correlate_tables
from ..evidence.curve import compare_along, exclude_along, list_learning
from ..evidence.documents import list_documents
from ..evidence.equal_compute import compare_at_equal_compute, name_method
from ..evidence.gap import compare_by_seed, compare_text, compare_utility
from ..evidence.headroom import exclude_no_room, share_headroom
from ..evidence.measuring import Study
from ..evidence.sanity import judge_metrics
from ..evidence.tables import COLUMNS
from ..evidence.variants import pair_variants
from ..evidence.verdicts import judge_table, list_margins
from ..files import write_table
from ..metrics import EXACT_MATCH, LENGTH_ERROR
from ..metrics.metric import normalise
from ..metrics.proxies import NONWORDS, make_nonwords
from ..report.build import build
from ..report.frames import Frames
from ..report.wording import write_sentences
from .artifacts import inputs_of, library_versions, name_of, read_record
from .cells import (
    cluster_by_author,
    describe_score,
    describe_task,
    load_blanked_texts,
    load_documents,
    load_filled,
    of_curve,
    of_stage,
    read_main,
    read_scored,
    read_trained,
)
from .config import ObjectiveConfig, TrainingConfig
from .scoring import MetricStatistics, summarise

JUDGED = ("gap", "comparisons", "utility_gap", "runs", "curve", "equal_compute")  # tables of differences
Tables = dict[str, pd.DataFrame]
SHOWN = 4  # documents per corpus on the page, the first ones


def write_report(settings: dict, inputs: dict[str, Path], folder: Path, wordnet: Path) -> None:
    """Write the CSV tables, figures and page of one study into `folder`; words are looked up in `wordnet`."""
    tables = gather_tables(settings, inputs)
    nonwords = score_nonwords(inputs, to_main(settings), wordnet, settings["resamples"])
    tables["scores"] = pd.concat([tables["scores"], nonwords], ignore_index=True)
    if "reference" in settings:
        compared = compare_fills(inputs, settings["reference"], settings["resamples"])
        tables["scores"] = pd.concat([tables["scores"], compared], ignore_index=True)
    examples = gather_examples(inputs, settings["examples"], to_main(settings))
    cards = [
        json.loads((path / "card.json").read_text(encoding="utf-8")) for path in of_stage(inputs, "corpus")
    ]
    build(Frames(tables, examples, cards, describe_study(settings, tables, inputs)), folder)


def correlate_cells(settings: dict, inputs: dict[str, Path], folder: Path) -> None:
    """Write `correlation.csv` from the scored cells and task results among the inputs."""
    rows = correlate_tables(
        gather_scores(inputs), gather_downstream(inputs), settings["resamples"], settings["bound"]
    )
    write_table(folder / "correlation.csv", rows, COLUMNS["correlation"])


def to_main(settings: dict) -> tuple[str, float]:
    """Return strategy and ratio of the main cell of a report."""
    return settings["main"]["strategy"], settings["main"]["ratio"]


def gather_tables(settings: dict, inputs: dict[str, Path]) -> dict[str, pd.DataFrame]:
    """Return every table of a study, as the functions of `analysis` make them from its stored cells."""
    rules, resamples = settings["rules"], settings["resamples"]
    scored, trained = read_main(inputs, to_main(settings))
    arms = {one.cell.arm for one in scored}  # what was not run, `answers` says
    comparisons = pair_variants(list_comparisons(rules), arms)
    along = [read_scored(path) for path in of_curve(inputs)]
    tables = {
        "study": describe_settings(settings),
        "variants": pd.DataFrame(settings.get("variants", []), columns=COLUMNS["variants"]),
        "scores": gather_scores(inputs),
        "downstream": gather_downstream(inputs),
        "competence": judge_competence(map(read_scored, of_stage(inputs, "score")), resamples),
        "gap": compare_text(scored, comparisons, resamples),
        "utility_gap": compare_utility(trained, comparisons, resamples),
        "runs": compare_by_seed(scored, trained, comparisons, resamples),
        "ledger": gather_ledger(inputs),
        "equal_compute": compare_at_equal_compute(scored, comparisons, resamples),
        "training": gather_training(inputs, {one["setting"] for one in settings.get("variants", [])}),
        "correlation": pd.read_csv(inputs["correlation"] / "correlation.csv"),
    }
    learning, curve = list_learning(along, resamples), compare_along(along, comparisons, resamples)
    tables["learning"], tables["curve"] = exclude_along(learning, curve, along, scored, resamples)
    if "ratings" in settings:
        tables["ratings"] = pd.read_csv(settings["ratings"]["path"])
    tables["headroom"] = share_headroom(map(read_trained, of_stage(inputs, "downstream")), resamples)
    tables["sanity"] = judge_metrics(tables["scores"], tables["competence"], to_main(settings))
    for name in ("gap", "utility_gap", "runs", "equal_compute"):
        tables[name] = exclude(tables[name], tables["competence"], to_main(settings))
    tables["utility_gap"] = exclude_no_room(tables["utility_gap"], tables["headroom"], to_main(settings))
    sources = tables["scores"], tables["downstream"], tables["competence"]
    slopes = compare_at_same_masking(*sources, resamples)
    tables["correlation"] = pd.concat([tables["correlation"], slopes], ignore_index=True)
    cells = [read_trained(path) for path in of_stage(inputs, "downstream")]
    study = Study(map(read_scored, of_stage(inputs, "score")), cells, tables, resamples)
    answers, tables["comparisons"] = answer(rules, study), compare_maskings(comparisons, study)
    tables["documents"] = list_documents(map(read_scored, of_stage(inputs, "score")), along)
    tables |= {"answers": answers, "sentences": write_sentences(answers, rules)}
    return tables | judge_tables(tables, rules, to_main(settings))


def judge_tables(tables: dict[str, pd.DataFrame], rules: list[dict], main: tuple[str, float]) -> Tables:
    """Return the tables of differences with their verdicts; margins are those of the first claim."""
    margins = list_margins(tables["scores"], tables["downstream"], main, rules[0]["margin"])
    return {name: judge_table(name, tables[name], margins, tables["answers"]) for name in JUDGED}


def describe_settings(settings: dict) -> pd.DataFrame:
    """Return one row: which study this is, its main cell, and the hash of the rules that judge it."""
    strategy, ratio = to_main(settings)
    about = {"scale": settings["scale"], "track": settings.get("track", "matched")}
    main = {"main_strategy": strategy, "main_ratio": ratio}
    return pd.DataFrame([about | main | {"rules": hash_rules(settings["rules"])}])


def gather_scores(inputs: dict[str, Path]) -> pd.DataFrame:
    """Return one row per cell, scope and metric."""
    return _gather(of_stage(inputs, "score"), describe_score)


def score_nonwords(
    inputs: dict[str, Path], main: tuple[str, float], wordnet: Path, resamples: int
) -> pd.DataFrame:
    """Return rows of the table `scores`: non-words among the fills of every arm at the main cell; NaN without WordNet."""
    splits, rows = (load_split(path, "pretrain") for path in of_stage(inputs, "corpus")), []
    try:
        metric = make_nonwords((document.text for split in splits for document in split), wordnet)
    except StudyError as error:
        metric, absent = None, {"value": math.nan, "n": 0, "signature": "", "reason": str(error)}
    for path in of_stage(inputs, "score"):
        about, read = describe_score(path), inputs_of(path)
        if (about["strategy"], about["ratio"]) != main:
            continue
        if metric:
            fills = metric.statistics([one.fills for one in load_filled(read["generation"])])
            clusters = cluster_by_author(load_documents(read["corpus"], "generate"))
            found = summarise(MetricStatistics("fills", NONWORDS, metric, fills), clusters, resamples)
        else:
            found = {"scope": "fills", "metric": NONWORDS} | absent
        rows.append(about | found | {"artifact": name_of(path)})
    return pd.DataFrame(rows)


def compare_fills(inputs: dict[str, Path], reference: str, resamples: int) -> pd.DataFrame:
    """Return rows of the table `scores` for every cell: how often an arm fills a blank as the reference does, and how its lengths err.

    Raises StudyError for a reference that does not fill every cell.
    """
    cells = [(describe_score(path), inputs_of(path), name_of(path)) for path in of_stage(inputs, "score")]
    place = itemgetter("corpus", "strategy", "ratio", "seed")
    known = {place(about): read["generation"] for about, read, _ in cells if about["arm"] == reference}
    rows = []
    for about, read, name in cells:
        if place(about) not in known:
            raise StudyError(
                f"track.reference={reference} does not fill {place(about)}: name an arm of every cell"
            )
        documents, blanked = load_blanked_texts(read)
        fills, others = (
            [one.fills for one in load_filled(each)] for each in (read["generation"], known[place(about)])
        )
        measured = {
            "agreement": (EXACT_MATCH, EXACT_MATCH.statistics(fills, others)),
            "length_error": (
                LENGTH_ERROR,
                LENGTH_ERROR.statistics(fills, [one.originals() for one in blanked]),
            ),
        }
        for metric, (how, numbers) in measured.items():
            one = MetricStatistics("fills", metric, how, numbers)
            rows.append(about | summarise(one, cluster_by_author(documents), resamples) | {"artifact": name})
    return pd.DataFrame(rows)


def gather_downstream(inputs: dict[str, Path]) -> pd.DataFrame:
    """Return one row per training set and measure."""
    return _gather(of_stage(inputs, "downstream"), describe_task)


def _gather(paths: Iterable[Path], describe: Callable[[Path], dict]) -> pd.DataFrame:
    frames = [
        pd.read_csv(path / "scores.csv").assign(**describe(path), artifact=name_of(path)) for path in paths
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def gather_ledger(inputs: dict[str, Path]) -> pd.DataFrame:
    """Return one row per generated cell: its cost in sums, counted and measured."""
    rows = []
    for path in of_stage(inputs, "score"):
        about, generation = describe_score(path), inputs_of(path)["generation"]
        names = ("corpus", "arm", "context", "length", "order", "strategy", "ratio", "seed", "model")
        record, counted = read_record(generation), json.loads((generation / "ledger.json").read_text())
        method = shorten_method(record["settings"], about["model"])
        place = {"precision": record["settings"].get("precision", "none"), "artifact": name_of(generation)}
        named = {name: about[name] for name in names} | {"method": method}
        rows.append(named | counted | record["measured"] | place)
    return pd.DataFrame(rows)


def shorten_method(settings: dict, model: str) -> str:
    """Return eight letters that arms share which differ in order and pace alone, and fill with the same model."""
    return hashlib.sha256(f"{name_method(settings)} {model}".encode()).hexdigest()[:8]


def gather_examples(inputs: dict[str, Path], corpora: list[str], main: tuple[str, float]) -> list[dict]:
    """Return, for SHOWN documents of each of the corpora, how every arm filled the same blanks of the main cell."""
    found: dict[tuple[str, str], dict] = {}
    for path in of_stage(inputs, "score"):
        cell, read = describe_score(path), inputs_of(path)
        if (cell["strategy"], cell["ratio"]) != main or cell["corpus"] not in corpora:
            continue
        _, blanked = load_blanked_texts(read)
        filled = {one.id: one for one in load_filled(read["generation"])}
        for shown in blanked[:SHOWN]:
            words = [shown.text[start:end] for start, end in shown.words]
            about = {"corpus": cell["corpus"], "strategy": main[0], "ratio": main[1], "document": shown.id}
            original = _segments(shown.text, list(shown.words), dict.fromkeys(shown.blanks, "blank"))
            example = found.setdefault((cell["corpus"], shown.id), about | {"original": original, "arms": {}})
            if one := filled.get(shown.id):
                pairs = zip(shown.blanks, one.fills, strict=True)
                marks = {blank: _judge_fill(fill, words[blank]) for blank, fill in pairs}
                example["arms"][cell["arm"]] = _segments(one.text, one.spans, marks)
    return list(found.values())


def _judge_fill(fill: str, original: str) -> str:
    return "right" if normalise(fill) == normalise(original) else "wrong"


def _segments(text: str, spans: list, marks: dict[int, str]) -> list[list[str]]:
    """Return the text as [piece, the mark of the blank that stood there or nothing], in order."""
    segments, cursor = [], 0
    for number, mark in sorted(marks.items()):
        span = spans[number]
        if span is None or span[0] < cursor:
            continue
        segments += [[text[cursor : span[0]], ""], [text[span[0] : span[1]], mark]]
        cursor = span[1]
    return [segment for segment in [*segments, [text[cursor:], ""]] if segment[0]]


def gather_training(inputs: dict[str, Path], varied: Iterable[str] = ()) -> pd.DataFrame:
    """Return the training curve of each language model, with a column per varied setting that a training has.

    Where settings vary, `nats_per_character` is the dev loss of objectives that bound the likelihood of the whole text.
    """
    frames = []
    for path in dict.fromkeys(of_stage(inputs, "pretrain")):
        record, read = read_record(path), inputs_of(path)
        about = {
            "objective": record["settings"]["objective"]["name"],
            "model": read_record(read["start"])["settings"]["name"],
            "initialisation": _describe_start(read["start"]),
            "corpora": "+".join(key.removeprefix("corpus/") for key in read if key.startswith("corpus/")),
            "tokens_per_second": record["measured"]["tokens_per_second"],
            "artifact": name_of(path),
        }
        known = _flatten_training(record["settings"])
        about |= {key: known[key] for key in sorted(varied) if key in known}
        curve = pd.read_csv(path / "curves.csv").assign(**about)
        if varied:
            budgets = json.loads((path / "training.json").read_text())["budgets"]
            bounds = {
                (one["budget"], name): bound
                for one in budgets
                for name, bound in one.get("nats_per_character", {}).items()
            }
            places = zip(curve["budget"], curve["corpus"], strict=True)
            curve["nats_per_character"] = [bounds.get(place) for place in places]
        frames.append(curve)
    return pd.concat(frames) if frames else pd.DataFrame()


def _flatten_training(settings: dict) -> dict[str, Any]:
    """Return the settings of a training by Hydra key, those that its record leaves out at their defaults."""
    objective = asdict(ObjectiveConfig()) | settings["objective"]
    training = asdict(TrainingConfig()) | settings["training"]
    return {f"objective.{key}": value for key, value in objective.items()} | {
        f"scale.training.{key}": value for key, value in training.items()
    }


def _describe_start(folder: Path) -> str:
    model = read_record(folder)["settings"]
    if model["start"] == "encoder":
        part = f"lower {model['layers']} layers of " if model.get("layers") else ""
        return f"{part}bidirectional encoder {model['encoder'].removeprefix('package:')}, new output layer"
    if model["start"] == "checkpoint":
        head = ", new output layer" if json.loads((folder / "start.json").read_text())["has_new_head"] else ""
        kind = (
            "causal model that now sees both sides"
            if model.get("bidirectional")
            else f"{model['kind']} model"
        )
        return f"{model['name']}, a pretrained {kind}{head}"
    return "random weights"


def compare_rules(rules: list[dict], inputs: dict[str, Path]) -> str:
    """Return the hash of the rules that judge, and of those in force when the cells were scored."""
    used = hash_rules(rules)
    made = {read_record(path)["measured"].get("rules", "unknown") for path in of_stage(inputs, "score")}
    if made == {used}:
        return f"Rules {used}, the same as when the cells were scored."
    return f"Rules {used}; those when the cells were scored: {', '.join(sorted(made))}. Rules judge scores and do not change them."


def describe_budget(settings: dict) -> str:
    """Return how many tokens stand for the minutes of a study; nothing where the settings give the tokens."""
    if "minutes" not in settings:
        return ""
    return (
        f"At most {settings['token_budget']:,} tokens a model, what {settings['minutes']:g} minutes of training were "
        "measured to hold on this machine."
    )


def describe_study(settings: dict, tables: dict[str, pd.DataFrame], inputs: dict[str, Path]) -> dict:
    """Return what the page shows of how its numbers were made."""
    starts = sorted(set(tables["training"].get("initialisation", [])))
    scale, track = settings["scale"], settings.get("track")
    command = "make own CORPUS=<texts>" if scale == "own" else f"make reproduce SCALE={scale}"
    return {key: settings.get(key) for key in ("title", "question", "panels")} | {
        "rules": compare_rules(settings["rules"], inputs),
        "scale": f"{scale} track={track}" if track else scale,
        "command": command + (f" TRACK={track}" if track else ""),
        "initialisation": "; ".join(starts),
        "budget": describe_budget(settings),
        "models": sorted(set(tables["training"].get("objective", []))),
        "versions": library_versions(),
        "artifacts": [
            {"stage": stage, "artifacts": len(paths), "names": ", ".join(map(name_of, paths))}
            for stage in ("corpus", "start", "pretrain")
            if (paths := list(dict.fromkeys(of_stage(inputs, stage))))
        ],
    }
