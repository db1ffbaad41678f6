"""The code blocks of a page, and a child process that runs those in Python, each page in a namespace and a folder of its own.

A checkpoint that a block names, by hub id or as a folder of `outputs/models`, is a tiny network of its kind with random weights.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import tiny_models

from mlm_vs_clm.files import ROOT

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CHECKPOINT = re.compile(r"[\"']((?:[\w.-]+/[\w.-]+)|outputs/models/[\w.-]+)[\"']")
SNAPSHOT = "0" * 40
# What a name holds, and the class (a key of NETWORKS) that stands for it; the first that fits counts.
CLASSES = {
    "modernbert|ettin-encoder": "modernbert",
    "roberta": "roberta",
    "bart": "bart",
    "bert|minilm|mlm": "bert",
    "t5": "t5",
    "gpt|clm": "gpt2",
    "llama|smollm|ettin-decoder": "llama",
}
RUN = """
import os, sys
from code_blocks import read_blocks
from pathlib import Path
for number, page in enumerate(map(Path, sys.argv[2:])):
    os.chdir(Path(sys.argv[1]) / str(number))
    namespace = {"__name__": "page"}
    for block in read_blocks(page):
        if block.language == "python":
            print(f"# {page.name}:{block.line}", flush=True)
            exec(compile("\\n" * block.line + block.code, page.name, "exec"), namespace)
"""


@dataclass(frozen=True)
class CodeBlock:
    """A fenced block: its language (empty where none is named), its code, and the line of its fence."""

    language: str
    code: str
    line: int


def read_blocks(page: Path) -> list[CodeBlock]:
    """Return the code blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        CodeBlock(match[1], match[2], text.count("\n", 0, match.start()) + 1)
        for match in BLOCK.finditer(text)
    ]


def name_checkpoints(page: Path) -> dict[str, str]:
    """Return the class that stands for each checkpoint named in the Python blocks of a page."""
    code = "\n".join(block.code for block in read_blocks(page) if block.language == "python")
    found = {}
    for name in set(CHECKPOINT.findall(code)):
        kinds = [kind for words, kind in CLASSES.items() if re.search(words, name.rpartition("/")[2].lower())]
        if kinds:
            found[name] = kinds[0]
    return found


def place_checkpoints(page: Path, networks: dict, folder: Path, hub: Path) -> None:
    """Write the tiny network that stands for each checkpoint, into a hub's cache or as the folder that it is."""
    for name, kind in name_checkpoints(page).items():
        model, tokenizer = networks[kind]
        target = folder / name
        if not name.startswith("outputs/"):
            cache = hub / f"models--{name.replace('/', '--')}"
            (cache / "refs").mkdir(parents=True, exist_ok=True)
            (cache / "refs" / "main").write_text(SNAPSHOT)
            target = cache / "snapshots" / SNAPSHOT
        if name.endswith("clm"):  # one tokenizer with mlm, as in the study
            model, tokenizer = make_decoder(networks)
        model.save_pretrained(target)
        tokenizer.save_pretrained(target)


def make_decoder(networks: dict):
    """Return a BERT-class decoder with the tokenizer of the masked network."""
    from tiny_texts import SHAPE

    from mlm_vs_clm.training.starts import as_kind, start_from_scratch

    tokenizer = networks["bert"][1]
    return as_kind(start_from_scratch(SHAPE, tokenizer, seed=1), "causal", tokenizer), tokenizer


def run_pages(pages: list[Path], folder: Path) -> subprocess.CompletedProcess:
    """Run the Python blocks of pages in the folders 0, 1, ... of a folder, with the checkpoints of its `hub` and no network."""
    paths = [str(ROOT / "src"), str(ROOT), str(Path(tiny_models.__file__).parent)]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "HF_HUB_CACHE": str(folder / "hub"),
        "HF_HUB_OFFLINE": "1",
    }
    words = [sys.executable, "-c", RUN, str(folder), *map(str, pages)]
    return subprocess.run(words, env=environment, capture_output=True, text=True)
