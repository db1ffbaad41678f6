"""The tutorials as written: their code blocks run, in order, in a copy of the source tree, with tiny models."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from code_blocks import read_blocks
from tiny_studies import ROOT, write_corpus
from tiny_texts import SHAPE

from mlm_vs_clm.training.starts import start_from_scratch

pytestmark = pytest.mark.slow
TINY = "model=tiny scale.training.token_budget=1200 scale.resamples=20 scale.task_seeds.genres=1 scale.window_words=64"
SMALL = "scoring.metrics=[bleu] scoring.encoder={root}/encoder scoring.layer=2 precision=fp32 workers=1"


def blocks(tutorial, language):
    """Return the code blocks of a language; ```sh is for what a reader does and a test does not."""
    return [block.code for block in read_blocks(ROOT / "docs" / tutorial) if block.language == language]


@pytest.fixture
def tree(tmp_path, tokenizer, networks):
    """Return a copy of what a clone holds, with a tiny encoder and a tiny SmolLM2."""
    for name in ("conf", "docs", "experiments", "src", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "CITATION.cff"):
        shutil.copy(ROOT / name, tmp_path)
    start_from_scratch(SHAPE, tokenizer, 0).bert.save_pretrained(tmp_path / "encoder")
    tokenizer.save_pretrained(tmp_path / "encoder")
    for part in networks["gpt2"]:
        part.save_pretrained(tmp_path / "causal")
    settings = tmp_path / "conf" / "model" / "smollm2.yaml"
    own = f"source: {tmp_path}/causal\nopening: <|end|>\n"
    settings.write_text(
        re.sub(r"^(source|opening): .*\n", "", settings.read_text(), flags=re.MULTILINE) + own
    )
    return tmp_path


def run_all(tree, commands, overrides=""):
    """Run shell lines in the tree, each experiment with more overrides; return what all of them printed."""
    python = tree / "bin" / "python"
    python.parent.mkdir()
    smaller = f"{TINY} {SMALL.format(root=tree)} {overrides}"
    python.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        f"words, more = sys.argv[1:], {smaller.split()}\n"
        "if words[0].startswith('experiments/'):\n"
        "    words = [*{word.partition('=')[0]: word for word in words + more}.values()]\n"
        "os.execv(sys.executable, [sys.executable, *words])\n"
    )
    python.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(tree / "src"),
        "PYTEST_ADDOPTS": "-n 0 -k numbers",
    }
    script = "set -e\n" + "\n".join(commands)
    done = subprocess.run(["sh", "-c", script], cwd=tree, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def write_texts(folder):
    """Write the toy corpus as the tutorial asks: a .txt a text, and a table of labels."""
    folder.mkdir()
    write_corpus(folder / "corpus.jsonl", 60)
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    (folder / "corpus.jsonl").unlink()
    for row in rows:
        (folder / f"{row['id']}.txt").write_text(row["text"])
    table = ["id,labels", *(f"{row['id']},{';'.join(row['labels'])}" for row in rows)]
    (folder / "labels.csv").write_text("\n".join(table) + "\n")


def test_own_corpus(tree):
    write_texts(tree / "texts")
    told = run_all(tree, blocks("tutorial-own-corpus.md", "bash"))
    assert (tree / "results" / "own" / "report.html").is_file()
    rows = (tree / "results" / "own" / "scores.csv").read_text()
    assert all(
        f"\nown,{arm}," in rows for arm in ("mlm", "clm", "clm_smollm2", "unfilled", "unigram", "oracle")
    )
    assert "own,clm," in told and "sailor" not in told


def test_masking_strategy(tree):
    function, line = blocks("tutorial-masking-strategy.md", "python")
    masking = tree / "src" / "mlm_vs_clm" / "masking.py"
    head = "STRATEGIES = {\n"
    before = masking.read_text()
    assert before.count(head) == 1
    masking.write_text(before.replace(head, f"{function}\n\n{head}{line}"))
    (settings,) = blocks("tutorial-masking-strategy.md", "yaml")
    (tree / "conf" / "masking" / "numbers.yaml").write_text(settings)
    write_corpus(tree / "corpus.jsonl")
    told = run_all(
        tree,
        blocks("tutorial-masking-strategy.md", "bash"),
        f"corpus=own corpus.path={tree}/corpus.jsonl scale.sizes.own.generate=20",
    )
    summary = next((tree / "outputs" / "corrupt").glob("*/summary.json")).read_text()
    # Six numbers in each of 20 texts.
    assert '"strategy": "numbers"' in summary and '"blanks": 120' in summary
    assert told.count("score: ") == 2 and "passed" in told
