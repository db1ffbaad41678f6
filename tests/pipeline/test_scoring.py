"""Scores of a cell: the likelihood that an arm recorded, document by document; and a GPU that is too small for them."""

import numpy as np
import torch
from refusals import assert_refused

from blankfill.text import BlankedText, find_words
from mlm_vs_clm.files import write_lines
from mlm_vs_clm.metrics import NATS
from mlm_vs_clm.pipeline import scoring
from mlm_vs_clm.pipeline.artifacts import Runtime
from mlm_vs_clm.pipeline.scoring import score_originals
from mlm_vs_clm.pipeline.stages import make_scores
from mlm_vs_clm.stats import point, ratio_of_sums


def test_nats_per_character_leave_out_what_was_skipped_and_what_has_no_blanks(tmp_path):
    blanked = [
        BlankedText(id, "a b", find_words("a b"), blanks)
        for id, blanks in [("x", [0]), ("y", []), ("z", [1])]
    ]
    rows = [("x", 6.0, 2, 1), ("y", 0.0, 0, 0)]  # z was skipped
    keys = ("id", "nats", "characters", "tokens")
    write_lines(tmp_path / "likelihood.jsonl", (dict(zip(keys, row, strict=True)) for row in rows))
    scored = score_originals(tmp_path, blanked)
    assert (scored.scope, scored.name) == ("fills", NATS)
    np.testing.assert_array_equal(scored.rows, [[6, 2], [np.nan, np.nan], [np.nan, np.nan]])
    assert point(scored.rows, ratio_of_sums) == 3


def test_a_gpu_without_room_for_the_encoder_is_one_line(tmp_path, monkeypatch):
    def fill_up(*given):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(scoring, "score_cell", fill_up)
    settings = {"encoder": "package:minilm", "layer": 1, "precision": "fp32", "metrics": []}
    asked = settings, {"encoder": tmp_path}, tmp_path, Runtime()
    assert_refused("out of memory while scoring: set workers=1", make_scores, *asked)
