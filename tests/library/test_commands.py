"""The library on the command line: lines in and out, resumed by id."""

import io
import json
import shutil
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest
import torch
from refusals import assert_refused

from blankfill import Filler
from blankfill.commands.audit import read_texts, reserve
from blankfill.commands.lines import Sink, Source
from blankfill.errors import BlankfillError
from mlm_vs_clm.tools.__main__ import is_stage, main

LINES = [
    {"id": "a", "text": "The old ___ sailed.", "labels": ["x"]},
    {"id": 7, "text": "The old captain sailed.", "blanks": [[8, 15]]},
    {"id": "c", "text": "No blank."},
]


@pytest.fixture(scope="module")
def model(folder):
    return str(folder)


@pytest.fixture
def given(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_json_lines_are_filled_and_resumed(model, given, tmp_path, start, tokenizer):
    out = tmp_path / "out.jsonl"
    command = ["fill", str(given), "--model", model, "--order", "confidence", "--out", str(out)]
    assert main(command) == 0
    made, filler = rows(out), Filler(start, tokenizer, order="confidence")
    assert [row["id"] for row in made] == ["a", 7, "c"] and made[0]["labels"] == ["x"]
    assert made[0]["text"] == filler(LINES[0]["text"], ids="a").text and made[2]["text"] == "No blank."
    assert made[1]["text"] == filler(LINES[1]["text"], [[(8, 15)]], ids="7").text
    whole = out.read_bytes()
    out.write_bytes(whole[: whole.index(b"\n") + 9])  # one result, and a part of the next
    assert main(command) == 0 and out.read_bytes() == whole
    assert main(command) == 0 and out.read_bytes() == whole


def test_an_output_is_continued_with_the_same_model_and_settings_alone(
    model, given, tmp_path, capfd, start, tokenizer
):
    out, other = tmp_path / "out.jsonl", tmp_path / "other"
    command = ["fill", str(given), "--out", str(out), "--order", "random"]
    assert main([*command, "--model", model]) == 0
    assert main([*command, "--model", model, "--batch-tokens", "64"]) == 0  # changes no fill
    other_model = deepcopy(start)
    with torch.no_grad():
        next(other_model.parameters()).add_(1)
    other_model.save_pretrained(other)
    tokenizer.save_pretrained(other)
    whole = out.read_bytes()
    capfd.readouterr()
    another = [*command[:-1], "entropy", "--model", model, "--seed", "3"]
    assert main(another) == 1 and "another order, another seed:" in capfd.readouterr().err
    for change, named in (
        (["--model", str(other)], "another model:"),
        (["--model", model, "--seed", "3"], "another seed:"),
        (["--model", model, "--marker", "***"], "another marker:"),
    ):
        assert main([*command, *change]) == 1
        told = capfd.readouterr().err.splitlines()
        assert len(told) == 1 and named in told[0] and "give another --out" in told[0]
    assert main(["score", str(given), "--out", str(out), "--model", model]) == 1
    assert "tool" in capfd.readouterr().err
    noted = tmp_path / "out.jsonl.settings.json"
    older = {name: value for name, value in json.loads(noted.read_text()).items() if name != "marker"}
    noted.write_text(json.dumps(older))  # of a version without this option
    assert main([*command, "--model", model, "--marker", "***"]) == 1
    assert "another marker:" in capfd.readouterr().err
    assert main([*command, "--model", model]) == 0
    noted.unlink()
    assert main([*command, "--model", model]) == 1
    assert "says how it was begun, is missing" in capfd.readouterr().err
    assert out.read_bytes() == whole


def test_a_missing_input_names_the_file_and_no_folder(model, tmp_path, capfd):
    assert main(["fill", str(tmp_path / "none.jsonl"), "--model", model]) == 1
    told = capfd.readouterr().err.splitlines()
    assert told == [
        f"error: {tmp_path / 'none.jsonl'} cannot be read: No such file or directory: check the path"
    ]


def test_plain_lines_are_read_from_standard_input(model, monkeypatch, capfdbinary, start, tokenizer):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"The old ___ sailed.\n\nNo blank.\n")))
    assert main(["fill", "--model", model]) == 0
    expected = Filler(start, tokenizer)("The old ___ sailed.", ids="1").text
    assert capfdbinary.readouterr().out.decode().splitlines() == [expected, "", "No blank."]


def test_scores(model, tmp_path, start, tokenizer):
    given, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    texts = [{"text": "The old captain.", "spans": [[8, 15]]}, {"text": "The old captain."}]
    given.write_text("".join(json.dumps(line) + "\n" for line in texts))
    assert main(["score", str(given), f"--model={model}", "--out", str(out)]) == 0
    filler = Filler(start, tokenizer)
    spans = filler.score("The old captain.", [(8, 15)], ids="1")
    whole = filler.score("The old captain.", ids="2")
    assert [row["nats"] for row in rows(out)] == pytest.approx([spans.nats, whole.nats], rel=1e-4)
    assert [row["tokens"] for row in rows(out)] == [spans.tokens, whole.tokens]


def test_what_fill_wrote_is_filled_again_by_its_markers(model, tmp_path):
    """Its `spans` say where the fills of the first pass are, and are no blanks of the second."""
    given, first, second = (tmp_path / f"{name}.jsonl" for name in ("given", "first", "second"))
    given.write_text(json.dumps({"text": "The ___ [X] sailed."}) + "\n")
    assert main(["fill", str(given), "--model", model, "--out", str(first)]) == 0
    assert main(["fill", str(first), "--model", model, "--marker", "[X]", "--out", str(second)]) == 0
    (before,), (after,) = rows(first), rows(second)
    assert "[X]" in before["text"] and "[X]" not in after["text"] and before["fills"][0] in after["text"]


@pytest.mark.parametrize("command", ["fill", "score"])
def test_characters_are_given_under_either_key(command, model, tmp_path, capfd):
    text, places = "The old captain.", [[8, 15]]
    lines = [{"text": text, "blanks": places}, {"text": text, "spans": places}]
    made = []
    for number, line in enumerate(lines):
        given, out = tmp_path / f"in{number}.jsonl", tmp_path / f"out{number}.jsonl"
        given.write_text(json.dumps(line) + "\n")
        assert main([command, str(given), "--model", model, "--out", str(out)]) == 0
        made.append(rows(out)[0])
    assert made[0] == made[1] and made[0].get("characters", 7) == 7 and made[0].get("text") != text
    given.write_text(json.dumps({"text": text}) + "\n" + json.dumps(lines[0] | lines[1]) + "\n")
    capfd.readouterr()
    assert main([command, str(given), "--model", model]) == 1
    assert capfd.readouterr().err.splitlines() == [
        "error: line 2 has both `blanks` and `spans`: leave one of them out"
    ]


def test_wrong_characters_far_down_a_file_are_told_by_the_id_of_their_line(model, tmp_path, capfd):
    given = tmp_path / "in.jsonl"
    lines = [{"text": "The old captain.", "spans": [[8, 15]]}] * 70 + [
        {"text": "a", "spans": [[0]], "id": "x"}
    ]
    given.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["score", str(given), "--model", model]) == 1
    assert "error: blanks of text x: each is (start, end)" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": 3}', "line 2: the object needs a string `text`"),
        ('{"id": "a", "text": "secret"}', "line 2: an earlier line has the same id"),
        ('{"id": [], "text": "secret"}', "line 2: an id is a string or a whole number"),
        ("secret", "line 2 is not JSON"),
        ('{"text": "secret", "text": "b"}', "line 2: an object has the same key twice"),
        ('{"n": ' + "9" * 5000 + "}", "line 2 is not JSON"),
        ("[1]", "line 2: a JSON object is needed, this is a list"),
        *(
            (f'{{"text": "secret", "n": {number}}}', "line 2 is not JSON")
            for number in ("1e999", "NaN", "-Infinity")
        ),
    ],
)
def test_a_wrong_line_is_told_by_its_number(line, message, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"id": "a", "text": "b"}\n' + line + "\n")
    with pytest.raises(BlankfillError, match=message) as error:
        list(Source(str(path)))
    assert "secret" not in str(error.value)


def test_a_file_that_holds_no_results_is_not_continued(tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text('{"name": 1}\n')
    assert_refused("line 1 is no result of this command", Sink, str(out), True, {}, {})


def test_a_file_that_is_not_ours_is_not_emptied(tmp_path):
    """Its last line lacks its end, as that of an interrupted run does, and nothing says that a run began it."""
    for name in ("thesis.txt", "settings.json"):
        out = tmp_path / name
        out.write_text("{}")
        assert_refused("says how it was begun, is missing: give another --out", Sink, str(out), False, {}, {})
        assert out.read_text() == "{}" and not Path(f"{out}.settings.json").exists()


def test_two_processes_do_not_write_one_output(tmp_path):
    out = tmp_path / "out.jsonl"
    with Sink(str(out), True, {}, {}) as first:
        first.write({"id": "1"}, "")
        assert_refused(f"another process writes to {out}: wait until it ends", Sink, str(out), True, {}, {})
        first.write({"id": "2"}, "")
    with Sink(str(out), True, {}, {}) as second:
        assert second.done == {"1", "2"}


def test_an_output_is_written_where_there_are_no_locks(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("no locks here")

    monkeypatch.setattr("blankfill.commands.lines.fcntl.flock", refuse)
    Sink(str(tmp_path / "a.jsonl"), True, {}, {}).file.close()
    monkeypatch.setattr("blankfill.commands.lines.fcntl", None)
    Sink(str(tmp_path / "b.jsonl"), True, {}, {}).file.close()
    assert (tmp_path / "a.jsonl").exists() and (tmp_path / "b.jsonl").exists()


def test_an_output_is_not_continued_from_another_form(model, tmp_path, capfd):
    given, out = tmp_path / "in.txt", tmp_path / "out.txt"
    given.write_text(json.dumps({"text": "The old ___ sailed."}) + "\n")
    command = ["fill", str(given), "--model", model, "--out", str(out)]
    assert main(command) == 0 and main([*command, "--form", "jsonl"]) == 0  # as it looks
    whole = out.read_bytes()
    given.write_bytes(given.read_bytes() * 2)
    capfd.readouterr()
    assert main([*command, "--form", "lines"]) == 1
    assert "was begun with another form: give another --out" in capfd.readouterr().err
    assert out.read_bytes() == whole


@pytest.mark.parametrize("blank", ["\n", "\r\n \n\n"])
def test_json_lines_may_begin_with_blank_ones(blank, tmp_path):
    path = tmp_path / "in.txt"
    path.write_bytes(b"\xef\xbb\xbf" + blank.encode() + b'{"text": "a"}\n')
    source = Source(str(path))
    assert source.is_json and [line.text for line in source] == ["a"]
    path.write_text(blank + "a\n")
    source = Source(str(path))
    assert not source.is_json and len([*source]) == blank.count("\n") + 1
    path.write_text(blank)
    assert len([*Source(str(path))]) == blank.count("\n")


def test_mistakes_end_with_one_line(model, given, capfd):
    assert main(["fill", str(given), "--model", model, "--order", "up"]) == 1
    assert capfd.readouterr().err.splitlines()[-1].startswith("error: order=up is unknown")
    assert main(["score", str(given), "--model", model, "--method", "pseudo", "--seed", "1"]) == 1
    assert "seed changes nothing about method pseudo" in capfd.readouterr().err
    assert main(["fill", str(given), "--model", model, "--out", str(given)]) == 1
    assert "is the input itself" in capfd.readouterr().err


def test_score_is_the_librarys_with_a_model_and_the_stage_without():
    assert is_stage(["score", "scale=smoke"]) and is_stage(["corpus", "--help"])
    assert is_stage(["score", "scale=smoke", "--help"]) and not is_stage(["score", "--help"])
    assert not is_stage(["score", "--model", "x"]) and not is_stage(["score", "in.txt", "--model=x"])


def test_help_has_an_example_and_loads_no_network_library():
    verbs = ("fill", "score", "ls", "augment", "audit")
    code = (
        "import sys; from mlm_vs_clm.tools.__main__ import main\n"
        f"for verb in {verbs}:\n"
        "    try: main([verb, '--help'])\n"
        "    except SystemExit as done: print(f'|{done.code}|', end='')\n"
        "sys.exit(bool({'torch', 'transformers'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0
    shown = done.stdout.split("|0|")
    for verb, text in zip(verbs, shown[:-1], strict=True):
        assert f"mlm-vs-clm {verb}" in text.partition("example:")[2]


def test_ls_names_orders_contexts_and_models(capsys, tmp_path, monkeypatch, model):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tiny").symlink_to(model)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert main(["ls", "orders"]) == 0 and "confidence" in capsys.readouterr().out.split()
    assert main(["ls"]) == 0
    assert "true_left  causal" in capsys.readouterr().out
    (tmp_path / "data" / "tiny").unlink()
    assert main(["ls"]) == 0 and main(["ls", "models"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("models:\n  none below ./data") and shown.splitlines()[-1].startswith(
        "none below ./data"
    )


def test_a_text_that_cannot_be_filled_is_left_as_it_is(model, tmp_path):
    given, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    lines = [{"id": "a", "text": "The old captain.", "blanks": [[4, 7], [5, 9]]}, LINES[0] | {"id": "b"}]
    given.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["fill", str(given), "--model", model, "--on-error", "skip", "--out", str(out)]) == 0
    left, filled = rows(out)
    assert left["text"] == "The old captain." and left["error"] and "error" not in filled
    again = tmp_path / "again.jsonl"
    assert main(["fill", str(out), "--model", model, "--out", str(again)]) == 0
    assert not any("error" in row for row in rows(again))


@pytest.mark.parametrize(
    ("closed", "message"),
    [(">&-", "standard output is closed"), ("<&-", "standard input cannot be read"), ("2>&-", "")],
)
def test_closed_streams_are_a_line_or_nothing(closed, message, model, tmp_path):
    command = f"{sys.executable} -m mlm_vs_clm fill --model {model} --form lines {closed}"
    ended = subprocess.run(
        ["bash", "-c", command], input=b"The ___ sailed.\n", capture_output=True, cwd=tmp_path
    )
    said = ended.stderr.decode().splitlines()
    assert (ended.returncode, len(said)) == ((1, 1) if message else (0, 0))
    assert message in "".join(said) and (ended.stdout.startswith(b"The ") or message)


def test_a_device_takes_results_and_keeps_no_settings(model, given):
    assert main(["fill", str(given), "--model", model, "--out", "/dev/null"]) == 0
    assert not Path("/dev/null.settings.json").exists()


def test_ls_shows_names_that_no_terminal_can(capsys, tmp_path, monkeypatch):
    folder = tmp_path / "data" / "odd\udce9"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"architectures": "BertForMaskedLM"}')
    (folder / "model.safetensors").touch()
    deep = tmp_path / "data" / "deep"
    deep.mkdir()
    (deep / "config.json").write_text("[" * 100_000)
    (deep / "model.safetensors").touch()
    monkeypatch.chdir(tmp_path)
    assert main(["ls", "models"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[:2] == ["data/deep  settings cannot be read", "data/odd\\udce9  BertForMaskedLM"]


@pytest.mark.parametrize("named", ["5", "[5]", '{"a": 1}', '"BertForMaskedLM"'])
def test_classes_that_are_no_list_of_names_are_told(named, model, tmp_path):
    copy = Path(shutil.copytree(model, tmp_path / "copy"))
    settings = json.loads((copy / "config.json").read_text()) | {"architectures": json.loads(named)}
    (copy / "config.json").write_text(json.dumps(settings))
    assert_refused("copy.*architectures", Filler, str(copy))


def test_weights_behind_a_broken_link_are_told(model, tmp_path):
    copy = Path(shutil.copytree(model, tmp_path / "copy"))
    (copy / "model.safetensors").unlink()
    (copy / "model.safetensors").symlink_to(tmp_path / "gone")
    assert_refused("model.safetensors is a link to a file that is not there", Filler, str(copy))


def test_ls_looks_where_the_hub_keeps_models(capsys, tmp_path, monkeypatch):
    for name in ("HF_HUB_CACHE", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    snapshot = tmp_path / "huggingface" / "hub" / "models--a--b" / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text('{"model_type": "bert"}')
    (snapshot / "model.safetensors").touch()
    assert main(["ls", "models"]) == 0 and capsys.readouterr().out == "a/b  bert\n"


def test_the_audit_reads_standard_input_once(capfd):
    assert main(["audit", "--train", "-", "--holdout", "-", "--generated", "none"]) == 1
    assert "standard input (-) is read once" in capfd.readouterr().err


def test_the_audit_looks_at_its_output_first(tmp_path, capfd):
    files = ["--train", "none", "--holdout", "none", "--generated", "none"]
    assert main(["audit", *files, "--out", str(tmp_path / "absent" / "out.json")]) == 1
    assert "out.json cannot be written" in capfd.readouterr().err


@pytest.mark.parametrize("options", [["--strategy", "entities"], ["--labels", "drop_replaced"]])
def test_lines_without_the_labels_that_are_needed_are_refused(options, model, tmp_path, capfd):
    given, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    text = {"text": "The old captain sailed."}
    command = ["augment", str(given), "--model", model, "--out", str(out), *options]
    given.write_text(json.dumps(text | {"entities": []}) + "\n" + json.dumps(text) + "\n")
    assert main(command) == 1
    (told,) = capfd.readouterr().err.splitlines()
    assert f"in.jsonl, line 2 has no `entities`, which {' '.join(options)} needs" in told
    given.write_text(json.dumps(text | {"entities": []}) + "\n")
    assert main(command) == 0 and len(rows(out)) == 1


def test_the_audit_counts_no_blank_line(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("a text\n\n  \nanother\n")
    assert read_texts(str(path), "auto") == ["a text", "another"]


def test_the_audit_leaves_a_broken_link(tmp_path):
    link, target = tmp_path / "link.json", tmp_path / "target.json"
    link.symlink_to(target)
    assert_refused("link.json is there already: give another name", reserve, link)
    assert link.is_symlink() and not target.exists()
