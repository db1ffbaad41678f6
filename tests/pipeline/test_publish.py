"""README and docs/results.md say what the committed results say."""

import pytest

from mlm_vs_clm.analysis.tables import read_tables
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.pipeline import publish
from mlm_vs_clm.report.rendering import write_between_markers


@pytest.mark.parametrize("name", publish.BLOCKS)
def test_the_pages_say_what_the_committed_results_say(name):
    results = ROOT / "results" / name
    pages = [page.read_text(encoding="utf-8") for page in publish.PAGES]
    for marker, text in publish.BLOCKS[name](read_tables(results)).items():
        (page,) = [page for page in pages if f"<!-- begin: {marker} -->" in page]
        assert write_between_markers(page, marker, text) == page
