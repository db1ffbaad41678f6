"""Sphinx builds the pages of this folder: `make docs`. Nothing is fetched; a formula becomes MathML, which browsers draw.

Pages keep the links that work in the repository. Here a link to a file outside of this folder becomes a link to a copy of
it, and `<!-- readme: NAME -->` becomes the block NAME of README.
"""

import re
import shutil
from pathlib import Path
from urllib.parse import urldefrag

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
COPIES = "repository"  # the folder of the built site that holds copies of files of the repository

project, author, release = "mlm-vs-clm", "The mlm-vs-clm authors", "0.1.0"
copyright = author
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme, html_title = "furo", "mlm-vs-clm"
html_copy_source = html_show_sourcelink = False
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 6
myst_url_schemes = {"http": None, "https": None, "copy": {"url": COPIES + "/{{path}}"}}
default_role = "code"
autodoc_member_order = "groupwise"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"

LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)\)")
BLOCK = re.compile(r"<!-- readme: ([a-z-]+) -->")
LOCAL = re.compile(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"')
copied: set[Path] = set()


def rewrite_links(text: str, folder: Path) -> str:
    """Return Markdown of a page in `folder` with its links as this site has them."""

    def rewrite(link: re.Match) -> str:
        path, anchor = urldefrag(link[2])
        if "://" in path or not path:
            return link[0]
        file = (folder / path).resolve()
        if file == ROOT / "README.md":
            file = DOCS / "index.md"
        if link[1].startswith("!") or file.is_relative_to(DOCS):
            return f"{link[1]}{_relative(file)}{'#' * bool(anchor)}{anchor})"
        if file.is_dir():
            file = next(file / name for name in ("report.html", "README.md") if (file / name).is_file())
        copied.add(file)
        return f"{link[1]}copy:{file.relative_to(ROOT).as_posix()})"

    return LINK.sub(rewrite, text)


def _relative(file: Path) -> str:
    """Return the path from this folder, whose pages all stand beside each other."""
    return (
        file.relative_to(DOCS).as_posix()
        if file.is_relative_to(DOCS)
        else f"../{file.relative_to(ROOT).as_posix()}"
    )


def read_block(name: re.Match) -> str:
    """Return a block of README."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(rf"<!-- begin: {name[1]} -->\n(.*?)<!-- end: {name[1]} -->", readme, re.DOTALL)
    if block is None:
        logging.getLogger(__name__).warning("README has no block %s", name[1])
        return ""
    return rewrite_links(block[1], ROOT)


def prepare_page(app, name: str, source: list[str]) -> None:
    """Rewrite a page before it is parsed."""
    source[0] = BLOCK.sub(read_block, rewrite_links(source[0], DOCS))


def mark_code(app, kind: str, name: str, value, options, lines: list[str]) -> None:
    """Keep the stars of `**axes` and `*` in docstrings as they are: to reStructuredText they would be emphasis."""
    lines[:] = [re.sub(r"(?<!`)(\*+)", r"\\\1", line) for line in lines]


def copy_files(app, error: Exception | None) -> None:
    """Copy the files that pages link to, and what those that are pages link to in turn."""
    waiting = [] if error else [*copied]
    done: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file in done or not file.is_file():
            continue
        done.add(file)
        target = Path(app.outdir) / COPIES / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        if file.suffix == ".html":
            waiting += [
                (file.parent / path).resolve() for path in LOCAL.findall(file.read_text(encoding="utf-8"))
            ]


def visit_formula(self, node: nodes.Element) -> None:
    """Write a formula as MathML."""
    is_block = isinstance(node, nodes.math_block)
    formula = convert(node.astext(), display="block" if is_block else "inline")
    self.body.append(f'<div class="math">{formula}</div>\n' if is_block else formula)
    raise nodes.SkipNode


def setup(app) -> None:
    """Connect the above."""
    app.add_html_math_renderer("mathml", (visit_formula, None), (visit_formula, None))
    app.connect("source-read", prepare_page)
    app.connect("autodoc-process-docstring", mark_code)
    app.connect("build-finished", copy_files)
