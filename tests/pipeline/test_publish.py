"""README and the pages in docs say what the committed results say, whatever that is."""

import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from committed import mark_slow
from filelock import Timeout
from made_cells import RULES

from mlm_vs_clm.files import ROOT, list_studies
from mlm_vs_clm.pipeline import publish, workers
from mlm_vs_clm.report import blocks
from mlm_vs_clm.report.rendering import write_between_markers

LINKED = [path.parent.name for path in (ROOT / "results").glob("*/study.yaml")]


@pytest.fixture(scope="module")
def tables():
    return blocks.read_studies(ROOT / "results")


@pytest.fixture(autouse=True)
def read_each_study_once(monkeypatch, tables):
    """Keep the tables of a study from test to test: the pages are written from all of them."""
    folders = {folder.resolve(): name for name, folder in list_studies(ROOT / "results").items()}
    read = blocks.read_tables

    def look_up(folder, names=None):
        return tables[folders[Path(folder).resolve()]] if names else read(folder)

    monkeypatch.setattr(blocks, "read_tables", look_up)


def test_a_report_replaces_files_of_an_earlier_one_and_leaves_what_a_user_put_there(tmp_path):
    target = tmp_path / "results" / "laptop"
    (target / "texts").mkdir(parents=True)
    kept = {target / "notes.md", target / "texts" / "0001.txt", target / "texts" / "scores.csv"}
    for path in kept | {target / "writers.csv"}:
        path.write_text("mine")
    publish.publish(ROOT / "results" / "laptop", str(tmp_path / "results"), "laptop")
    assert not (target / "writers.csv").exists() and all(path.read_text() == "mine" for path in kept)
    assert (target / "scores.csv").read_bytes() == (ROOT / "results/laptop/scores.csv").read_bytes()


def test_results_are_written_by_one_process_at_a_time(tmp_path, monkeypatch):
    """Two studies that end together would lose the blocks of one, or replace a file that the other had moved away."""
    copy_file = publish._copy

    def copy_alone(source, target):
        with pytest.raises(Timeout):
            workers.machine_lock(publish.WRITING).acquire(timeout=0)
        copy_file(source, target)

    monkeypatch.setattr(workers.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(publish, "_copy", copy_alone)
    publish.publish(ROOT / "results" / "laptop", str(tmp_path / "results"), "laptop")


class BusyLock:
    """A lock that another process gives back as soon as somebody waits for it without a limit."""

    def acquire(self, timeout=None):
        if timeout is not None:
            raise Timeout("a lock")
        return nullcontext()


def test_who_waits_to_write_results_says_so(capsys):
    """Another process may be making the pages of all studies, which takes minutes."""
    with publish.hold(BusyLock(), publish.WRITER):
        assert "waiting for another process that is writing results" in capsys.readouterr().out


def test_all_files_of_reports_are_known():
    files = {path.name for name in LINKED for path in (ROOT / "results" / name).iterdir()}
    assert files <= publish.REPORT_FILES


def assert_told(blocks_made):
    pages = [page.read_text(encoding="utf-8") for page in publish.PAGES]
    for marker, text in blocks_made.items():
        marked = [page for page in pages if f"<!-- begin: {marker} -->" in page]
        assert marked or marker.endswith("-first")  # told on its page alone
        assert all(write_between_markers(page, marker, text) == page for page in marked)


@pytest.mark.parametrize("name", mark_slow(list_studies(ROOT / "results"), "laptop"))
def test_the_pages_say_what_the_committed_results_say(name):
    assert_told(blocks.make_blocks(list_studies(ROOT / "results")[name]))


def test_what_rests_on_all_studies_follows_from_the_committed_results(tmp_path, tables):
    for name in LINKED:
        (tmp_path / name).symlink_to(ROOT / "results" / name)
    blocks.write_overviews(tmp_path, tables, RULES)
    for name in ("figures/answer.svg", "evidence.csv"):
        assert (tmp_path / name).read_bytes() == (ROOT / "results" / name).read_bytes(), "run `make page`"


def test_readme_is_written_from_the_tables_alone(tmp_path, monkeypatch):
    """No store is needed, and it finds the markers in a page whose numbers were altered by hand."""
    for name in (*LINKED, "bench"):
        (tmp_path / "results" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "results" / name).symlink_to(ROOT / "results" / name)
    committed = [page.read_text(encoding="utf-8") for page in publish.PAGES]
    pages = [tmp_path / page.relative_to(ROOT) for page in publish.PAGES]
    for page, text in zip(pages, committed, strict=True):
        page.parent.mkdir(exist_ok=True)
        altered = re.sub(r"masked \+\d|hash of the rules", "masked +99", text)
        page.write_text(altered, encoding="utf-8")
    monkeypatch.setattr(publish, "PAGES", pages)
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    monkeypatch.setattr(publish, "write_overviews", lambda *_: None)  # the test above has them
    publish.write_blocks([tmp_path / "results" / "laptop"])
    assert [page.read_text(encoding="utf-8") for page in pages] == committed
