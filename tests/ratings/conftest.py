"""A forged study of two corpora and three arms, and the key of a sheet drawn from it."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from forged_store import sign, write_record
from simulated_ratings import ARMS

from mlm_vs_clm.files import write_lines
from mlm_vs_clm.pipeline.artifacts import name_of
from mlm_vs_clm.ratings import sheet
from mlm_vs_clm.tools.rating_sheet import read_texts

N_DOCUMENTS = 12


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """Return (results, store) of two corpora and three arms, forged: no text names its arm."""
    root = tmp_path_factory.mktemp("study")
    rows, draw = [], np.random.default_rng(0)
    for corpus in ("abstracts", "plots"):
        for arm in ARMS:
            settings = {"arm": arm, "corpus": corpus}
            made = write_record(root / "outputs", {"stage": "generate", "settings": settings})
            record = {"stage": "score", "inputs": {"generation": name_of(made)}}
            score = write_record(root / "outputs", record)
            rows_of = [[float(value), 1.0] for value in draw.random(N_DOCUMENTS)]
            statistics = {"scope": "document", "metric": "rouge1", "rows": rows_of}
            write_lines(score / "statistics.jsonl", [statistics])
            texts = {f"{corpus[0]}{n}": f"Text {n} of {len(arm)} <b>&" for n in range(N_DOCUMENTS)}
            fills = [{"id": id, "text": text, "fills": [], "spans": []} for id, text in texts.items()]
            write_lines(made / "fills.jsonl", fills)
            sign(made)
            sign(score)
            cell = {"corpus": corpus, "arm": arm, "strategy": "random", "ratio": 0.5, "seed": 0}
            rows.append(cell | {"artifact": name_of(score)})
    (root / "results" / "laptop").mkdir(parents=True)
    pd.DataFrame(rows).to_csv(root / "results" / "laptop" / "scores.csv", index=False)
    about = {"scale": "laptop", "track": "matched", "rules": "0", "main_strategy": "random"}
    about |= {"main_ratio": 0.5, "starts_from": "an encoder"}
    (root / "results" / "laptop" / "study.yaml").write_text(json.dumps({"study": about}))
    return root / "results" / "laptop", root / "outputs"


def _draw_sheet(results, store, texts=3, seed=0):
    cells = sheet.choose_cells(results, ARMS, 0.5, 0, "random")
    return sheet.draw_sheet(cells, partial(read_texts, store), texts, np.random.default_rng(seed))


@pytest.fixture(scope="session")
def draw_sheet(study):
    """Return a function that draws a sheet of the forged study."""
    return partial(_draw_sheet, *study)


@pytest.fixture(scope="session")
def key(draw_sheet):
    named = sheet.name_items(draw_sheet())
    return sheet.make_key(sheet.name_sheet(named), named, 0.5, 0, "random")
