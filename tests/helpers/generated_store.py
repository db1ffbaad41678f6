"""A store with one generated document, beside its corpus and its blanks."""

from aspirin import DOCUMENT, WORDS, fill
from forged_store import sign, write_record

from mlm_vs_clm.corpora import Corpus, save
from mlm_vs_clm.files import write_lines
from mlm_vs_clm.pipeline.artifacts import name_of
from mlm_vs_clm.pipeline.cells import save_filled

SETTINGS = {"name": "mlm", "context": "both", "seed": 0}


def make_store(folder):
    """Return a generate artifact of one document, beside its corpus and corruption."""
    corpus = write_record(folder, {"stage": "corpus"})
    save(Corpus({"generate": [DOCUMENT]}, [], {}), corpus)
    corruption = write_record(folder, {"stage": "corrupt"})
    row = {"id": "d/1", "words": WORDS, "blanks": [0, 2, 3], "n_eligible": 3}
    write_lines(corruption / "blanks.jsonl", [row])
    inputs = {"corpus": name_of(corpus), "corruption": name_of(corruption)}
    record = {"stage": "generate", "settings": SETTINGS, "inputs": inputs, "commit": "abc"}
    generation = write_record(folder, record)
    save_filled(generation / "fills.jsonl", [fill(["", "mild", "fevers"])])
    for artifact in (corpus, corruption, generation):
        sign(artifact)
    return generation
