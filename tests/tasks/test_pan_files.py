"""PAN's files: scored as published, and mistakes named with file and line."""

import json
import re

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, f1_score, roc_auc_score

from mlm_vs_clm.tasks import pan_files
from mlm_vs_clm.tools.__main__ import main

TRUTH = [("p1", True), ("p2", True), ("p3", True), ("p4", False), ("p5", False)]
VALUES = {"p1": 0.9, "p2": 0.5, "p3": 0.2, "p4": 0.7, "p5": 0.1}


def write(folder, truth=TRUTH, answers=None):
    answers = [{"id": id, "value": value} for id, value in VALUES.items()] if answers is None else answers
    rows = [{"id": id, "same": same, "authors": ["a", "b"]} for id, same in truth]
    files = folder / "truth.jsonl", folder / "answers.jsonl"
    for path, lines in zip(files, (rows, answers), strict=True):
        path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return files


def test_scores_by_hand_and_in_another_order(tmp_path, capsys):
    truth, answers = write(tmp_path, truth=TRUTH[::-1])
    assert main(["score-pan", "--truth", str(truth), "--answers", str(answers)]) == 0
    # tp 1, fp 1, fn 1, one without answer: c@1 = (2 + 2/5) / 5; F0.5u = 1.25 / (1.25 + 0.25 * 2 + 1).
    expected = {"AUC": 0.667, "c@1": 0.48, "F0.5u": 0.455, "F1": 0.5, "Brier": 0.72, "overall": 0.564}
    assert json.loads(capsys.readouterr().out) == expected | {"problems": 5, "unanswered": 1}


def test_scores_equal_scikit_learn_with_ties_at_no_answer(tmp_path):
    rng = np.random.default_rng(0)
    same, scores = rng.integers(2, size=300), np.round(rng.random(300), 1)
    ids = [f"p{i}" for i in range(300)]
    answers = [{"id": id, "value": value} for id, value in zip(ids, scores, strict=True)]
    found = pan_files.score_files(*write(tmp_path, zip(ids, (same > 0).tolist(), strict=True), answers))
    answered = scores != 0.5
    assert found["AUC"] == pytest.approx(roc_auc_score(same, scores))
    assert found["F1"] == pytest.approx(f1_score(same[answered], scores[answered] > 0.5))
    assert found["Brier"] == pytest.approx(1 - brier_score_loss(same, scores))
    right = ((scores > 0.5) == (same > 0))[answered].mean()
    assert found["c@1"] == pytest.approx(right * answered.mean() * (2 - answered.mean()))


@pytest.mark.parametrize(
    "lines, says",
    [
        ([{"id": "p1", "value": 1.2}], "answers.jsonl:1: value of p1 is 1.2, not a number from 0 to 1"),
        (['{"id": "p1", "value": NaN}\n'], "answers.jsonl:1: value of p1 is nan"),
        (['\n{"id": "p1", "value": true}\n'], "answers.jsonl:2: value of p1 is True"),
        ([{"id": "p1", "value": "0.5"}], "answers.jsonl:1: value of p1 is '0.5'"),
        ([{"id": "p1", "value": 0.1}] * 2, "answers.jsonl:2: id p1 is also in line 1"),
        ([{"id": "p1", "value": 0.1}, "{broken\n"], "answers.jsonl:2: not JSON"),
        (["[" * 100_000 + "\n"], "answers.jsonl:1: not JSON"),
        (['{"id": "p1", "value": 0.1, "value": 0.9}\n'], "answers.jsonl:1: an object has the same key twice"),
        ([{"id": "p1"}], "answers.jsonl:1: not of the shape"),
        ([{"id": "p1", "value": 0.1}], "truth.jsonl:2: p2 has no answer in .*4 such ids"),
        (
            [*({"id": id, "value": 0.1} for id in [*VALUES, "p9"])],
            "answers.jsonl:6: p9 is not a known problem in",
        ),
        ([], "answers.jsonl is empty"),
    ],
)
def test_a_mistake_is_one_line_with_file_and_number(tmp_path, capsys, lines, says):
    truth, answers = write(tmp_path, answers=lines)
    assert main(["score-pan", "--truth", str(truth), "--answers", str(answers)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith("error: ")
    assert re.search(says, error)


def test_a_missing_file_is_one_line(tmp_path, capsys):
    truth, answers = write(tmp_path)
    answers.unlink()
    assert main(["score-pan", "--truth", str(truth), "--answers", str(answers)]) == 1
    assert "answers.jsonl cannot be read" in capsys.readouterr().err


def test_what_is_written_is_scored_the_same(tmp_path):
    units = [{"id": id, "same": int(same), "score": VALUES[id]} for id, same in TRUTH]
    pan_files.write_answers(tmp_path, units)
    first = (tmp_path / "answers.jsonl").read_text().splitlines()[1]
    assert first == '{"id": "p2", "value": 0.5}'
    found = pan_files.score_files(tmp_path / "truth.jsonl", tmp_path / "answers.jsonl")
    assert found["AUC"] == pytest.approx(2 / 3)
