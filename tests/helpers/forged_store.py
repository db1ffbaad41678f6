"""A store whose scores are invented: every arm of the claims at two maskings, without a network."""

import json
import shutil
from itertools import product

import numpy as np

from blankfill.text import BlankedText, assemble_text, find_words
from mlm_vs_clm.corpora import save
from mlm_vs_clm.corpora.storage import Corpus
from mlm_vs_clm.documents import Document
from mlm_vs_clm.files import hash_file, write_lines, write_table
from mlm_vs_clm.masking import Corruption
from mlm_vs_clm.pipeline.artifacts import RECORD, hash_contents
from mlm_vs_clm.pipeline.cells import save_corruptions, save_filled
from mlm_vs_clm.pipeline.downstream import COLUMNS as TASK_COLUMNS
from mlm_vs_clm.pipeline.scoring import COLUMNS as SCORE_COLUMNS

SKILL = {"mlm": 6, "mlm_leaky": 8, "mlm_left": 5, "infill": 6, "clm": 4, "seq2seq_kept": 3}
SKILL |= {"clm_lookahead": 5, "clm_general": 3, "mlm_general": 5, "unfilled": 0, "oracle": 10}
SKILL |= {"constant": 1, "bigram_left": 2, "bigram_both": 2}
CONTEXTS = {
    "clm": "left",
    "mlm_left": "left",
    "clm_general": "left",
    "seq2seq_kept": "kept",
    "mlm_leaky": "leaky",
}
CONTEXTS |= dict.fromkeys(("unfilled", "oracle", "constant", "bigram_left", "bigram_both"), "none")
MEANS = (
    ("fills", "exact_match"),
    ("fills", "exact_match_content"),
    ("document", "rougeL"),
    ("document", "bertscore"),
    ("document", "meteor"),
)
TEXTS = [f"Case {i}: the patient took a small dose." for i in range(12)]


def sign(folder):
    """Complete the record of a forged artifact as the store does, so that it counts as whole."""
    record = json.loads((folder / RECORD).read_text())
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != RECORD]
    record["files"] = {str(path.relative_to(folder)): hash_file(path) for path in files}
    (folder / RECORD).write_text(json.dumps(record))


def write_record(root, record):
    """Write a record into the folder that its settings and inputs name, and return the folder."""
    record = {"version": 1, "settings": {}, "inputs": {}, "seconds": 0.0, "measured": {}} | record
    ids = {key: reference.partition("/")[2] for key, reference in record["inputs"].items()}
    name = hash_contents(record["stage"], record["version"], record["settings"], ids)
    folder = root / record["stage"] / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORD).write_text(json.dumps(record))
    return folder


def copy_artifact(folder, version):
    """Return a copy of an artifact, made by another version of its stage."""
    copy = write_record(folder.parents[1], json.loads((folder / RECORD).read_text()) | {"version": version})
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(RECORD), dirs_exist_ok=True)
    return copy


class ForgedStore:
    """Artifacts of one corpus under a folder; `inputs` names those that a report reads. Each of `draws` has other blanks."""

    def __init__(self, root, maskings, corpus_name="tiny", draws=1):
        self.root, self.inputs, rng = root, {}, np.random.default_rng(0)
        corpus = self.add("corpus", corpus_name, {"name": corpus_name}, {})
        documents = [Document(f"d{i}", text) for i, text in enumerate(TEXTS)]
        save(Corpus({"generate": documents, "pretrain": [Document("p", "the cat")]}, [], {}), corpus)
        for (strategy, ratio), seed in product(maskings, range(draws)):
            name = f"{strategy}-{ratio}" + (f"-{seed}" if seed else "")
            blanks = [1 + seed, 3 + seed]
            corruption = self.add("corrupt", name, {}, {})
            words = [find_words(text) for text in TEXTS]
            save_corruptions(
                corruption / "blanks.jsonl",
                [Corruption(d.id, w, blanks, 9) for d, w in zip(documents, words, strict=True)],
            )
            summary = {"strategy": strategy, "ratio": ratio, "share": ratio, "seed": seed}
            (corruption / "summary.json").write_text(json.dumps(summary))
            for arm, skill in SKILL.items():
                self.add_arm(arm, name, skill, rng, blanks, {"corpus": corpus, "corruption": corruption})

    def add(self, stage, name, settings, inputs, **measured):
        """Return the folder of an artifact with its record."""
        references = {key: f"{path.parent.name}/{path.name}" for key, path in inputs.items()}
        record = {"stage": stage, "version": len(self.inputs)}
        record |= {"settings": settings, "inputs": references, "measured": measured}
        folder = write_record(self.root, record)
        self.inputs[f"{stage}/{name}"] = folder
        return folder

    def add_arm(self, arm, name, skill, rng, blanks, inputs):
        """Write what an arm filled, cost and scored, and what a tagger learned from it."""
        axes = {"name": arm, "objective": None, "length": "known", "order": "random"}
        axes["context"] = CONTEXTS.get(arm, "both")
        generation = self.add(
            "generate", f"{arm}-{name}", axes, inputs, seconds=1.0, device="cpu", peak_memory_mb=1.0
        )
        fills = [
            assemble_text(BlankedText(f"d{i}", text, find_words(text), blanks), ["x", "The"])
            for i, text in enumerate(TEXTS)
        ]
        save_filled(generation / "fills.jsonl", fills)
        ledger = dict.fromkeys(("blanks", "tokens_filled", "passes", "token_forwards"), 24)
        (generation / "ledger.json").write_text(
            json.dumps(ledger | {"documents": 12, "flops": 100 * (1 + skill)})
        )
        inputs = inputs | {"generation": generation}
        score = self.add("score", f"{arm}-{name}", {"resamples": 20}, inputs, rules="0")
        matched = np.clip(skill + rng.integers(-1, 2, 12), 0, 10)
        counts = {"fills": 10, "document": 1}  # a fill's words are counted, a document has a score
        rows = {
            scope: np.stack([matched * n / 10, np.full(12, n)], axis=1).tolist()
            for scope, n in counts.items()
        }
        bleu = [[8, 8, 6 + skill % 3, 4, 3, 2, 8, 7, 6, 5]] * 12
        lines = [{"scope": scope, "metric": metric, "rows": rows[scope]} for scope, metric in MEANS]
        write_lines(
            score / "statistics.jsonl", [*lines, {"scope": "document", "metric": "bleu", "rows": bleu}]
        )
        row = {"value": skill / 10, "low": 0, "high": 1, "n": 12, "signature": "s", "reason": ""}
        scores = [
            {"scope": scope, "metric": metric} | row for scope, metric in (*MEANS, ("document", "bleu"))
        ]
        write_table(score / "scores.csv", scores, SCORE_COLUMNS)
        settings = {"task": "ner", "trained_on": "generated", "resamples": 20}
        task = self.add("downstream", f"{arm}-{name}", settings, inputs)
        unit = {"task_seed": 0, "tp": skill, "fp": 1, "fn": 10 - skill}
        unit |= {f"lenient_{key}": 0 for key in ("tp", "fp", "fn")}
        write_lines(task / "units.jsonl", [unit | {"id": f"u{i}", "cluster": f"u{i}"} for i in range(12)])
        write_table(
            task / "scores.csv", [row | {"metric": name} for name in ("f1", "share_kept")], TASK_COLUMNS
        )
