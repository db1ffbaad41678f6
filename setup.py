"""README as a package index shows it: there is no folder beside it, so no link may be relative.

With a URL of the source in `[project.urls]`, links lead there; without one a link is its words and, as code, its path in
the repository, and an image is its description.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

SOURCE = "Source"  # the key of `[project.urls]` that names the repository
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)\s]+)\)")


def describe(readme: str, url: str = "") -> str:
    """Return README with absolute links, or with none where the repository has no URL."""

    def rewrite(link: re.Match) -> str:
        image, words, path = link.groups()
        if url:
            return f"{image}[{words}]({url.rstrip('/')}/{'raw' if image else 'blob'}/main/{path})"
        return f"*{words}*" if image else f"{words} (`{path}`)"

    return LINK.sub(rewrite, re.sub(r"<!--.*?-->\n*", "\n", readme, flags=re.DOTALL))


if __name__ == "__main__":
    root = Path(__file__).parent
    urls = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    setup(
        long_description=describe((root / "README.md").read_text(encoding="utf-8"), urls.get(SOURCE, "")),
        long_description_content_type="text/markdown",
    )
