"""How a stage script is started: what is refused before any work."""

import dataclasses
import os
import re
import shutil
import subprocess
import sys
import time

import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.pipeline import command, composing
from mlm_vs_clm.pipeline.command import refuse_launcher
from mlm_vs_clm.pipeline.config import Config, register
from mlm_vs_clm.pipeline.overrides import allow_open, expand_home, explain_unknown, refuse_repeated


@pytest.mark.parametrize(
    "variables", [{"WORLD_SIZE": "2"}, {"ACCELERATE_USE_CPU": "True", "MASTER_ADDR": "127.0.0.1"}]
)
def test_a_launcher_of_several_processes_is_refused(variables, monkeypatch):
    refuse_launcher("pretrain")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(
        StudyError, match="run python experiments/pretrain.py without it, or use several GPUs"
    ):
        refuse_launcher("pretrain")


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("scale.document=5", "scale.document is no setting: did you mean scale.documents?"),
        ("objectve=mlm", "objectve is no setting: did you mean objective?"),
        ("xyzzy=1", "xyzzy is no setting: see --help for all settings"),
        (
            "corpus.path=/x/texté",
            "corpus.path=/x/texté cannot be read: quote the value, 'corpus.path=\"/x/texté\"'",
        ),
        ("corpus.path=/x/a=b", "quote the value, 'corpus.path=\"/x/a=b\"'"),
        ("corpus.path=/x/~a", "quote the value, 'corpus.path=\"/x/~a\"'"),
        ("noequal", "noequal is no setting: give key=value"),
    ],
)
def test_a_setting_that_cannot_be_set_is_one_line_with_what_to_type(override, said):
    register()
    with pytest.raises(Exception) as error, initialize_config_dir(str(composing.CONF), version_base="1.3"):
        compose("config", ["corpus=own", override])
    assert said in command.one_line(error.value) and "+" not in command.one_line(error.value)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["seed=1", "arm=mlm", "seed=2"], "seed is set twice, seed=1 and seed=2: leave one of them out"),
        (["++model.training.dropout=0", "model.training.dropout=1"], "model.training.dropout is set twice"),
        (["-m", "seed=0,1", "seed=2"], "seed is set twice, seed=0,1 and seed=2"),
    ],
)
def test_a_setting_that_is_typed_twice_is_refused(words, told, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["score.py", *words])
    with pytest.raises(SystemExit) as stopped:
        command.command(print)()
    assert stopped.value.code.startswith(f"error: {told}")


@pytest.mark.parametrize(
    "words",
    [
        ["seed=0,1", "arm=mlm,clm", "-m"],
        ["corpus.path=a=b", "corpus.name=a"],
        ["--cfg", "job", "--cfg", "job"],
    ],
)
def test_settings_that_are_typed_once_are_left_alone(words):
    refuse_repeated(words)


@pytest.mark.parametrize(
    ("asked", "ours"),
    [
        (["smoke"], "scale=smoke track=matched scale.training.token_budget=4000 results=outputs/smoke"),
        (["smoke", "ARGS='scale.training.token_budget=9' ++results=x"], "scale=smoke track=matched"),
        (["reproduce", "ARGS=scale=desk"], "track=matched"),
        (["reproduce", "SCALE=gpu", "ARGS=scale=desk"], "scale=gpu track=matched"),  # which the stage refuses
        (["ratings", "RATINGS=a", "ARGS=--out=b"], "--store=outputs"),
        (["rating-sheet", "ARGS=--out=b"], "--results=results/laptop --store=outputs"),
    ],
)
def test_a_setting_in_args_stands_in_place_of_a_default_of_the_makefile(asked, ours, make):
    said = make(*asked)
    typed = [word for word in asked[-1].removeprefix("ARGS=").replace("'", "").split() if "=" in word]
    assert said.endswith("".join(f"[{word}]" for word in [*ours.split(), *typed]))
    assert said.count("=") == len(f"{ours} {' '.join(typed)}".split())


@pytest.mark.parametrize("sign", list("é#=[]~ '\"$,{};%@&()!`"))
def test_make_own_takes_any_path(sign, tmp_path):
    """The line that make prints is read by the shell and by Hydra's grammar, and the path comes out as it went in."""
    path = f"{tmp_path}/a{sign}b"
    made = subprocess.run(
        ["make", "-n", "-o", "data", "own", f"CORPUS={path}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    line = next(line for line in made.stdout.splitlines() if "scale=own" in line)
    word = next(part for part in re.findall(r'"corpus\.path=.*?\\""', line))
    told = subprocess.run(
        ["sh", "-c", f"printf %s {word}"],
        env={"TEXTS": path, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
    ).stdout
    (read,) = OverridesParser.create().parse_overrides([told])
    assert OmegaConf.create({"path": read.value()}).path == path


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("model.training", "give model.training.<name>=<value>"),
        ("model.shap.width", "is no setting: did you mean"),
    ],
)
def test_a_setting_without_fixed_names_says_how_to_type_one(key, says):
    assert says in explain_unknown(key)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("model.training.patience=2", "++model.training.patience=2"),
        ("+model.shape.width=8", "++model.shape.width=8"),
        ("++model.training.patience=2", "++model.training.patience=2"),
        ("model.training={}", "model.training={}"),
        ("model.name=a", "model.name=a"),
        ("~model.training.patience", "~model.training.patience"),
        ("corpus.path=model.training.x=y", "corpus.path=model.training.x=y"),
    ],
)
def test_a_setting_that_a_file_may_have_needs_no_plus(typed, read):
    assert allow_open(typed) == read


def list_keys(settings, prefix=""):
    """Yield the dotted name of every setting; a mapping without settings of its own is one."""
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        name = f"{prefix}{field.name}"
        if dataclasses.is_dataclass(value) and name != "scale.grid":
            yield from list_keys(value, f"{name}.")
        else:
            yield name


def test_help_has_words_for_every_setting_and_for_no_other():
    known = yaml.safe_load(command.WORDS.read_text(encoding="utf-8"))
    assert {*known} == {*list_keys(Config())} and all(known.values())
    settings = OmegaConf.create({"seed": 3, "scale": {"grid": {"arms": ["mlm"]}}, "check": False})
    lines = {line.split()[0]: line for line in command.describe_settings(settings)}
    assert lines["seed=3"].endswith("of blanks and draws") and "check=false" in lines
    assert "scale.grid=..." in lines


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["own", "CORPUS=t", "TRACK=runs"], "make own takes no TRACK, only CORPUS and ARGS."),
        (["reproduce", "CORPUS=t"], "make reproduce takes no CORPUS, only SCALE TRACK and ARGS."),
        (["model", "MODEL=m", "SCALE=desk"], "make model takes no SCALE, only MODEL KIND CORPUS and ARGS."),
        (["test", "STUDY=desk"], "make test takes no STUDY."),
        (["page", "ARGS=outputs/results/own"], "make page takes no ARGS."),
        (["page", "TRACK=runs"], "make page takes no TRACK, only STUDY."),
        (
            ["reproduce", "scale=desk"],
            "scale is no variable of this Makefile: settings go into ARGS, as ARGS='scale=desk'.",
        ),
        (["reproduce", "TRACK=runs", "SCALE=desk"], ""),
        (["test", "ARGS=-x", "PYTHON=python3"], ""),
        (["reproduce", "page", "STUDY=desk"], ""),
    ],
)
def test_a_variable_of_make_that_has_no_effect_is_refused_before_any_work(asked, says):
    done = subprocess.run(["make", "-n", *asked], cwd=ROOT, capture_output=True, text=True)
    assert says in done.stderr and (done.returncode != 0) == bool(says)


def test_a_sweep_that_is_stopped_and_whose_table_cannot_be_written_ends_in_lines(monkeypatch, capsys):
    def fail(*args, **kwargs):
        raise StudyError("the disk is full")

    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["score.py"])
    monkeypatch.setattr(command, "AT_STOP", [fail])
    monkeypatch.setattr(command.hydra, "main", stop)
    with pytest.raises(SystemExit) as stopped:
        command.command(fail)()
    said = capsys.readouterr().err.splitlines()
    assert stopped.value.code == 130 and said[0] == "error: the disk is full" and "Interrupted" in said[1]


@pytest.fixture
def make(tmp_path):
    """Return a function that runs make in a folder of its own, whose programs write a line when they start and when they end."""
    program = tmp_path / "python"
    program.write_text(
        f"#!/bin/sh\necho start >> {tmp_path}/log\nprintf '[%s]' \"$@\"\nsleep 0.5\necho end >> {tmp_path}/log\n"
    )
    program.chmod(0o755)
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    places = [f"VENV={tmp_path}", f"READY={tmp_path}/.ready", f"PY={program}"]
    # Without the settings of a make that runs the tests.
    alone = {
        name: value
        for name, value in os.environ.items()
        if name not in ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "ARGS")
    }

    def run(*asked):
        asked = ["make", *asked, *places]
        done = subprocess.run(asked, cwd=tmp_path, env=alone, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_goals_are_made_one_after_the_other(make, tmp_path):
    """`make -j 4 page notebooks manifest` would list the checksums of pages that are still written."""
    make("install")
    (tmp_path / "log").unlink()
    make("-j", "4", "page", "table")
    assert (tmp_path / "log").read_text().split() == ["start", "end"] * 2


def test_the_name_of_an_arm_may_have_spaces(make):
    said = make("model-card", "ARM=mlm temperature=0.3")
    assert "[model-card][mlm temperature=0.3]" in said
    assert "[--out=outputs/models/mlm temperature=0.3]" in said


def test_an_environment_is_made_once_although_the_clock_went_back(make, tmp_path):
    tomorrow = time.time() + 86_400
    os.utime(tmp_path / "constraints.txt", (tomorrow, tomorrow))
    assert "installing" in make("install")
    assert "installing" not in make("install")


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("store=~/st", "store=/home/ana/st"),
        ('corpus.path="~/texts/a.jsonl"', 'corpus.path="/home/ana/texts/a.jsonl"'),
        ("results=~", "results=/home/ana"),
        ("store=a~/b", "store=a~/b"),
        ("arm=~mlm", "arm=~mlm"),
    ],
)
def test_a_path_in_the_home_folder_is_found(typed, read, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ana")
    assert expand_home(typed) == read
