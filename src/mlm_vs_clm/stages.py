"""What each stage does with its inputs, and the store that calls it."""

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path

from .artifacts import Make, Runtime, Store, write_whole
from .draws import keyed_rng
from .errors import StudyError
from .storage import load_blanked, save_corruptions, save_filled

PACKAGES = {"minilm": "ENCODER", "tagger": "TAGGER"}


def locate(reference: str, data_dir: str) -> Path | str:
    """Return the path of `package:<name>`, hash-checked; any other reference as it is."""
    from .corpora import packages

    if not reference.startswith("package:"):
        return reference
    name = reference.removeprefix("package:")
    if name not in PACKAGES:
        raise StudyError(
            f"{reference} is unknown: choose one of {', '.join(f'package:{p}' for p in PACKAGES)}, or a path"
        )
    return packages.member(Path(data_dir), *getattr(packages, PACKAGES[name]))


def make_corpus(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Read, cut, split and describe."""
    from .corpora import SOURCES, Sizes, Source, build, packages, save

    name = settings["name"]
    if "path" in settings:
        source, files = Source(name, "jsonl"), {"": Path(settings["path"])}
    else:
        source = SOURCES[name]
        files = packages.members(Path(runtime.data_dir), source.files)
    words = {"max_words": settings["window_words"], "min_words": settings["min_words"]}
    save(build(source, files, Sizes(**settings["sizes"]), **words, seed=settings["seed"]), folder)


def make_start(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Store one tokenizer and one set of parameters for every objective."""
    from .models import load_tokenizer, start_from_encoder, start_from_scratch, train_tokenizer

    _quiet()
    if settings["start"] == "encoder":
        encoder = locate(settings["encoder"], runtime.data_dir)
        tokenizer, model = load_tokenizer(encoder), start_from_encoder(encoder, settings["seed"])
    else:
        texts = [d.text for name in sorted(inputs) for d in _load(inputs[name], "pretrain")]
        tokenizer = train_tokenizer(texts, settings["vocabulary"])
        model = start_from_scratch(settings["shape"], tokenizer, settings["seed"])
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def make_model(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> dict:
    """Train with one objective from the common start."""
    from .batches import tokenize
    from .models import as_kind, load_model, load_tokenizer
    from .objectives import OBJECTIVES, Noise
    from .training import Training, train

    _quiet()
    objective = dict(settings["objective"])
    name = objective.pop("name")
    if name not in OBJECTIVES:
        raise StudyError(f"objective.name={name} is unknown: choose one of {', '.join(OBJECTIVES)}")
    corpora = {key.removeprefix("corpus/"): path for key, path in inputs.items() if key != "start"}
    tokenizer = load_tokenizer(inputs["start"])
    model = as_kind(load_model(inputs["start"], "masked"), OBJECTIVES[name].kind, tokenizer)
    training = Training(**settings["training"], checkpoint_seconds=45.0)
    texts = [(corpus, d.text) for corpus, path in corpora.items() for d in _load(path, "pretrain")]
    each = training.dev_documents // len(corpora)
    dev = [d.text for path in corpora.values() for d in _load(path, "dev")[:each]]
    subwords = partial(tokenize, tokenizer=tokenizer, max_subwords=training.max_subwords)
    _use_threads(runtime)
    return train(
        model,
        tokenizer,
        subwords([text for _, text in texts]),
        [corpus for corpus, _ in texts],
        subwords(dev),
        name,
        Noise(**objective),
        training,
        settings["seed"],
        folder,
        runtime.device,
        runtime.show_progress,
        runtime.line,
    )


def make_corruption(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Choose the blanks of every document of the generate split."""
    from .masking import hide_words, tag_entities

    documents = _load(inputs["corpus"], "generate")
    if settings["entities"] == "tagger":
        documents = tag_entities(documents, str(locate("package:tagger", runtime.data_dir)))
    strategy, ratio, seed = settings["strategy"], settings["ratio"], settings["seed"]
    made = [hide_words(d, strategy, ratio, keyed_rng(seed, "hide", strategy, d.id)) for d in documents]
    save_corruptions(folder / "blanks.jsonl", made)
    n_words, n_blanks = sum(len(c.words) for c in made), sum(len(c.blanks) for c in made)
    summary = {
        "strategy": strategy,
        "ratio": ratio,
        "seed": seed,
        "documents": len(made),
        "words": n_words,
        "eligible": sum(c.n_eligible for c in made),
        "blanks": n_blanks,
        "share": n_blanks / n_words,
        "documents_without_blanks": sum(not c.blanks for c in made),
    }
    write_whole(folder / "summary.json", json.dumps(summary, indent=1))


def make_generation(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> dict:
    """Let an arm fill the blanks; the account of what it cost goes beside its texts."""
    import time

    from .hardware import peak_memory_mb
    from .writing import write_baseline, write_with_model

    _quiet()
    texts = {d.id: d.text for d in _load(inputs["corpus"], "generate")}
    blanked = load_blanked(inputs["corruption"], texts)
    _use_threads(runtime)
    started = time.monotonic()
    if "model" in inputs:
        filled, ledger, skipped = write_with_model(
            settings, blanked, inputs["model"], inputs["corpus"], runtime.device
        )
    else:
        filled, ledger, skipped = write_baseline(settings, blanked, inputs["corpus"])
    save_filled(folder / "fills.jsonl", filled)
    write_whole(folder / "ledger.json", json.dumps(asdict(ledger), indent=1))
    write_whole(folder / "skipped.json", json.dumps(skipped, indent=1))
    if skipped:
        print(f"{settings['name']}: {len(skipped)} documents could not be filled (skipped.json says why)")
    seconds = round(time.monotonic() - started, 3)
    return {"seconds": seconds, "device": runtime.device, "peak_memory_mb": peak_memory_mb(runtime.device)}


def _quiet() -> None:
    """Keep transformers' notes on loading out of the way of the study's own progress."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def _load(folder: Path, split: str):
    from .corpora import load_split

    return load_split(folder, split)


def _use_threads(runtime: Runtime) -> None:
    if runtime.threads:
        import torch

        torch.set_num_threads(runtime.threads)


def make_scores(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> dict:
    """Score a cell (scoring.py); the record keeps which rules were in force, so that a later change shows."""
    from .scoring import score_cell

    encoder = locate(settings["encoder"], runtime.data_dir)
    _use_threads(runtime)
    score_cell(settings, inputs, folder, encoder, Path(runtime.data_dir) / "nltk", runtime.device)
    return {"rules": runtime.rules}


def make_utility(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Train and test a task model; see utility.py."""
    from .utility import measure_utility

    measure_utility(settings, inputs, folder)


def make_correlations(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Relate quality to utility; see correlation.py."""
    from .correlation import correlate_cells

    correlate_cells(settings, inputs, folder)


def make_report(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Gather the rows of all cells and draw what a person reads; see gathering.py."""
    from .gathering import write_report

    write_report(settings, inputs, folder)


MAKERS: dict[str, Make] = {
    "corpus": make_corpus,
    "start": make_start,
    "pretrain": make_model,
    "corrupt": make_corruption,
    "generate": make_generation,
    "score": make_scores,
    "downstream": make_utility,
    "correlate": make_correlations,
    "report": make_report,
}


def open_store(root: Path, runtime: Runtime | None = None) -> Store:
    """Return the store of artifacts under `root`."""
    return Store(root, MAKERS, runtime)
