"""The stages that make texts: which words are hidden, and what an arm fills in. What a stage needs is imported when it runs."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from blankfill.axes import AXIS, PRODUCT
from blankfill.draws import keyed_rng
from blankfill.memory import peak_memory_mb
from blankfill.text import BlankedText

from ..arms.settings import AUTO
from ..corpora import load_split
from ..corpora.packages import locate
from ..documents import Document
from ..errors import StudyError
from ..files import write_atomically, write_lines
from ..hardware import choose_device, explain_out_of_memory
from ..masking import (
    Corruption,
    keep_spans,
    mask_words,
    name_masking,
    note_language,
    reads_entities,
    reads_tags,
    tag_entities,
    tag_words,
)
from .artifacts import Runtime, inputs_of, read_record
from .model_stages import refuse_unknown_corpus, silence_libraries

OWN_DEVICE = "set workers=1, so that no other cell shares the device, or device=cpu"
WEIGHING = 48  # dev documents at most by which the weight of a product is chosen


def make_corruption(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Choose the blanks of every document of the generate split."""
    from .cells import save_corruptions

    ratio, seed = settings["ratio"], settings["seed"]
    documents = load_split(inputs["corpus"], "generate")
    if note := note_language(settings["strategy"], documents):
        print(note)
    corruptions = _hide(documents, settings, runtime)
    _refuse_without_blanks(corruptions, settings, read_record(inputs["corpus"])["settings"]["name"])
    save_corruptions(folder / "blanks.jsonl", corruptions)
    n_words, n_blanks = sum(len(c.words) for c in corruptions), sum(len(c.blanks) for c in corruptions)
    summary = {
        "strategy": _name_of(settings),
        "ratio": ratio,
        "seed": seed,
        "documents": len(corruptions),
        "words": n_words,
        "eligible": sum(c.n_eligible for c in corruptions),
        "blanks": n_blanks,
        "share": n_blanks / n_words,
        "documents_without_blanks": sum(not c.blanks for c in corruptions),
    }
    write_atomically(folder / "summary.json", json.dumps(summary, indent=1))


def _name_of(settings: dict) -> str:
    """Return the name of the masking of a corruption, by its settings."""
    return name_masking(settings["strategy"], settings.get("tags", ()), settings.get("types", ()))


def _refuse_without_blanks(corruptions: list[Corruption], settings: dict, corpus: str) -> None:
    """Raise StudyError where no document has a blank: every text would be its original, and every score perfect."""
    if any(corruption.blanks for corruption in corruptions):
        return
    strategy, ratio = settings["strategy"], settings["ratio"]
    n_eligible = sum(corruption.n_eligible for corruption in corruptions)
    types = settings.get("types")
    target = "an entity" if reads_entities(strategy) else "a word that it may mask"
    target += f" of masking.types=[{','.join(types)}]" if types else ""
    reason = f"no document has {target}: choose another masking"
    if n_eligible:
        reason = f"{ratio:g} of its {n_eligible} words is below one in each document: raise the ratio"
    raise StudyError(
        f"masking.strategy={strategy}, masking.ratio={ratio:g} hides no word of corpus {corpus}: {reason}"
    )


def _refuse_absent(types: Sequence[str], documents: list[Document]) -> None:
    """Raise StudyError where some of the types of entities occur, and others nowhere: they may be misspelt."""
    known = {entity.type for document in documents for entity in document.entities}
    absent = [type for type in types if type not in known]
    if absent and len(absent) < len(types):
        raise StudyError(
            f"masking.types: no entity is a {absent[0]}: choose from {', '.join(sorted(known))}, or leave it out"
        )


def _hide(documents: list[Document], settings: dict, runtime: Runtime) -> list[Corruption]:
    """Choose the blanks of documents by the settings of a corruption."""
    strategy, ratio, seed = settings["strategy"], settings["ratio"], settings["seed"]
    is_tagged = reads_tags(strategy)
    if is_tagged or settings["entities"] == "tagger":
        tag = tag_words if is_tagged else tag_entities
        documents = tag(documents, str(locate("package:tagger", Path(runtime.data_dir))))
    _refuse_absent(settings.get("types", ()), documents)
    candidates = [keep_spans(d, settings.get("tags", ()) or settings.get("types", ())) for d in documents]
    name = _name_of(settings)
    return [mask_words(d, strategy, ratio, keyed_rng(seed, "hide", name, d.id)) for d in candidates]


def make_generation(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> dict:
    """Let an arm fill the blanks; its cost goes beside its texts."""
    from ..arms.writing import measure_originals, write_baseline, write_with_model
    from .cells import load_blanked_texts, save_filled

    silence_libraries()
    _, blanked = load_blanked_texts(inputs)
    use_threads(runtime)
    device, started = choose_device(runtime.device), time.monotonic()
    models = _choose_models(settings, inputs, blanked, folder)
    if settings.get("weight") == AUTO:
        settings = settings | {"weight": _choose_weight(settings, inputs, models, folder, device, runtime)}
        started = time.monotonic()
    if models:
        with explain_out_of_memory("writing", OWN_DEVICE):
            filled, ledger, skipped = write_with_model(settings, blanked, models, inputs["corpus"], device)
    else:
        filled, ledger, skipped = write_baseline(settings, blanked, inputs)
    save_filled(folder / "fills.jsonl", filled)
    used = {"weight": settings.get("weight", AXIS["weight"].default)} if settings["writer"] in PRODUCT else {}
    write_atomically(folder / "ledger.json", json.dumps(asdict(ledger) | used, indent=1))
    write_atomically(folder / "skipped.json", json.dumps(skipped, indent=1))
    if skipped:
        print(f"{settings['name']}: {len(skipped)} documents could not be filled (skipped.json says why)")
    seconds = round(time.monotonic() - started, 3)
    if settings.get("likelihood"):
        how = settings["likelihood"] if isinstance(settings["likelihood"], dict) else {}
        written = [text for text in blanked[: how.get("documents")] if text.id not in skipped]
        pace = {"per_pass": how["per_pass"]} if "per_pass" in how else {}
        with explain_out_of_memory("measuring the likelihood", OWN_DEVICE):
            likelihoods = measure_originals(settings | pace, written, models, device)
        write_lines(folder / "likelihood.jsonl", map(asdict, likelihoods))
    return {"seconds": seconds, "device": device, "peak_memory_mb": peak_memory_mb(device)}


def _choose_models(
    settings: dict, inputs: dict[str, Path], blanked: list[BlankedText], folder: Path
) -> list[Path]:
    """Return the checkpoints that an arm fills with, none for a baseline; model.json says where the first stands on its curve.

    Raises StudyError for an output layer that was never trained, and for a corpus that the first does not know.
    """
    from ..arms.writing import open_tokenizer
    from ..training.budgets import choose_budget
    from ..training.sources import refuse_new_head

    stored = [inputs[name] for name in ("model", "second") if name in inputs]
    if not stored:
        return []
    if settings.get("training") == "general":
        for model in stored:
            refuse_new_head(model, settings["name"])
    corpus = read_record(inputs["corpus"])["settings"]["name"]
    chosen = [choose_budget(model, corpus, settings.get("budget", 0)) for model in stored]
    models = [model for model, _ in chosen]
    start, texts = inputs_of(stored[0]).get("start", stored[0]), [text.text for text in blanked]
    refuse_unknown_corpus(start, open_tokenizer(models[0]), inputs["corpus"], texts)
    write_atomically(folder / "model.json", json.dumps(chosen[0][1], indent=1))
    return models


@explain_out_of_memory("writing", OWN_DEVICE)
def _choose_weight(
    settings: dict,
    inputs: dict[str, Path],
    models: list[Path],
    folder: Path,
    device: str,
    runtime: Runtime,
) -> float:
    """Return the weight under which the originals of dev documents, with blanks of the same kind, are likeliest."""
    from ..arms.writing import weigh_models

    documents = load_split(inputs["corpus"], "dev")[:WEIGHING]
    hidden = _hide(documents, read_record(inputs["corruption"])["settings"], runtime)
    pairs = zip(documents, hidden, strict=True)
    texts = [
        BlankedText(document.id, document.text, blanks.words, blanks.blanks) for document, blanks in pairs
    ]
    nats_by_weight = weigh_models(settings, texts, models, device)
    rows = [{"weight": weight, "nats_per_character": nats} for weight, nats in nats_by_weight.items()]
    write_lines(folder / "weights.jsonl", rows)
    return min(nats_by_weight, key=lambda weight: nats_by_weight[weight])


def use_threads(runtime: Runtime) -> None:
    """Give torch the threads that a process may have; 0 leaves it its own number."""
    if runtime.threads:
        import torch

        torch.set_num_threads(runtime.threads)
