"""`augment` and `audit` on the command line: lines in, lines out, continued where they were interrupted."""

import json

import pytest
from refusals import SECRET

from blankfill import InfillAugmenter
from mlm_vs_clm.tools.__main__ import main

TEXTS = [
    "The doctor said: take one tablet a day.",
    "The captain stayed at the wheel!",
    "Better schools make better towns.",
]
ROWS = [
    {"id": "a", "text": TEXTS[0], "entities": [{"start": 17, "end": 32, "label": "dose"}], "year": 1999},
    {"id": 7, "text": TEXTS[1], "entities": []},
    {"text": TEXTS[2]},
]


def put(path, lines):
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return str(path)


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_variants_of_lines_are_those_of_python_and_go_on_after_a_stop(folder, start, tokenizer, tmp_path):
    source, out = put(tmp_path / "in.jsonl", ROWS), tmp_path / "out.jsonl"
    command = ["augment", source, "--out", str(out), "--model", str(folder), "-n", "2"]
    command += ["--share", "0.5", "--protect", "the"]
    assert main(command) == 0
    made = read(out)
    assert [row["id"] for row in made] == ["a-1", "a-2", "7-1", "7-2", "3-1", "3-2"]
    assert [row["source_id"] for row in made] == ["a", "a", "7", "7", "3", "3"]
    assert [row.get("year") for row in made] == [1999, 1999, None, None, None, None]
    assert "entities" not in made[-1] and made[2]["entities"] == []
    augmenter = InfillAugmenter(start, tokenizer, share=0.5, protect="the")
    expected = augmenter.augment(TEXTS, 2, [ROWS[0]["entities"], [], []], ids=["a", "7", "3"])
    assert [row["text"] for row in made] == [variant["text"] for each in expected for variant in each]
    assert [row["entities"] for row in made[:2]] == [variant["entities"] for variant in expected[0]]
    whole = out.read_bytes()
    for cut in (len(whole.splitlines(keepends=True)[0]) * 2 - 9, 0):
        out.write_bytes(whole[:cut])
        assert main(command) == 0
        assert out.read_bytes() == whole
    put(out, [made[1], made[4]])
    assert main(command) == 0
    assert sorted(read(out), key=lambda row: row["id"]) == sorted(made, key=lambda row: row["id"])


def test_plain_lines_become_plain_lines(folder, tmp_path):
    out = tmp_path / "out.txt"
    source = put(tmp_path / "in.txt", TEXTS)
    command = ["augment", source, "--out", str(out), "--model", str(folder), "--share", "0.5"]
    assert main(command) == 0
    lines = out.read_text().splitlines()
    assert len(lines) == 3 and lines != TEXTS
    out.write_text(f"{lines[0]}\n")
    assert main(command) == 0 and out.read_text().splitlines() == lines


@pytest.mark.parametrize(
    "options, says",
    [
        (["-n", "0"], "-n=0"),
        (["--temperature", "-1"], "temperature"),
        (["--protect-pattern", "("], "--protect-pattern: "),
        (["--share", "2"], "share=2.0"),
        (["--on-error", "skip"], "--on-error skip needs JSON Lines"),
        (["--strategy", "spans", "--share", "0"], "share=0"),
        (["--strategy", "outside_entities"], "--strategy outside_entities needs JSON Lines with entities"),
        (["--labels", "drop_replaced"], "--labels drop_replaced needs JSON Lines with entities"),
    ],
)
def test_a_mistake_is_one_line(folder, tmp_path, capsys, options, says):
    source = put(tmp_path / "in.txt", [SECRET])
    assert main(["augment", source, "--model", str(folder), *options]) == 1
    shown = capsys.readouterr()
    assert says in shown.err and len(shown.err.splitlines()) == 1 and SECRET not in shown.err


def test_an_audit_of_files(folder, tmp_path, capsys):
    texts = [
        [f"{word} {side}{i} went there by the boat" for i in range(4)]
        for side, word in zip("abc", TEXTS, strict=True)
    ]
    files = [put(tmp_path / f"{name}.txt", lines) for name, lines in zip(("t", "h", "g"), texts, strict=True)]
    names = put(tmp_path / "n.txt", ["c1", "c2"]), put(tmp_path / "m.jsonl", [{"text": "x1"}])
    command = ["audit", "--train", files[0], "--holdout", files[1], "--generated", files[2]]
    command += ["--out", str(tmp_path / "o")]
    rest = ["--names", names[0], "--names-control", names[1], "--model", str(folder)]
    assert main([*command, *rest]) == 0
    (row,) = read(tmp_path / "o")
    assert row["texts"] == {"train": 4, "holdout": 4, "generated": 4}
    assert row["names"]["share"]["value"] == 1.0 and row["names"]["share"]["control"] == 0.0
    assert 0 <= row["membership"]["low"] <= row["membership"]["high"] <= 1
    assert "names that come back: 1.000 against 0.000" in capsys.readouterr().err
    assert main([*command, *rest]) == 1 and "is there already" in capsys.readouterr().err
    assert main([*command[:-1], str(tmp_path / "p"), "--names", names[0]]) == 1
    assert "--names and --names-control go together" in capsys.readouterr().err
