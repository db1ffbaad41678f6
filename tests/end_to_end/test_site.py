"""The documentation site builds without a warning and without a network, and what its pages point to is there."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag

import pytest
from browser import needs_browser, open_page
from code_blocks import read_blocks

from mlm_vs_clm.files import ROOT

pytestmark = pytest.mark.slow
pytest.importorskip("sphinx", reason="the extra docs is not installed")
DOCS = ROOT / "docs"


class Page(HTMLParser):
    """What a page links to, what it loads, the places in it, and how many code blocks and formulas it has."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids, self.blocks, self.formulas = [], [], set(), 0, 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        about = dict(attributes)
        self.ids |= {about[key] for key in ("id", "name") if about.get(key)}
        if tag == "a" and about.get("href"):
            self.links.append(about["href"])
        if tag in ("img", "script", "iframe") and about.get("src"):
            self.loads.append(about["src"])
        if tag == "link" and about.get("rel") != "canonical" and "stylesheet" in about.get("rel", ""):
            self.loads.append(about["href"])
        self.blocks += tag == "pre"
        self.formulas += tag == "math"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(DOCS), str(folder)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.glob("*.html"))}


def test_every_link_image_and_script_of_a_page_is_there(pages):
    for path, page in pages.items():
        for link in page.links:
            target, anchor = urldefrag(link)
            if re.match(r"[a-z]+:", link):
                continue
            file = (path.parent / unquote(target)).resolve() if target else path
            assert file.is_file(), f"{path.name}: {link}"
            if anchor and file in pages:
                assert unquote(anchor) in pages[file].ids, f"{path.name}: {link}"
        for load in page.loads:
            assert "//" not in load, f"{path.name} fetches {load}"
            assert (path.parent / unquote(load.partition("?")[0])).is_file(), f"{path.name}: {load}"


def test_every_page_of_docs_is_built_with_its_code(pages):
    built = {path.stem: page for path, page in pages.items()}
    for source in DOCS.glob("*.md"):
        blocks = [block for block in read_blocks(source) if block.language]
        assert built[source.stem].blocks >= len([b for b in blocks if b.code]), source.name


def test_the_answer_of_readme_is_on_the_first_page_and_formulas_on_basics(site, pages):
    first = (site / "index.html").read_text(encoding="utf-8")
    assert "Better text?" in first and "<!-- readme" not in first
    assert pages[site / "basics.html"].formulas >= 5
    assert "blankfill.fill" in (site / "reference.html").read_text(encoding="utf-8")


def test_the_index_of_the_search_knows_the_pages(site):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert all(f'"{path.stem}"' in index for path in DOCS.glob("*.md"))


@needs_browser
def test_the_search_finds_a_page_and_no_page_writes_to_the_console(site, tmp_path):
    found = open_page(f"{(site / 'search.html').as_uri()}?q=competent", tmp_path)
    assert 'href="method.html' in found
    assert "<math" in open_page((site / "basics.html").as_uri(), tmp_path)
