"""What made a result: the versions of the libraries and the commit of the code."""

import os
import subprocess
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version

from ..files import CHECKOUT

LIBRARIES = ("torch", "transformers", "datasets", "sacrebleu", "rouge-score", "bert-score", "nltk", "spacy")


@cache
def library_versions() -> dict[str, str]:
    """Return the installed version of each library that can change a result."""
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions


@cache
def current_commit() -> str:
    """Return the commit of the checkout, with `+changes` if files differ from it; `unknown` where there is none.

    A repository that the checkout, or an installed package, only lies in is not the code's.
    """
    above = os.environ | {"GIT_CEILING_DIRECTORIES": str(CHECKOUT.parent)}
    run = partial(subprocess.run, cwd=CHECKOUT, env=above, capture_output=True, text=True, check=True)
    try:
        commit, changes = (
            run(["git", *words]).stdout.strip()
            for words in (("rev-parse", "HEAD"), ("status", "--porcelain"))
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit + "+changes" * bool(changes)
