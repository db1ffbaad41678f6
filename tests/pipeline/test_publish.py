"""README and the pages in docs say what the committed results say, whatever that is."""

import pytest

from mlm_vs_clm.files import ROOT
from mlm_vs_clm.pipeline import publish
from mlm_vs_clm.report.blocks import make_blocks
from mlm_vs_clm.report.rendering import write_between_markers


@pytest.mark.parametrize("name", sorted(path.parent.name for path in (ROOT / "results").glob("*/study.csv")))
def test_the_pages_say_what_the_committed_results_say(name):
    pages = [page.read_text(encoding="utf-8") for page in publish.PAGES]
    for marker, text in make_blocks(ROOT / "results" / name).items():
        marked = [page for page in pages if f"<!-- begin: {marker} -->" in page]
        assert marked and all(write_between_markers(page, marker, text) == page for page in marked)


def test_readme_is_two_screens_at_most():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
