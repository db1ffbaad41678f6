"""A store with one generated document, beside its corpus and its blanks."""

import json

from aspirin import DOCUMENT, WORDS, fill
from forged_store import sign

from mlm_vs_clm.corpora import Corpus, save
from mlm_vs_clm.files import write_lines
from mlm_vs_clm.pipeline.cells import save_filled


def make_store(folder):
    """Return a generate artifact of one document, beside its corpus and corruption."""
    save(Corpus({"generate": [DOCUMENT]}, [], {}), folder / "corpus" / "c")
    (folder / "corrupt" / "k").mkdir(parents=True)
    row = {"id": "d/1", "words": WORDS, "blanks": [0, 2, 3], "n_eligible": 3}
    write_lines(folder / "corrupt" / "k" / "blanks.jsonl", [row])
    generation = folder / "generate" / "g"
    generation.mkdir(parents=True)
    save_filled(generation / "fills.jsonl", [fill(["", "mild", "fevers"])])
    inputs = {"corpus": "corpus/c", "corruption": "corrupt/k"}
    (generation / "artifact.json").write_text(json.dumps({"inputs": inputs}))
    sign(generation)
    for name in inputs.values():
        (folder / name / "artifact.json").write_text("{}")
        sign(folder / name)
    return generation
