"""What the pages tell a reader to open or type is there."""

import re
import shlex

import pytest

from mlm_vs_clm.__main__ import TOOLS
from mlm_vs_clm.files import ROOT

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), *(ROOT / "results").glob("*.md")]
LINES = {
    line.partition(" #")[0].strip()
    for page in PAGES
    for line in page.read_text(encoding="utf-8").splitlines()
    if line.strip().startswith("python experiments/")
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_tools_and_make_targets_of_a_page_exist(page):
    text = page.read_text(encoding="utf-8")
    links = {link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link}
    assert not [link for link in links if not (page.parent / link).exists()]
    assert set(re.findall(r"python -m mlm_vs_clm ([a-z-]+)", text)) <= set(TOOLS)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, flags=re.MULTILINE)) <= targets


@pytest.mark.parametrize("line", sorted(LINES))
def test_a_documented_command_composes(choose, line):
    script, *overrides = shlex.split(re.sub(r"<[^>]*>", "path", line))[1:]
    assert (ROOT / script).is_file()
    first = [
        re.sub(r"^([^=\[]+=[^,\[]*),.*", r"\1", one)
        for one in overrides
        if not one.startswith(("-", "hydra"))
    ]
    choose(*(one for one in first if one != "masking=numbers"))  # the tutorial's own
