"""A corpus and settings so small that a whole study takes seconds."""

import json
import random
from pathlib import Path

import pytest

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


@pytest.fixture(scope="module")
def toy(tmp_path_factory, tokenizer):
    """Return a folder with a corpus and an encoder for BERTScore."""
    from mlm_vs_clm.models.starts import start_from_scratch

    folder = tmp_path_factory.mktemp("toy")
    write_corpus(folder / "corpus.jsonl")
    shape = {"layers": 2, "width": 32, "heads": 2, "positions": 128}
    start_from_scratch(shape, tokenizer, 0).bert.save_pretrained(folder / "encoder")
    tokenizer.save_pretrained(folder / "encoder")
    return folder


def settings(toy, store):
    return [
        "corpus=own",
        f"corpus.path={toy / 'corpus.jsonl'}",
        "corpus.task=ner",
        "scale=smoke",
        "model=tiny",
        "model.corpora=[own]",
        "scale.training.token_budget=1500",
        "scale.training.max_subwords=128",
        "scale.grid.corpora=[own]",
        "scale.resamples=20",
        "scoring.metrics=[bleu,rougeL,bertscore]",
        f"scoring.encoder={toy / 'encoder'}",
        "scoring.layer=2",
        "workers=1",
        "precision=fp32",
        f"store={store / 'store'}",
        f"results={store / 'results'}",
    ]


MEASURED = ["seconds", "peak_memory_mb", "tokens_per_second"]


def contents(folder):
    """Return the bytes of every result, but for measured columns and the page and tables drawn from them."""
    import pandas as pd

    kept = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name in ("ledger.csv", "training.csv"):
            kept[name] = pd.read_csv(path).drop(columns=MEASURED, errors="ignore").to_csv()
        elif path.is_file() and path.name != "report.html":
            if not path.name.startswith(("training", "cost")):
                kept[name] = path.read_bytes()
    return kept
