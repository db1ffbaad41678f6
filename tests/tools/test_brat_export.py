"""brat files of generated documents: offsets that hold their text, and the command."""

import json

import pytest
from aspirin import DOCUMENT, WORDS, fill
from generated_store import make_store

from mlm_vs_clm.documents import Document, Entity
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.tasks.projection import project
from mlm_vs_clm.tools.__main__ import main
from mlm_vs_clm.tools.brat_export import write_standoff


def read_standoff(folder):
    """Return {file: (text, [(type, pieces, third column)])}, as the brat format says."""
    found = {}
    for path in sorted(folder.glob("*.txt")):
        rows = []
        for line in path.with_suffix(".ann").read_bytes().decode().split("\n")[:-1]:
            name, middle, held = line.split("\t")
            kind, places = middle.split(" ", 1)
            assert name == f"T{len(rows) + 1}"
            rows.append((kind, [tuple(map(int, piece.split())) for piece in places.split(";")], held))
        found[path.stem] = path.read_bytes().decode(), rows
    return found


@pytest.mark.parametrize(
    "fills", [["A", "b", "c"], ["Acetyl acid", "very 🐀 high", "fever of 40"], ["", "", "rash"]]
)
def test_brat_offsets_hold_their_text(tmp_path, fills):
    made, _ = project(DOCUMENT, fill(fills), WORDS)
    write_standoff([made], tmp_path / "out")
    (name, (text, rows)) = next(iter(read_standoff(tmp_path / "out").items()))
    assert name == "d%2F1" and text == made.text and len(rows) == len(made.entities)
    ordered = sorted(made.entities, key=lambda e: (e.start, e.end))
    for (_, pieces, held), entity in zip(rows, ordered, strict=True):
        assert " ".join(text[start:end] for start, end in pieces) == held
        assert (pieces[0][0], pieces[-1][1]) == (entity.start, entity.end) and "\n" not in held
    assert {kind for kind, _, _ in rows} <= {"Chemical", "Disease", "Other_Kind"}


def test_offsets_outside_the_text_and_a_full_folder_are_refused(tmp_path):
    with pytest.raises(StudyError, match="document x: entity offsets 0-9 fall outside the text of 5"):
        write_standoff([Document("x", "short", entities=(Entity(0, 9, "X"),))], tmp_path / "new")
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(StudyError, match="is not empty"):
        write_standoff([DOCUMENT], tmp_path)


def test_the_command_writes_a_generate_artifact_and_reports_what_was_lost(tmp_path, capsys, monkeypatch):
    generation, out = make_store(tmp_path), tmp_path / "brat"
    assert main(["export-brat", str(generation), "--out", str(out)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"documents": 1, "entities": 2, "entity left out of the new text": 1}
    assert [held for _, _, held in read_standoff(out)["d%2F1"][1]] == ["mild fevers", "mild fevers in"]
    monkeypatch.chdir(generation)
    assert main(["export-brat", ".", "--out", str(tmp_path / "again")]) == 0
    capsys.readouterr()
    record = json.loads((generation / "artifact.json").read_text())
    score = tmp_path / "score" / "0123"
    score.mkdir(parents=True)
    (score / "artifact.json").write_text(json.dumps(record | {"stage": "score"}))
    assert main(["export-brat", str(score), "--out", str(out)]) == 1
    assert "holds no artifact.json of the generate stage" in capsys.readouterr().err
    assert main(["export-brat", str(tmp_path), "--out", str(out)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "outputs/generate/<id>" in error
