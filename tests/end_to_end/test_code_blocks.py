"""Every code block of README and docs runs, or names commands and settings that exist."""

import re
import shlex
import shutil
import tomllib

import pandas as pd
import pytest
import yaml
from code_blocks import place_checkpoints, read_blocks, run_pages
from forged_store import ForgedStore, sign

from blankfill.commands import COMMANDS as LIBRARY_COMMANDS
from mlm_vs_clm.files import ROOT, write_parquet
from mlm_vs_clm.tools.__main__ import STAGES, TOOLS, is_stage

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("C*.md")), *sorted((ROOT / "docs").glob("*.md"))]
PAGES += [ROOT / "results" / "README.md"]
RUN_ELSEWHERE = {
    "tutorial-masking-strategy.md"
}  # its blocks are lines to add to a file: test_tutorials adds them
PLAIN = {"source", "grep", "pre-commit", "pytest"}  # commands that are no program of this project
LANGUAGES = {"", "bash", "sh", "python", "yaml", "json", "text"}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def name(page):
    return f"{page.parent.name}-{page.stem}"


def with_python(pages):
    return [
        page
        for page in pages
        if page.name not in RUN_ELSEWHERE and any(b.language == "python" for b in read_blocks(page))
    ]


def list_commands(page):
    """Return the command lines of a page: those of shell blocks, and of plain blocks that begin with a command."""
    blocks = [block for block in read_blocks(page) if block.language in ("", "bash", "sh")]
    lines = []
    for block in blocks:
        found = [line.partition(" #")[0].strip() for line in block.code.replace("\\\n", " ").splitlines()]
        found = [line for line in found if line and not line.startswith("#")]
        if block.language or (found and is_command(found[0])):
            lines += found
    return lines


def split(line):
    """Return the words of a command without the variables that are set before it; <...> stands for a path."""
    words = shlex.split(re.sub(r"<[^>]*>", "path", line))
    while words and re.match(r"[A-Z_]+=", words[0]):
        words = words[1:]
    return words


def is_command(line):
    words = split(line) if line.count("'") % 2 == 0 and line.count('"') % 2 == 0 else line.split()
    return bool(words) and (words[0] in {"make", "mlm-vs-clm", "pip", *PLAIN} or words[0].endswith("python"))


COMMANDS = sorted({(name(page), line) for page in PAGES for line in list_commands(page)})


def check_overrides(overrides, choose):
    """Compose settings with overrides; of a swept value its first."""
    first = [
        re.sub(r"^([^=\[]+=[^,\[]*),.*", r"\1", word)
        for word in overrides
        if not word.startswith(("-", "hydra"))
    ]
    choose(*(word for word in first if word != "masking=numbers"))  # the tutorial's own


def check_make(words, choose):
    """Check the targets, and that a choice of scale and track and the overrides compose."""
    variables = dict(word.split("=", 1) for word in words if "=" in word)
    targets = [word for word in words if "=" not in word and not word.startswith("-")]
    known = set(re.findall(r"^([a-z-]+):", MAKEFILE, flags=re.MULTILINE))
    assert targets and set(targets) <= known
    assert not [key for key in variables if not re.search(rf"\b{key}\b", MAKEFILE)]
    asked = [
        f"{group}={variables[group.upper()]}" for group in ("scale", "track") if group.upper() in variables
    ]
    if {"reproduce", "verify", "smoke", "own"} & set(targets):
        asked += shlex.split(variables.get("ARGS", ""))
    check_overrides(asked, choose)


def check_program(words, choose):
    """Check the verb of the project's command line, and the overrides of a stage."""
    assert words[0] in {*TOOLS, *STAGES, *LIBRARY_COMMANDS}, words[0]
    if words[0] in STAGES and is_stage(words) and "--help" not in words:
        check_overrides(words[1:], choose)


def check_python(words, choose):
    """Check a script or module of the project."""
    if words[:2] == ["-m", "mlm_vs_clm"]:
        return check_program(words[2:], choose)
    if words[:2] == ["-m", "pytest"]:
        words = words[2:]
    assert words[0].endswith(".py") and (ROOT / words[0]).is_file(), words
    if words[0].startswith("experiments/") and "--help" not in words:
        check_overrides(words[1:], choose)


def check_install(words):
    """Check that the extras that a page asks for are those of the package."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    asked = {
        extra for word in words for found in re.findall(r"\[([\w,]+)\]", word) for extra in found.split(",")
    }
    assert asked <= set(extras)


@pytest.mark.parametrize("page, line", COMMANDS)
def test_a_command_of_a_page_exists(page, line, choose):
    words = split(line)
    while "&&" in words:
        before, words = words[: words.index("&&")], words[words.index("&&") + 1 :]
        test_a_command_of_a_page_exists(page, shlex.join(before), choose)
    if "|" in words:
        words = words[: words.index("|")]
    if words[0] == "make":
        check_make(words[1:], choose)
    elif words[0] == "mlm-vs-clm":
        check_program(words[1:], choose)
    elif words[0].endswith("python"):
        check_python(words[1:], choose)
    elif words[0] == "pip":
        check_install(words[1:])
    else:
        assert words[0] in PLAIN, f"{page}: {words[0]} is no command of this project"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_block_is_of_a_language_that_is_checked(page):
    for block in read_blocks(page):
        assert block.language in LANGUAGES, f"{page.name}:{block.line}"
        if block.language == "python" and page.name not in RUN_ELSEWHERE:
            compile(block.code, page.name, "exec")
        elif block.language in ("yaml", "json"):
            assert yaml.safe_load(block.code) is not None


def test_the_pages_have_blocks_of_both_kinds():
    assert len(with_python(PAGES)) >= 4 and len(COMMANDS) >= 40


def write_study(folder):
    """Write what blocks read of a study: a store with a corpus called plots, and the counts per document of `laptop`."""
    store = ForgedStore(folder / "outputs", [("random", 0.5)], "plots")
    for artifact in store.inputs.values():
        sign(artifact)
    row = {"corpus": "plots", "arm": "mlm", "strategy": "random", "ratio": 0.5, "seed": 0, "budget": None}
    row |= {"exact": 3, "blanks": 6, "tokens": 9, "original_tokens": 9}
    row |= {f"matched_{n}": 5 - n for n in range(1, 5)} | {f"ngrams_{n}": 10 - n for n in range(1, 5)}
    (folder / "results" / "laptop").mkdir(parents=True)
    write_parquet(pd.DataFrame([row] * 2), folder / "results" / "laptop" / "documents.parquet")
    shutil.copy(ROOT / "results" / "evidence.csv", folder / "results")


@pytest.mark.slow
def test_the_python_of_the_pages_runs(networks, tmp_path):
    pages = with_python(PAGES)
    for number, page in enumerate(pages):
        write_study(tmp_path / str(number))
        place_checkpoints(page, networks, tmp_path / str(number), tmp_path / "hub")
    done = run_pages(pages, tmp_path)
    assert done.returncode == 0, done.stdout[-200:] + done.stderr[-2000:]
    blocks = [block for page in pages for block in read_blocks(page) if block.language == "python"]
    assert len(re.findall(r"# \S+\.md:\d+\n", done.stdout)) == len(blocks)
