"""What each stage does with its inputs, and the store that calls it. What a stage needs is imported when it runs."""

import json
import time
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from blankfill.axes import AXIS, PRODUCT
from blankfill.draws import keyed_rng
from blankfill.memory import peak_memory_mb, reuse_freed_memory
from blankfill.text import BlankedText, Corruption

from ..arms.settings import AUTO
from ..corpora import SOURCES, Sizes, build, load_split, packages, save
from ..corpora.building import own_source
from ..corpora.packages import locate
from ..documents import Document
from ..errors import StudyError
from ..files import hash_of, write_atomically, write_lines
from ..hardware import advise_smaller_steps, choose_device, explain_out_of_memory, training_threads
from ..masking import (
    keep_spans,
    mask_words,
    name_masking,
    note_language,
    reads_entities,
    reads_tags,
    tag_entities,
    tag_words,
)
from ..metrics.proxies import ERRORS
from .artifacts import Make, Runtime, Store, inputs_of, read_record
from .recipes import UNIT_TOKENS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from ..training.loop import Trainer


WORDNET = Path("nltk", "corpora", "wordnet")  # in the data folder
TAGGER = "package:distilbert"  # of grammar_errors: what the encoder of BERTScore was tuned to be
TIMED_TOKENS = 6_000  # of each training that is timed
FEWEST_TOKENS = 1_000
WEIGHING = 48  # dev documents at most by which the weight of a product is chosen


def make_corpus(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Read, cut, split and describe."""
    name = settings["name"]
    if "path" in settings:
        source, files = own_source(name, settings), {"": Path(settings["path"])}
    else:
        source = SOURCES[name]
        files = packages.members(Path(runtime.data_dir), source.files, source.packages)
    words = {"max_words": settings["window_words"], "min_words": settings["min_words"]}
    options = {"seed": settings["seed"], "skip_mistakes": settings.get("skip_mistakes", False)}
    save(build(source, files, Sizes(**settings["sizes"]), **words, **options), folder)


def make_start(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Store the tokenizer and the initial parameters that all objectives share."""
    from ..training.sources import start_from_encoder
    from ..training.starts import start_from_scratch, train_tokenizer

    _silence_libraries()
    if settings["start"] == "checkpoint":
        return _copy_checkpoint(settings, folder, Path(runtime.data_dir))
    if settings["encoder"]:
        encoder = locate(settings["encoder"], Path(runtime.data_dir))
        is_new, layers = settings["start"] == "scratch", settings.get("layers", 0)
        model, tokenizer = start_from_encoder(encoder, settings["seed"], is_new, layers)
    else:
        texts = [d.text for name in sorted(inputs) for d in load_split(inputs[name], "pretrain")]
        tokenizer = train_tokenizer(texts, settings["vocabulary"])
        model = start_from_scratch(settings["shape"], tokenizer, settings["seed"])
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _copy_checkpoint(settings: dict, folder: Path, data_dir: Path) -> None:
    from ..training.sources import save_start, start_from_checkpoint

    source = locate(settings["source"], data_dir)
    if "sha256" in settings and hash_of(Path(source)) != settings["sha256"]:
        raise StudyError(f"{source} changed while it was read: run the same command again")
    named = {
        key: value for key, value in settings.items() if key not in ("source", "sha256", "name", "start")
    }
    save_start(*start_from_checkpoint(source, **named), folder)


def make_model(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> dict:
    """Train with one objective from the common start."""
    advice = advise_smaller_steps(runtime.micro_batch_documents or settings["training"]["batch_documents"])
    threads = training_threads(choose_device(runtime.device), runtime.threads)
    with threads, explain_out_of_memory("training", advice):
        return _prepare_training(settings, inputs, folder, runtime).train(runtime.show_progress, runtime.line)


def _prepare_training(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> "Trainer":
    """Return a training with the settings, before its first step."""
    from blankfill.networks.checkpoints import load_tokenizer

    from ..training.batches import choose_unique, tokenize
    from ..training.loop import Training, TrainingTexts, prepare
    from ..training.objectives import OBJECTIVES, Noise, TokenizedDocument
    from ..training.sources import load_start, read_start_info
    from ..training.starts import set_output_bias

    _silence_libraries()
    objective = dict(settings["objective"])
    objective_name = objective.pop("name")
    kind = OBJECTIVES[objective_name].kind
    corpora = {key.removeprefix("corpus/"): path for key, path in inputs.items() if key != "start"}
    tokenizer = load_tokenizer(inputs["start"])
    model = load_start(inputs["start"], kind, tokenizer)
    training = Training(
        **settings["training"],
        micro_batch_documents=runtime.micro_batch_documents,
        checkpoint_seconds=runtime.checkpoint_seconds,
        seed=settings["seed"],
        device=choose_device(runtime.device),
    )
    documents_per_corpus = training.dev_documents // len(corpora)

    def read(path: Path, split: str, most: int | None = None) -> list[TokenizedDocument]:
        texts = [document.text for document in load_split(path, split)[:most]]
        _refuse_unknown(inputs["start"], tokenizer, path, texts)
        return tokenize(
            texts, tokenizer, training.max_subwords, "causal" if objective_name == "hybrid" else kind
        )

    tokenized = {name: read(path, "pretrain") for name, path in corpora.items()}
    lengths = {name: [len(document.ids) for document in documents] for name, documents in tokenized.items()}
    most = max(map(sum, lengths.values()))
    if training.unique_tokens > most:
        raise StudyError(
            f"scale.training.unique_tokens={training.unique_tokens}: no corpus has more than {most} tokens to train on: "
            "give fewer, or 0 for all"
        )
    learned = {
        name: [
            documents[i] for i in choose_unique(lengths[name], training.unique_tokens, training.seed, name)
        ]
        for name, documents in tokenized.items()
    }
    texts = TrainingTexts(
        learned, {name: read(path, "dev", documents_per_corpus) for name, path in corpora.items()}
    )
    if OBJECTIVES[objective_name].reads_pairs:
        texts.pairs.update({name: read(path, "dev") for name, path in corpora.items()})
    info = read_start_info(inputs["start"])
    if info is None or info.has_new_head:
        set_output_bias(model, [document for documents in texts.learned.values() for document in documents])
    return prepare(model, tokenizer, texts, objective_name, Noise(**objective), training, folder)


def _refuse_unknown(
    start: Path, tokenizer: "PreTrainedTokenizerBase", corpus: Path, texts: list[str]
) -> None:
    """Raise StudyError where a corpus is mostly unknown to the tokenizer of a model, by its first texts."""
    from blankfill.networks.folders import SAMPLED, refuse_unknown, share_unknown

    about = read_record(start)["settings"]
    source = about.get("source") or about.get("encoder")
    name = f"{about['name']} ({source})" if source else about["name"]
    unknown = share_unknown(tokenizer, texts[:SAMPLED])
    refuse_unknown(unknown, name, read_record(corpus)["settings"]["name"])


def make_budget(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Time some steps of every training, one after the other; write the tokens that fit into the minutes.

    The trainings are shared out among the workers, the longest first. What a budget before the last trains anew, on a
    copy, is counted; the measurements of the dev loss are not. Two digits, as a measurement is no more exact.
    """
    from ..training.budgets import list_budgets

    busy, speeds = [0.0] * max(1, runtime.workers), []
    for number, training in enumerate(settings["trainings"]):
        start = f"{number}/"
        own_inputs = {
            name.removeprefix(start): path for name, path in inputs.items() if name.startswith(start)
        }
        speeds.append(_time_training(training, own_inputs, folder, runtime))
    costs = []
    for training, speed in zip(settings["trainings"], speeds, strict=True):
        about, share = training["training"], training["training"]["token_budget"] / UNIT_TOKENS
        copied = about["decay_share"] * sum(list_budgets(1_000, about["budgets"])[:-1]) / 1_000
        costs.append(share * (1 + copied) / speed)
    for cost in sorted(costs, reverse=True):
        busy[busy.index(min(busy))] += cost
    tokens = max(FEWEST_TOKENS, int(float(f"{60 * settings['minutes'] / max(busy):.2g}")))
    names = [training["objective"]["name"] for training in settings["trainings"]]
    result = {"token_budget": tokens, "workers": runtime.workers, "device": choose_device(runtime.device)}
    result["tokens_per_second"] = [[name, round(speed, 1)] for name, speed in zip(names, speeds, strict=True)]
    write_atomically(folder / "budget.json", json.dumps(result, indent=1))


def _time_training(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> float:
    """Return the tokens per second of a training on one thread, as in the processes of a study; the first steps warm up."""
    short = settings | {"training": settings["training"] | {"token_budget": TIMED_TOKENS}}
    trainer = _prepare_training(short, inputs, folder, runtime)
    with training_threads(str(trainer.device), 1):
        trainer.advance(min(2, len(trainer.batches) - 1))
        seconds, tokens = trainer.state["seconds"], trainer.state["tokens_seen"]
        trainer.advance(len(trainer.batches))
    return (trainer.state["tokens_seen"] - tokens) / (trainer.state["seconds"] - seconds)


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
    strategy, ratio, n_eligible = (
        settings["strategy"],
        settings["ratio"],
        sum(corruption.n_eligible for corruption in corruptions),
    )
    types = settings.get("types")
    target = "an entity" if reads_entities(strategy) else "a word that it may mask"
    target += f" of masking.types=[{','.join(types)}]" if types else ""
    reason = f"no document has {target}: choose another masking"
    if n_eligible:
        reason = f"{ratio:g} of its {n_eligible} words is below one in each document: raise the ratio"
    raise StudyError(
        f"masking.strategy={strategy}, masking.ratio={ratio:g} hides no word of corpus {corpus}: {reason}"
    )


def _hide(documents: list[Document], settings: dict, runtime: Runtime) -> list[Corruption]:
    """Choose the blanks of documents by the settings of a corruption."""
    strategy, ratio, seed = settings["strategy"], settings["ratio"], settings["seed"]
    is_tagged = reads_tags(strategy)
    if is_tagged or settings["entities"] == "tagger":
        tag = tag_words if is_tagged else tag_entities
        documents = tag(documents, str(locate("package:tagger", Path(runtime.data_dir))))
    candidates = [keep_spans(d, settings.get("tags", ()) or settings.get("types", ())) for d in documents]
    name = _name_of(settings)
    return [mask_words(d, strategy, ratio, keyed_rng(seed, "hide", name, d.id)) for d in candidates]


def make_generation(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> dict:
    """Let an arm fill the blanks; its cost goes beside its texts."""
    from blankfill.networks.checkpoints import load_tokenizer

    from ..arms.writing import measure_originals, write_baseline, write_with_model
    from ..training.budgets import choose_budget
    from ..training.sources import refuse_new_head
    from .cells import load_blanked_texts, save_filled

    _silence_libraries()
    stored = [inputs[name] for name in ("model", "second") if name in inputs]
    if settings.get("training") == "general":
        for stored_model in stored:
            refuse_new_head(stored_model, settings["name"])
    _, blanked = load_blanked_texts(inputs)
    _use_threads(runtime)
    device, started = choose_device(runtime.device), time.monotonic()
    if stored:
        with explain_out_of_memory(
            "writing", "set workers=1, so that no other cell shares the device, or device=cpu"
        ):
            corpus = read_record(inputs["corpus"])["settings"]["name"]
            chosen = [
                choose_budget(stored_model, corpus, settings.get("budget", 0)) for stored_model in stored
            ]
            models = [model for model, _ in chosen]
            start = inputs_of(stored[0]).get("start", stored[0])
            texts = [text.text for text in blanked]
            _refuse_unknown(start, load_tokenizer(models[0]), inputs["corpus"], texts)
            write_atomically(folder / "model.json", json.dumps(chosen[0][1], indent=1))
            if settings.get("weight") == AUTO:
                settings = settings | {
                    "weight": _choose_weight(settings, inputs, models, folder, device, runtime)
                }
                started = time.monotonic()
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
        likelihoods = measure_originals(settings | pace, written, models, device)
        write_lines(folder / "likelihood.jsonl", map(asdict, likelihoods))
    return {"seconds": seconds, "device": device, "peak_memory_mb": peak_memory_mb(device)}


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


def _silence_libraries() -> None:
    """Keep messages of transformers and the hub out of the study's own progress."""
    from huggingface_hub.utils import logging as hub_logging
    from transformers.utils import logging

    hub_logging.set_verbosity_error()
    logging.set_verbosity_error()
    logging.disable_progress_bar()


def _use_threads(runtime: Runtime) -> None:
    if runtime.threads:
        import torch

        torch.set_num_threads(runtime.threads)


def make_scores(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> dict:
    """Score a cell; the record keeps the hash of the rules, so that a later change of the rules shows."""
    from ..metrics import Resources
    from .scoring import score_cell

    data = Path(runtime.data_dir)
    name = Path(settings["encoder"]).name if "sha256" in settings else settings["encoder"]
    resources = Resources(
        wordnet=data / WORDNET,
        encoder=inputs.get("encoder") or locate(settings["encoder"], data),
        encoder_name=name,
        layers=settings["layer"],
        precision=settings["precision"],
        device=choose_device(runtime.device),
        language_model=inputs.get("language_model", Path()),
        language_model_name=settings.get("language_model", ""),
        tagger=Path(locate(TAGGER, data)) if ERRORS in settings["metrics"] else Path(),
        tagger_name=TAGGER,
    )
    _use_threads(runtime)
    score_cell(settings, inputs, folder, resources)
    return {"rules": runtime.rules}


def make_utility(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Train task models and test them; of linear ones torch is not loaded."""
    from .downstream import measure_utility

    if "network" not in inputs:
        return measure_utility(settings, inputs, folder)
    _silence_libraries()
    device = choose_device(runtime.device)
    with (
        training_threads(device, runtime.threads),
        explain_out_of_memory("fine-tuning", "lower finetuning.batch_examples"),
    ):
        measure_utility(settings, inputs, folder, device)


def make_disclosure(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Measure what the text of a cell gives away, and its model where the settings ask for it."""
    from .disclosure import measure_disclosure

    _silence_libraries()
    _use_threads(runtime)
    measure_disclosure(settings, inputs, folder, choose_device(runtime.device))


def make_report(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Write the tables, figures and page of a study."""
    from .collect import write_report

    write_report(settings, inputs, folder, Path(runtime.data_dir) / WORDNET)


def _imported(module: str, function: str) -> Make:
    """Return a stage that is one function of settings, inputs and folder; its module is imported when it runs."""

    def make(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
        getattr(import_module(module, __package__), function)(settings, inputs, folder)

    return make


MAKERS: dict[str, Make] = {
    "corpus": make_corpus,
    "start": make_start,
    "budget": make_budget,
    "pretrain": make_model,
    "corrupt": make_corruption,
    "generate": make_generation,
    "score": make_scores,
    "downstream": make_utility,
    "disclosure": make_disclosure,
    "correlate": _imported(".collect", "correlate_cells"),
    "report": make_report,
}


def open_store(root: Path, runtime: Runtime | None = None) -> Store:
    """Return the store of artifacts under `root`."""
    reuse_freed_memory()
    return Store(root, MAKERS, runtime)
