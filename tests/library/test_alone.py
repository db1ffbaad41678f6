"""The library stands alone: it runs where its five requirements are installed and nothing of the study is."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

import blankfill
from mlm_vs_clm.files import ROOT

CORE = ("torch", "transformers", "tokenizers", "numpy", "safetensors")
STUDY = ("pandas", "scipy", "sklearn", "hydra", "omegaconf", "datasets", "matplotlib", "mlm_vs_clm")
# Run with: the folder of the library, that of a model, texts and ways of filling, and the top-level modules allowed.
ALONE = """
import json, sys
from importlib.machinery import PathFinder

library, folder, given, *allowed = sys.argv[1:]
allowed = {*allowed, *sys.stdlib_module_names, "blankfill"}


class Allowed(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        top = name.partition(".")[0]
        is_allowed = top in allowed or top.startswith("_sysconfigdata")  # how this Python was built
        return super().find_spec(name, path, target) if is_allowed else None


sys.meta_path[:] = [Allowed if finder is PathFinder else finder for finder in sys.meta_path]
sys.path.insert(0, library)
from blankfill import fill, find_words, load_model, load_tokenizer, score

tokenizer = load_tokenizer(folder)
for kind in ("masked", "causal"):
    model = load_model(f"{folder}/{kind}", kind)
    made = fill(["the ___ sat"], "___", model, tokenizer, length="one")
    assert len(made.texts) == 1 and made.fills[0], made
    assert score(["the cat sat"], [[(4, 7)]], model, tokenizer)[0].nats > 0
texts, ways = json.loads(given)
model, blanks = load_model(f"{folder}/masked", "masked"), [find_words(text)[::2] for text in texts]
filled = [fill(texts, blanks, model, tokenizer, **way).texts for way in ways]
print(json.dumps([sorted({name.partition(".")[0] for name in sys.modules}), filled]))
"""
WAYS = [
    {"order": "confidence"},
    {"order": "mask_predict", "passes": 3},
    {"order": "gibbs", "per_pass": 4},
    {"context": "left", "order": "left_to_right"},
    {"length": "free", "order": "random", "per_pass": 2},
]


def required_by(names):
    """Return the distributions that these require, and what those require, without extras."""
    found, left = set(), [*names]
    while left:
        name = re.sub(r"[-_.]+", "-", left.pop()).lower()
        if name in found:
            continue
        try:
            requires = distribution(name).requires or []
        except PackageNotFoundError:
            continue  # needed on another system
        found.add(name)
        left += [re.match(r"[\w.-]+", line)[0] for line in requires if "extra ==" not in line]
    return found


def modules_of(name):
    """Return the top-level modules that a distribution installs."""
    files = distribution(name).files or []
    return {file.parts[0].partition(".")[0] for file in files if file.suffix in (".py", ".so")}


@pytest.mark.slow  # the import contract guards the same, in a second
def test_the_library_runs_with_its_requirements_alone_and_writes_the_same_texts(
    start, causal_model, tokenizer, texts, tmp_path
):
    tokenizer.save_pretrained(tmp_path)
    for kind, model in (("masked", start), ("causal", causal_model)):
        model.save_pretrained(tmp_path / kind)
    allowed = {module for name in required_by(CORE) for module in modules_of(name)}
    assert not allowed & {*STUDY}
    library = Path(blankfill.__file__).parents[1]
    # -S runs no .pth file, so no other finder comes in.
    code = f"import sys; sys.path += {[path for path in sys.path if 'site-packages' in path]!r}\n{ALONE}"
    ways = [{"temperature": 1.0, "seed": 2} | way for way in WAYS]
    given = [str(library), str(tmp_path), json.dumps([texts, ways]), *sorted(allowed)]
    done = subprocess.run([sys.executable, "-S", "-c", code, *given], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    modules, theirs = json.loads(done.stdout)
    assert not {*STUDY} & {*modules}
    asked = (texts[::-1], [blankfill.find_words(text)[::2] for text in texts[::-1]], start, tokenizer)
    ids = [*range(len(texts))][::-1]
    assert [blankfill.fill(*asked, ids=ids, **way).texts[::-1] for way in ways] == theirs


def test_public_names_are_there():
    assert all(getattr(blankfill, name) is not None for name in blankfill.__all__)
    assert {"fill", "score", "BlankfillError"} <= {*blankfill.__all__}
    with pytest.raises(AttributeError, match="no attribute 'unknown'"):
        _ = blankfill.unknown


def test_the_core_requirements_are_five():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]} == {*CORE}


def test_the_old_path_works_and_warns():
    for name in [name for name in sys.modules if name.startswith("mlm_vs_clm.fill")]:
        del sys.modules[name]
    with pytest.warns(DeprecationWarning, match="mlm_vs_clm.fill is blankfill now"):
        old = import_module("mlm_vs_clm.fill")
    assert import_module("mlm_vs_clm.fill.api").fill is blankfill.fill is old.fill
    assert old.score is blankfill.score and old.masked.fill_masked is blankfill.fill_masked
    assert old.BASELINES and old.WordCounts
    assert old.rows is sys.modules["blankfill.slots.rows"]
    with pytest.raises(AttributeError, match="'mlm_vs_clm.fill' has no attribute 'unknown'"):
        _ = old.unknown


def test_an_import_of_the_study_breaks_the_contract(tmp_path):
    for name in ("blankfill", "mlm_vs_clm"):
        shutil.copytree(
            ROOT / "src" / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "shipped")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    at = tmp_path / "blankfill" / "draws.py"
    at.write_text(at.read_text() + "\nimport pandas\nfrom mlm_vs_clm import files\n")
    code = "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "The library stands alone BROKEN" in done.stdout
    assert all(f"blankfill.draws -> {name}" in done.stdout for name in ("pandas", "mlm_vs_clm.files"))
