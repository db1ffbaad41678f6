"""A result appears whole or not at all, once, under the name of what made it."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from refusals import assert_refused
from safetensors import SafetensorError
from threadpoolctl import threadpool_info, threadpool_limits

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.files import CHECKPOINT
from mlm_vs_clm.pipeline import artifacts, provenance
from mlm_vs_clm.pipeline.artifacts import Recipe, Store, damaged_files, list_artifacts, read_record
from mlm_vs_clm.tools.__main__ import main


def write_words(settings, inputs, folder, runtime):
    read = "".join(path.joinpath("words").read_text() for path in inputs.values())
    (folder / "words").write_text(read + settings["words"])


def store(root):
    return Store(root, {"write": write_words})


LEAF = Recipe("write", 1, {"words": "a", "seed": 3})
TREE = Recipe("write", 1, {"words": "b"}, {"leaf": LEAF})


def test_what_is_needed_is_made_first(tmp_path):
    folder = store(tmp_path).ensure(TREE)
    assert (folder / "words").read_text() == "ab"
    assert read_record(folder)["inputs"] == {"leaf": f"write/{LEAF.id}"}


def test_linear_algebra_has_one_thread_while_a_result_is_made(tmp_path):
    seen = []

    def look(settings, inputs, folder, runtime):
        seen.extend(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas")

    with threadpool_limits(2, user_api="blas"):
        Store(tmp_path, {"look": look}).ensure(Recipe("look", 1, {}))
    assert seen and set(seen) == {1}


def test_id_follows_settings_inputs_and_version():
    changed = [
        Recipe("write", 2, {"words": "b"}, {"leaf": LEAF}),
        Recipe("write", 1, {"words": "c"}, {"leaf": LEAF}),
        Recipe("write", 1, {"words": "b"}, {"leaf": Recipe("write", 1, {"words": "z"})}),
    ]
    assert len({TREE.id, *(recipe.id for recipe in changed)}) == 4
    assert Recipe("write", 1, {"seed": 3, "words": "a"}).id == LEAF.id


def test_content_with_a_hash_is_the_same_wherever_its_folder_stands():
    def own(path, **rest):
        return [
            Recipe("write", 1, {"path": path} | rest).id,
            Recipe("write", 1, {"own": {"path": path} | rest}).id,
        ]

    assert own("/here/notes.txt", sha256="a") == own("there/notes.txt", sha256="a")
    different = [
        ("/here/notes.txt", "b"),
        ("/here/letters.txt", "a"),
        ("/here/notes.txt", ""),
        ("there/notes.txt", ""),
    ]
    ids = {id for path, sha256 in [("/here/notes.txt", "a"), *different] for id in own(path, sha256=sha256)}
    assert len(ids) == 10


def test_record_tells_what_made_it(tmp_path):
    record = read_record(store(tmp_path).ensure(LEAF))
    assert record["seed"] == 3 and record["seconds"] >= 0 and record["libraries"]["torch"]
    assert set(record) >= {"stage", "settings", "inputs", "commit", "version", "files", "finished"}


def test_the_commit_is_that_of_the_code_and_of_no_repository_around_it(tmp_path, monkeypatch):
    code = tmp_path / "around" / "code"
    code.mkdir(parents=True)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.org"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], cwd=code.parent, check=True)
    monkeypatch.setattr(provenance, "CHECKOUT", code)
    assert provenance.current_commit.__wrapped__() == "unknown"
    monkeypatch.setattr(provenance, "CHECKOUT", code.parent)
    commit = provenance.current_commit.__wrapped__()
    (code / "new.py").write_text("")
    assert len(commit) == 40 and provenance.current_commit.__wrapped__() == f"{commit}+changes"


def test_stored_result_is_not_made_again(tmp_path):
    store(tmp_path).ensure(LEAF)
    Store(tmp_path, {"write": None}).ensure(LEAF)


@pytest.mark.parametrize("harm", [lambda p: p.write_text("x"), Path.unlink], ids=["changed", "missing"])
def test_damaged_result_is_made_again(tmp_path, harm, capsys):
    folder = store(tmp_path).ensure(LEAF)
    harm(folder / "words")
    assert damaged_files(folder) == ["words"]
    assert (store(tmp_path).ensure(LEAF) / "words").read_text() == "a"
    assert "damaged" in capsys.readouterr().out


def test_a_result_that_is_damaged_after_it_was_checked_is_told_to_the_next_reader(tmp_path, capsys):
    folder = store(tmp_path).ensure(LEAF)
    assert not damaged_files(folder)
    (folder / "words").write_text("b")  # as long as before
    assert damaged_files(folder) == ["words"]
    assert (store(tmp_path).ensure(LEAF) / "words").read_text() == "a" and not damaged_files(folder)


def test_failed_stage_leaves_no_result_and_no_leftovers_in_the_next(tmp_path):
    def fail(settings, inputs, folder, runtime):
        (folder / "half").write_text("half")
        raise StudyError("no")

    with pytest.raises(StudyError):
        Store(tmp_path, {"write": fail}).ensure(LEAF)
    assert not store(tmp_path).has(LEAF)
    folder = store(tmp_path).ensure(LEAF)
    assert not (folder / "half").exists()


def test_what_was_made_before_a_checkpoint_is_kept_with_it(tmp_path):
    def write(settings, inputs, folder, runtime):
        resumes = (folder / "checkpoint").is_dir()
        for name in ("checkpoint", "checkpoint-old", *([] if resumes else ["60000"])):
            (folder / name).mkdir(exist_ok=not name.endswith("old"))
        if not resumes:
            (folder / "60000" / "model").write_text("kept")
            raise StudyError("killed")
        (folder / "checkpoint-old").rmdir()

    stored = Store(tmp_path, {"write": write})
    assert_refused("killed", stored.ensure, LEAF)
    folder = stored.ensure(LEAF)
    assert [path.name for path in folder.iterdir() if path.is_dir()] == ["60000"]
    assert (folder / "60000" / "model").read_text() == "kept"


SCRIPT = textwrap.dedent("""
    import os, sys, time
    from pathlib import Path
    from mlm_vs_clm.pipeline.artifacts import Recipe, Store
    def write(settings, inputs, folder, runtime):
        with open(Path(sys.argv[1]) / "made", "a") as log:
            log.write("x")
        for i in range(20):
            (folder / f"{i}").write_text("text" * 1000)
            if sys.argv[2] == "slow":
                print("started", flush=True)
                time.sleep(0.05)
    Store(Path(sys.argv[1]) / "store", {"write": write}).ensure(Recipe("write", 1, {}))
""")


def start_process(root, pace):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(root), pace], stdout=subprocess.PIPE, text=True
    )


def test_a_kill_while_the_record_is_written_loses_no_training(tmp_path, monkeypatch):
    seen = []

    def train(settings, inputs, folder, runtime):
        seen.append((folder / CHECKPOINT / "step").exists())
        (folder / CHECKPOINT).mkdir(exist_ok=True)
        (folder / CHECKPOINT / "step").write_text("9")
        (folder / "weights").write_text("w")

    def kill(path):
        raise KeyboardInterrupt

    training = Store(tmp_path, {"write": train})
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(artifacts, "flush_to_disk", kill)
        training.ensure(LEAF)
    folder = training.ensure(LEAF)
    assert seen == [False, True]  # the second went on from the checkpoint
    assert sorted(path.name for path in folder.iterdir()) == [artifacts.RECORD, "weights"]
    assert list(read_record(folder)["files"]) == ["weights"]


def test_killed_process_leaves_nothing_that_counts_and_the_next_one_finishes(tmp_path):
    first = start_process(tmp_path, "slow")
    first.stdout.readline()
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert [state for state, _ in list_artifacts(tmp_path / "store")] == ["unfinished"]
    assert start_process(tmp_path, "fast").wait() == 0
    assert [state for state, _ in list_artifacts(tmp_path / "store")] == ["whole"]


def test_one_process_makes_it_and_the_others_wait(tmp_path):
    processes = [start_process(tmp_path, "slow") for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert (tmp_path / "made").read_text() == "x"


def test_unwritable_folder_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="cannot read or write"):
        store(tmp_path / "file").ensure(LEAF)


FULL = "No space left on device"


@pytest.mark.parametrize(
    "error",
    [OSError(28, FULL), SafetensorError(f"Error while serializing: I/O error: {FULL} (os error 28)")],
    ids=["text", "weights"],
)
def test_full_disk_is_one_line(tmp_path, error):
    def fill_up(settings, inputs, folder, runtime):
        raise error

    assert_refused(f"{FULL}.*free disk space or set store", Store(tmp_path, {"write": fill_up}).ensure, LEAF)


def test_inventory_lists_and_removes(tmp_path, capsys):
    store(tmp_path).ensure(TREE)
    assert main(["store", "list", "--store", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("whole") == 2
    assert main(["store", "remove", f"write/{LEAF.id}", "--store", str(tmp_path)]) == 0
    assert [folder.name for _, folder in list_artifacts(tmp_path)] == [TREE.id]
    assert main(["store", "remove", "nothing", "--store", str(tmp_path)]) == 1
    assert json.loads((tmp_path / "write" / TREE.id / "artifact.json").read_text())["id"] == TREE.id


def test_what_a_process_is_making_is_listed(tmp_path, monkeypatch, capsys):
    """A training puts a new checkpoint in the place of the old one while the folder is read."""
    checkpoint = store(tmp_path)._unfinished(LEAF) / f"{CHECKPOINT}-old"
    checkpoint.mkdir(parents=True)
    scan = os.scandir

    def scan_late(folder):
        if Path(folder) == checkpoint and checkpoint.exists():
            checkpoint.rmdir()
        return scan(folder)

    monkeypatch.setattr(os, "scandir", scan_late)
    assert main(["store", "list", "--store", str(tmp_path)]) == 0
    assert "unfinished" in capsys.readouterr().out and not checkpoint.exists()


def test_what_a_process_is_making_is_not_removed(tmp_path, capsys):
    making = store(tmp_path)
    making._unfinished(LEAF).mkdir(parents=True)
    with making._lock(LEAF):
        assert main(["store", "remove", "unfinished", "--store", str(tmp_path)]) == 0
        assert "removed 0 artifacts (unfinished)\nkept 1 that a process is making" in capsys.readouterr().out
    assert making._unfinished(LEAF).is_dir()
    assert main(["store", "remove", "unfinished", "--store", str(tmp_path)]) == 0
    assert not making._unfinished(LEAF).exists()


def test_words_that_no_artifact_has_are_one_line(tmp_path, capsys):
    store(tmp_path).ensure(TREE)
    assert main(["store", "list", "write", "nothing", "--store", str(tmp_path)]) == 1
    assert "store list write nothing: nothing stored in" in capsys.readouterr().err
    assert main(["store", "list", "damaged", "--store", str(tmp_path)]) == 0


def test_names_that_overlap_remove_each_artifact_once_and_a_wrong_one_removes_none(tmp_path, capsys):
    store(tmp_path).ensure(TREE)
    assert main(["store", "remove", "write", "nothing", "--store", str(tmp_path)]) == 1
    assert "store remove nothing: nothing stored" in capsys.readouterr().err
    assert len(list(list_artifacts(tmp_path))) == 2
    names = ["write", f"write/{LEAF.id}", "all"]
    assert main(["store", "remove", *names, "--store", str(tmp_path)]) == 0
    assert f"removed 2 artifacts (write, write/{LEAF.id}, all)" in capsys.readouterr().out
    assert not list(list_artifacts(tmp_path))
