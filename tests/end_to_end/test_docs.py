"""What the pages tell a reader to open or type is there."""

import re

import pytest

from mlm_vs_clm.files import ROOT
from mlm_vs_clm.tools.__main__ import STAGES, TOOLS

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), *(ROOT / "results").glob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_tools_and_make_targets_of_a_page_exist(page):
    text = page.read_text(encoding="utf-8")
    links = {link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link}
    assert not [link for link in links if not (page.parent / link).exists()]
    assert set(re.findall(r"python -m mlm_vs_clm ([a-z-]+)", text)) <= {*TOOLS, *STAGES}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, flags=re.MULTILINE)) <= targets


def read_first_screen():
    """Return README without its markers, and without code, tables and targets of links."""
    text = re.sub(r"<!--.*?-->", "", (ROOT / "README.md").read_text(encoding="utf-8"))
    prose = re.sub(r"```.*?```|^\|.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    return text, re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", prose)


def list_words(text):
    """Return the words of Markdown: neither comments nor the lines of a table."""
    text = re.sub(r"<!--.*?-->", "", text)
    return [word for word in text.split() if re.search(r"\w", word)]


def test_readme_answers_first_and_is_short():
    text, prose = read_first_screen()
    assert len(text.splitlines()) <= 100
    assert len(text.split()) <= 900  # with tables, code and comments
    assert len(list_words(text[: text.index("make reproduce")])) <= 300
    paragraphs = [" ".join(one.split()) for one in re.split(r"\n\s*\n|^- ", prose, flags=re.MULTILINE)]
    sentences = [one for part in paragraphs for one in re.split(r"(?<=[.?!])\**\s+(?=[A-Z*`])", part)]
    assert not [one for one in sentences if len(one.split()) > 35]


def test_the_paper_is_short():
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    assert len(list_words(re.sub(r"^\|.*?$", "", text, flags=re.MULTILINE))) < 3000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_link_into_a_page_finds_its_heading(page):
    for link in re.findall(r"\]\(([^)\s]*#[^)\s]+)\)", page.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if "://" not in link and target.suffix == ".md":
            titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), flags=re.MULTILINE)
            found = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
            assert anchor in found, link
