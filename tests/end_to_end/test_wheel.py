"""The wheel and the sdist carry all that is read: they are built here and used from another folder."""

import os
import subprocess
import sys
import tarfile
from zipfile import ZipFile

import pytest
from markdown_it import MarkdownIt
from packaging.metadata import Metadata

from mlm_vs_clm.files import ROOT

pytestmark = pytest.mark.slow
CARRIED = (
    "blankfill/py.typed",
    "mlm_vs_clm/py.typed",
    "mlm_vs_clm/report/templates/report.html",
    "mlm_vs_clm/shipped/conf/config.yaml",
    "mlm_vs_clm/shipped/conf/scale/smoke.yaml",
    "mlm_vs_clm/shipped/conf/claims.yaml",
    "mlm_vs_clm/shipped/experiments/score.py",
    "mlm_vs_clm/shipped/CITATION.cff",
    "mlm_vs_clm/shipped/docs/deviations.md",
    "mlm_vs_clm/shipped/data-requirements.txt",
)
BUILD = "from setuptools import build_meta; build_meta.build_{kind}({folder!r})"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the folder of a source tree without Git, and the sdist and the wheel that are built of it."""
    folder = tmp_path_factory.mktemp("built")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True
    )
    names = [
        name
        for name in listed.stdout.decode().split("\0")
        if name.startswith(("src/", "conf/", "docs/", "experiments/")) or "/" not in name
    ]
    tree = folder / "tree"
    for name in filter(None, names):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_symlink():
            (tree / name).symlink_to(os.readlink(ROOT / name))
        elif (ROOT / name).is_file():
            (tree / name).write_bytes((ROOT / name).read_bytes())
    for kind in ("sdist", "wheel"):
        code = BUILD.format(kind=kind, folder=str(folder))
        done = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
    return folder


def list_inline(text):
    """Return the inline tokens of Markdown."""
    return [
        child
        for token in MarkdownIt("commonmark").enable("table").parse(text)
        for child in token.children or []
    ]


def run(wheel_folder, words, where, **more):
    """Run Python in `where` with the installed packages of the wheel before any other."""
    environment = os.environ | {"PYTHONPATH": str(wheel_folder)} | more
    return subprocess.run(
        [sys.executable, *words], cwd=where, env=environment, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def installed(built):
    with ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(built / "installed")
    return built / "installed"


def test_both_carry_settings_templates_and_scripts(built):
    with ZipFile(next(built.glob("*.whl"))) as wheel:
        assert {*CARRIED} <= {*wheel.namelist()}
        metadata = next(name for name in wheel.namelist() if name.endswith("METADATA"))
        text = wheel.read(metadata).decode()
        lines = text.splitlines()
        assert not [name for name in wheel.namelist() if name.startswith(("benchmarks", "tests"))]
    plain = [line for line in lines if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert len(plain) == 5
    about = Metadata.from_email(text)  # as an index checks it
    assert about.description_content_type == "text/markdown" and about.description.startswith("# mlm-vs-clm")
    targets = [
        token.attrs[key]
        for token in list_inline(about.description)
        for key in ("href", "src")
        if key in token.attrs
    ]
    assert targets and all(target.startswith("https://") for target in targets)
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
        assert {f"src/{name}" for name in CARRIED} <= names
        assert all(member.isfile() or member.isdir() for member in sdist.getmembers())


def test_the_wheel_works_from_another_folder(installed, tmp_path):
    where = run(
        installed,
        ["-c", "import blankfill, mlm_vs_clm.files as f; print(blankfill.__file__, f.ROOT)"],
        tmp_path,
    )
    assert where.stdout.split() == [
        str(installed / "blankfill" / "__init__.py"),
        str(installed / "mlm_vs_clm" / "shipped"),
    ]
    shown = run(installed, ["-m", "mlm_vs_clm", "report", "--help"], tmp_path)
    assert shown.returncode == 0 and "track: " in shown.stdout, shown.stderr
    stored = run(installed, ["-m", "mlm_vs_clm", "store", "list", "--store", "outputs"], tmp_path)
    assert stored.returncode == 0, stored.stderr
    outside = run(installed, ["-m", "mlm_vs_clm", "bench"], tmp_path)
    assert outside.returncode == 1 and outside.stderr.count("\n") == 1 and "checkout" in outside.stderr


def test_a_stage_of_the_wheel_runs_in_another_folder(installed, tmp_path):
    from tiny_studies import write_corpus

    write_corpus(tmp_path / "corpus.jsonl")
    asked = [
        "corrupt",
        "scale=smoke",
        "corpus=own",
        f"corpus.path={tmp_path / 'corpus.jsonl'}",
        "corpus.task=ner",
    ]
    done = run(installed, ["-m", "mlm_vs_clm", *asked], tmp_path)
    assert done.returncode == 0 and "corrupt: " in done.stdout, done.stderr
    assert list((tmp_path / "outputs" / "corrupt").glob("*/blanks.jsonl"))


def test_without_the_extra_the_command_says_what_to_install(installed, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nclass Refuse:\n    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('pandas', 'hydra'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
    )
    for words in (["score", "scale=smoke"], ["table"]):
        done = run(f"{tmp_path}{os.pathsep}{installed}", ["-m", "mlm_vs_clm", *words], tmp_path)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
        assert "pip install '.[study]'" in done.stderr
