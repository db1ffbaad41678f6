"""Help, a misspelt setting and the check of a corpus load none of the large libraries; nor does choosing the blanks."""

import os
import subprocess
import sys

import pytest
from tiny_studies import ROOT, write_corpus

from mlm_vs_clm.console import READER_GONE
from mlm_vs_clm.pipeline.command import _explain

HEAVY = {"torch", "transformers", "matplotlib", "statsmodels", "spacy", "pandas"}


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    write_corpus(folder / "corpus.jsonl")
    return [
        "corpus=own",
        f"corpus.path={folder / 'corpus.jsonl'}",
        "corpus.task=ner",
        f"store={folder / 'store'}",
    ]


def imported(*arguments):
    """Return exit code, output, and the top-level modules that a stage script imported."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    said = done.stdout + "\n".join(line for line in done.stderr.splitlines() if line not in lines)
    return done.returncode, said, {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


@pytest.mark.parametrize(
    ("script", "overrides", "code", "told"),
    [
        (
            "report",
            ["--help"],
            0,
            "track: bert_t5, canaries, causal_start, continuation, dial, disclosure, domains, ettin, kinds",
        ),
        ("score", ["maskin.ratio=0.3"], 1, "maskin.ratio"),
    ],
)
def test_help_and_mistakes_load_no_large_library(script, overrides, code, told):
    found, said, modules = imported(f"experiments/{script}.py", *overrides)
    assert found == code and told in said
    assert not code or (said.startswith("error: ") and "\n" not in said)
    assert "hydra" in modules and not modules & HEAVY


@pytest.mark.parametrize(("script", "more"), [("corpus", ["check=true"]), ("corrupt", ["scale=smoke"])])
def test_the_check_of_a_corpus_and_its_blanks_load_no_large_library(script, more, own):
    found, said, modules = imported(f"experiments/{script}.py", *own, *more)
    assert found == 0 and ("documents" if script == "corpus" else "corrupt: ") in said
    assert not modules & (HEAVY - {"pandas"})  # scikit-learn, whose stopwords both count, brings pandas along


@pytest.mark.parametrize(
    "command",
    [["experiments/report.py", "--help"], ["-m", "mlm_vs_clm", "store", "list", "--store", "{store}"]],
)
def test_reader_that_goes_away_ends_a_command_quietly(command, tmp_path):
    """As `command | head` does."""
    read, write = os.pipe()
    os.close(read)
    words = [word.format(store=tmp_path) for word in command]
    with os.fdopen(write, "w") as gone:
        done = subprocess.run(
            [sys.executable, *words], cwd=ROOT, stdout=gone, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (READER_GONE, "")


def test_another_broken_pipe_is_told():
    """A worker that dies breaks one too: nothing ends in silence."""
    assert "Broken pipe" in str(_explain(BrokenPipeError(32, "Broken pipe")))
