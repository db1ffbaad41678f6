"""A corpus and settings so small that a whole study takes seconds."""

import json
import logging
import random
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from tiny_texts import SHAPE

ROOT = Path(__file__).parents[2]
SUBJECTS = ["The doctor", "A sailor", "The teacher", "Our neighbour", "The old judge", "A young cook"]
VERBS = ["finds", "sells", "paints", "hides", "repairs", "remembers"]
OBJECTS = {"sea": ["the boat", "an anchor", "a net"], "town": ["the school", "a road", "the market"]}


def write_corpus(path, n=60):
    """Write `n` distinct documents of two labels, with the objects as entities."""
    draw = random.Random(0)
    with path.open("w") as file:
        for number in range(n):
            label = ["sea", "town"][number % 2]
            text, entities = "", []
            for _ in range(6):
                thing = draw.choice(OBJECTS[label])
                text += f"{draw.choice(SUBJECTS)} {draw.choice(VERBS)} "
                entities.append([len(text), len(text) + len(thing), "Thing"])
                text += f"{thing}, number {draw.randrange(999)}. "
            row = {"id": f"d{number}", "text": text.strip(), "labels": [label], "entities": entities}
            file.write(json.dumps(row) + "\n")


def write_toy(folder, tokenizer):
    """Write a corpus and an encoder for BERTScore."""
    from mlm_vs_clm.training.starts import start_from_scratch

    write_corpus(folder / "corpus.jsonl")
    start_from_scratch(SHAPE, tokenizer, 0).bert.save_pretrained(folder / "encoder")
    tokenizer.save_pretrained(folder / "encoder")
    return folder


def settings(toy, store):
    return [
        "corpus=own",
        f"corpus.path={toy / 'corpus.jsonl'}",
        "corpus.task=ner",
        "scale=smoke",
        "scale.sizes.own={generate: 20, dev: 5, test: 20}",
        "model=tiny",
        "model.corpora=[own]",
        "scale.training.token_budget=1500",
        "scale.training.max_subwords=128",
        "scale.resamples=20",
        "scoring.metrics=[bleu,bertscore]",
        f"scoring.encoder={toy / 'encoder'}",
        "scoring.layer=2",
        "workers=1",
        "precision=fp32",
        f"store={store / 'store'}",
        f"results={store / 'results'}",
    ]


ALSO = "{strategy: random, ratio: 0.5, arms: [infill, mlm_left, constant, bigram_left, bigram_both]}"
GRID = [
    "scale.grid.corpora=[own]",
    "scale.grid.arms=[mlm,clm,seq2seq_kept,unfilled,oracle]",
    "scale.grid.maskings=[{strategy: random, ratio: 0.5}, {strategy: entities, ratio: 1.0}]",
    f"scale.grid.also=[{ALSO}]",
]


def keep_last(overrides):
    """Return overrides with the last of each setting alone, as a stage refuses one that is typed twice."""
    return [*{word.partition("=")[0]: word for word in overrides}.values()]


def command(stage, toy, store, *overrides):
    """Return the command of a stage on the toy corpus."""
    grid = GRID if stage == "report" else []
    return [
        sys.executable,
        f"experiments/{stage}.py",
        *keep_last([*settings(toy, store), *grid, *overrides]),
    ]


def run(stage, toy, store, *overrides, **options):
    """Run a stage; return what it printed."""
    asked = command(stage, toy, store, *overrides)
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def run_here(stage, *overrides):
    """Run a stage in this process, which has the large libraries already; return what `subprocess.run` would."""
    import pytest
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.hydra_config import HydraConfig

    from mlm_vs_clm.tools.__main__ import run_stage

    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(ROOT)
        patch.setattr(sys, "argv", sys.argv)
        # Hydra puts its own in these places.
        patch.setattr(logging.getLogger(), "handlers", [])
        patch.setattr(GlobalHydra.instance(), "hydra", None)
        patch.setattr(HydraConfig.instance(), "cfg", None)
        try:
            code = run_stage(stage, keep_last(overrides))
        except SystemExit as stopped:
            code = stopped.code
            if isinstance(code, str):
                print(code, file=err)
    return subprocess.CompletedProcess(stage, int(bool(code)), out.getvalue(), err.getvalue())


MEASURED = ["seconds", "peak_memory_mb", "tokens_per_second"]


def contents(folder):
    """Return the bytes of every result, but for measured columns and the page and tables drawn from them."""
    import pandas as pd

    kept = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name in ("cells.csv", "ledger.csv", "training.csv", "trainings.csv"):
            kept[name] = pd.read_csv(path).drop(columns=MEASURED, errors="ignore").to_csv()
        elif path.is_file() and path.name != "report.html":
            if not path.name.startswith(("training.", "training_", "cost")):
                kept[name] = path.read_bytes()
    return kept
