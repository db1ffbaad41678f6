"""The model of an arm as a Hugging Face folder with its card: what it was trained on, what it scores, what it is not for.

mlm-vs-clm model-card mlm --results results/laptop --store outputs --out outputs/models/mlm
"""

import argparse
import json
import shutil
from pathlib import Path

import pandas as pd
import yaml

from ..console import add_store
from ..errors import StudyError
from ..evidence.tables import at_main_cell, main_cell, read_study, read_table
from ..files import filling_empty
from ..pipeline.artifacts import inputs_of, name_of, read_record, refuse_damaged
from ..report.study_folder import load_background
from ..report.style import name_metric
from ..report.tables import markdown_table
from ..training.budgets import choose_budget
from ..training.objectives import OBJECTIVES

CARD = "README.md"
SHOWN = ("exact_match", "exact_match_content", "bleu", "nats_per_character")
NAMED = ("torch", "transformers", "tokenizers")  # versions that a card has
TASKS = {"masked": "fill-mask", "causal": "text-generation", "seq2seq": "text2text-generation"}


def find_training(arm: str, study: Path, store: Path) -> tuple[Path, Path, pd.DataFrame]:
    """Return the checkpoint folder of an arm's model, its training's folder, and the scores of what it filled at the main cell.

    Raises StudyError where the study has no such arm, the arm has no model that was trained, or the store does not hold it.
    """
    scores, ledger = (read_table(name, study) for name in ("scores", "ledger"))
    main = main_cell({"study": read_study(study)})
    rows = at_main_cell(scores[scores["arm"] == arm], main)
    if rows.empty:
        trained = at_main_cell(ledger[ledger["model"] != "none"], main)
        choices = ", ".join(sorted(set(trained["arm"])))
        raise StudyError(f"{study} has no arm {arm}: choose one of {choices}")
    generations = at_main_cell(ledger[ledger["arm"] == arm], main).sort_values("seed")
    generation = store / generations["artifact"].iloc[0]
    if not generation.is_dir():
        raise StudyError(f"{generation} is not stored: run `{load_background(study).about['command']}` first")
    refuse_damaged(generation)
    training = inputs_of(generation).get("model")
    if training is None:
        raise StudyError(f"{arm} has no model: it is a floor or a bound")
    if not (training / "training.json").is_file():
        raise StudyError(f"{arm} fills with a checkpoint as it comes, which the study did not train")
    folder, _ = choose_budget(training, generations["corpus"].iloc[0])
    written = [
        (generation.corpus, generation.seed)
        for generation in generations.itertuples(index=False)
        if (store / generation.artifact).is_dir()
        and inputs_of(store / generation.artifact).get("model") == training
        and choose_budget(training, generation.corpus)[0] == folder
    ]
    is_by_it = [place in written for place in zip(rows["corpus"], rows["seed"], strict=True)]
    return folder, training, rows[is_by_it]


def write_card(arm: str, study: Path, folder: Path, training: Path, scores: pd.DataFrame) -> str:
    """Return the card of an arm's model as Markdown, with the header that a hub reads."""
    about, background = json.loads((training / "training.json").read_text()), load_background(study)
    record, objective = read_record(training), about["objective"]
    strategy, ratio = main_cell({"study": read_study(study)})
    kind = OBJECTIVES[objective].kind
    point = next(budget for budget in about["budgets"] if str(budget["budget"]) == folder.name)
    head = {
        "library_name": "transformers",
        "pipeline_tag": TASKS[kind],
        "tags": ["mlm-vs-clm", "text-infilling", objective],
    }
    noise = ", ".join(f"{key} {value}" for key, value in about["noise"].items())
    read = {name.removeprefix("corpus/") for name in inputs_of(training)}
    corpora = [
        f"- **{card['name']}**: {card['origin']}. Licence: {card['licence']}."
        for card in background.cards
        if card["name"] in read
    ]
    loss = ", ".join(f"{corpus} {value:.3f}" for corpus, value in point["dev_loss"].items())
    lines = [
        f"---\n{yaml.safe_dump(head, sort_keys=False)}---",
        f"# {arm}",
        f"The {kind} language model of the arm `{arm}` of the study mlm-vs-clm ({background.about['command']}). It was made to be compared "
        "with others that were trained alike, not to be used for its text.",
        "## Training",
        f"- **Objective**: `{objective}` ({noise})",
        f"- **Started from**: {background.about['initialisation']}",
        f"- **Seen**: {point['tokens_seen']:,} tokens, {point['tokens_predicted']:,} of them predicted; seed {about['seed']}",
        f"- **Held-out loss** (nats): {loss}",
        f"- **Made by**: {name_of(training)}, code {record['commit'][:12]}, "
        + ", ".join(f"{name} {record['libraries'][name]}" for name in NAMED if name in record["libraries"]),
        "## Text it was trained on",
        *(["\n".join(corpora)] if corpora else []),
        "## Scores",
        f"Of the arm at the main cell of `{study.absolute().name}`: strategy {strategy}, {ratio:.0%} of the words hidden; means over the draws that this model filled.",
        tabulate_scores(scores),
        "A score means something only beside the floors of the same study (`constant`, `bigram_both`, `unfilled`).",
        "## Use",
        f'```python\nfrom blankfill import load_model, load_tokenizer\n\nmodel, tokenizer = load_model(".", "{kind}"), load_tokenizer(".")\n```',
        "## Limits",
        f"After its start it read {point['tokens_seen']:,} tokens of the texts above. What it writes may be false, and it may repeat text that "
        "it was trained on. No person has rated it, and it was not tested for bias or harm.",
    ]
    return "\n\n".join(lines) + "\n"


def tabulate_scores(scores: pd.DataFrame) -> str:
    """Return the means of the measures in SHOWN by corpus, as a table in Markdown."""
    shown = scores[scores["metric"].isin(SHOWN)]
    means = shown.groupby(["corpus", "metric"], sort=False)["value"].agg(["mean", "count"])
    rows = [
        (corpus, name_metric(metric), f"{row['mean']:.3f}", f"{row['count']:.0f}")
        for (corpus, metric), row in means.iterrows()
    ]
    return markdown_table(("corpus", "measure", "value", "draws"), rows, numbers=2)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `mlm-vs-clm model-card`."""
    parser.add_argument("arm", help="an arm of the study that has a model, such as mlm")
    parser.add_argument(
        "--results", type=Path, required=True, help="a folder of results, such as results/laptop"
    )
    add_store(parser)
    parser.add_argument("--out", type=Path, required=True, help="a new or empty folder")


def run(chosen: argparse.Namespace) -> None:
    """Copy the checkpoint beside its card, and print the folder."""
    folder, training, scores = find_training(chosen.arm, chosen.results, chosen.store)
    card = write_card(chosen.arm, chosen.results, folder, training, scores)
    with filling_empty(chosen.out):
        for file in sorted(folder.iterdir()):
            shutil.copyfile(file, chosen.out / file.name)
        (chosen.out / CARD).write_text(card, encoding="utf-8", newline="\n")
    print(chosen.out)
