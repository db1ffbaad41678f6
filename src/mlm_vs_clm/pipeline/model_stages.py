"""The stages that make models: a start, a token budget, a trained model. What a stage needs is imported when it runs."""

import json
import math
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..corpora import load_split
from ..corpora.packages import locate
from ..errors import StudyError
from ..files import hash_of, write_atomically
from ..hardware import busy_processors, choose_device, explain_out_of_memory, training_threads
from .artifacts import Runtime, read_record
from .recipes import UNIT_TOKENS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from ..training.loop import Trainer
    from ..training.noise import TokenizedDocument
    from ..training.settings import Training, TrainingTexts


TIMED_TOKENS = 6_000  # of each training that is timed
FEWEST_TOKENS = 1_000
FORWARD_SHARE = 1 / 3  # of the time of a training step
MOST_UNKNOWN = 0.5  # share of a corpus's tokens above which a tokenizer cannot be meant for it
SAMPLED = 200  # documents by which that is judged


def make_start(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Store the tokenizer and the initial parameters that all objectives share."""
    from ..training.sources import start_from_encoder
    from ..training.starts import start_from_scratch, train_tokenizer

    silence_libraries()
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
    threads = training_threads(choose_device(runtime.device), runtime.threads)
    with threads, _advise_smaller_steps(settings, runtime):
        return _prepare_training(settings, inputs, folder, runtime).train(runtime.show_progress, runtime.line)


def _advise_smaller_steps(settings: dict, runtime: Runtime) -> AbstractContextManager:
    """Return what tells where the memory is too small for a step of a training, and which settings make it fit."""
    documents = runtime.micro_batch_documents or settings["training"]["batch_documents"]
    return explain_out_of_memory(
        "training",
        f"set scale.training.micro_batch_documents below {documents} (results do not change), or workers=1 if other "
        "jobs use the same device",
    )


def _prepare_training(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> "Trainer":
    """Return a training with the settings, before its first step."""
    from blankfill.networks.checkpoints import load_tokenizer

    from ..training.noise import Noise, TrainedObjective
    from ..training.objectives import OBJECTIVES
    from ..training.preparation import prepare
    from ..training.settings import Training
    from ..training.sources import load_start, read_start_info
    from ..training.starts import set_output_bias

    silence_libraries()
    noise = dict(settings["objective"])
    objective = noise.pop("name")
    tokenizer = load_tokenizer(inputs["start"])
    model = load_start(inputs["start"], OBJECTIVES[objective].kind, tokenizer)
    training = Training(
        **settings["training"],
        micro_batch_documents=runtime.micro_batch_documents,
        checkpoint_seconds=runtime.checkpoint_seconds,
        seed=settings["seed"],
        device=choose_device(runtime.device),
    )
    texts = _read_texts(inputs, objective, training)
    info = read_start_info(inputs["start"])
    if info is None or info.has_new_head:
        set_output_bias(model, [document for documents in texts.learned.values() for document in documents])
    return prepare(model, tokenizer, texts, TrainedObjective(objective, Noise(**noise)), training, folder)


def _read_texts(inputs: dict[str, Path], objective: str, training: "Training") -> "TrainingTexts":
    """Return the documents of each corpus that a training reads; StudyError for more `unique_tokens` than any corpus has."""
    from ..training.batches import choose_unique
    from ..training.objectives import OBJECTIVES
    from ..training.settings import TrainingTexts

    definition = OBJECTIVES[objective]
    kind = "causal" if objective == "hybrid" else definition.kind
    read = partial(_tokenize_split, inputs["start"], training.max_subwords, kind)
    corpora = {key.removeprefix("corpus/"): path for key, path in inputs.items() if key != "start"}
    tokenized = {name: read(path, "pretrain") for name, path in corpora.items()}
    lengths = {name: [len(document.ids) for document in documents] for name, documents in tokenized.items()}
    most = max(map(sum, lengths.values()))
    if training.unique_tokens > most:
        raise StudyError(
            f"scale.training.unique_tokens={training.unique_tokens}: no corpus has more than {most} tokens to train on: "
            "give fewer, or 0 for all"
        )
    learned = {}
    for name, path in corpora.items():
        unique = choose_unique(lengths[name], training.unique_tokens, training.seed, name)
        learned[name] = [tokenized[name][i] for i in unique]
        if training.canaries:
            learned[name] += _tokenize_canaries(inputs["start"], path, kind, training)
    most_dev = training.dev_documents // len(corpora)
    paired = corpora if definition.reads_pairs else {}
    return TrainingTexts(
        learned,
        dev={name: [*read(path, "dev", most_dev)] for name, path in corpora.items()},
        pairs={name: [*read(path, "dev")] for name, path in paired.items()},
    )


def _tokenize_canaries(
    start: Path, corpus: Path, kind: str, training: "Training"
) -> "list[TokenizedDocument]":
    """Return the copies of a corpus's canaries that a training reads beside its documents."""
    from blankfill.networks.checkpoints import load_tokenizer

    from ..training.batches import tokenize
    from ..training.canaries import plant

    held_out, documents = load_split(corpus, "test"), load_split(corpus, "pretrain")
    planted = plant(held_out, documents, training.canaries, training.canary_copies, training.seed)
    texts = [canary.text for canary in planted]
    return tokenize(texts, load_tokenizer(start), training.max_subwords, kind)


@lru_cache(maxsize=12)
def _tokenize_split(
    start: Path, max_subwords: int, kind: str, corpus: Path, split: str, most: int | None = None
) -> "tuple[TokenizedDocument, ...]":
    """Return the documents of a split as a training reads them, the same for all that a process makes."""
    from blankfill.networks.checkpoints import load_tokenizer

    from ..training.batches import tokenize

    tokenizer, texts = load_tokenizer(start), [document.text for document in load_split(corpus, split)[:most]]
    refuse_unknown_corpus(start, tokenizer, corpus, texts)
    return tuple(tokenize(texts, tokenizer, max_subwords, kind))


def refuse_unknown_corpus(
    start: Path, tokenizer: "PreTrainedTokenizerBase", corpus: Path, texts: list[str]
) -> None:
    """Raise StudyError where a corpus is mostly unknown to the tokenizer of a model, by its first texts."""
    if tokenizer.unk_token_id is None:  # it knows every byte
        return
    encoded = [tokenizer.encode(text, add_special_tokens=False, verbose=False) for text in texts[:SAMPLED]]
    tokens = [token for ids in encoded for token in ids]
    unknown = tokens.count(tokenizer.unk_token_id) / max(len(tokens), 1)
    if unknown <= MOST_UNKNOWN:
        return
    about = read_record(start)["settings"]
    source = about.get("source") or about.get("encoder")
    name = f"{about['name']} ({source})" if source else about["name"]
    raise StudyError(
        f"model {name}: {unknown:.0%} of the tokens of corpus {read_record(corpus)['settings']['name']} are unknown to its "
        "tokenizer: choose a model of this language and script, or put the model's own tokenizer beside it"
    )


def make_budget(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Time some steps of every training, one after the other; write the tokens that fit into the minutes."""
    trainings, n_workers, paces = settings["trainings"], max(1, runtime.workers), []
    n_beside = min(n_workers, len(trainings)) - 1 if choose_device(runtime.device) == "cpu" else 0
    for number, training in enumerate(trainings):
        start = f"{number}/"
        own_inputs = {
            name.removeprefix(start): path for name, path in inputs.items() if name.startswith(start)
        }
        with _advise_smaller_steps(training, runtime), busy_processors(n_beside):
            paces.append(_time_training(training, own_inputs, folder, runtime))
    tokens = fit_tokens(
        settings["minutes"], [training["training"] for training in trainings], paces, n_workers
    )
    names = [training["objective"]["name"] for training in trainings]
    result = {"token_budget": tokens, "workers": runtime.workers, "device": choose_device(runtime.device)}
    result["tokens_per_second"] = [[name, round(pace[0], 1)] for name, pace in zip(names, paces, strict=True)]
    write_atomically(folder / "budget.json", json.dumps(result, indent=1))


def fit_tokens(minutes: float, trainings: list[dict], paces: list[tuple[float, int]], n_workers: int) -> int:
    """Return the tokens of a model that fit into minutes, in two digits, as a measurement is no more exact.

    `paces` has the tokens per second and the dev tokens of each training, whose settings state its part of UNIT_TOKENS. They are
    shared out among the workers, the longest first. Counted are also what a budget before the last trains anew, on a copy, and
    the dev loss at every budget; not the judgements of pairs of `mlm_nsp`. Raises StudyError for less than FEWEST_TOKENS.
    """
    from ..training.budgets import list_budgets

    costs = []  # of a training: seconds for each token of the budget, and seconds for its dev losses
    for training, (speed, dev_tokens) in zip(trainings, paces, strict=True):
        copied = training["decay_share"] * sum(list_budgets(1_000, training["budgets"])[:-1]) / 1_000
        of_token = training["token_budget"] / UNIT_TOKENS * (1 + copied) / speed
        n_losses = 1 + training["budgets"]  # before the first step, too
        costs.append((of_token, FORWARD_SHARE * dev_tokens * n_losses / speed))
    busy = [(0.0, 0.0)] * n_workers
    for cost in sorted(costs, reverse=True):
        idlest = busy.index(min(busy))
        busy[idlest] = (busy[idlest][0] + cost[0], busy[idlest][1] + cost[1])
    tokens = min((60 * minutes - fixed) / of_token for of_token, fixed in busy if of_token)
    if tokens < FEWEST_TOKENS:
        needed = max(FEWEST_TOKENS * of_token + fixed for of_token, fixed in busy) / 60
        raise StudyError(
            f"scale.minutes={minutes:g} is not enough for {FEWEST_TOKENS:,} tokens a model and the dev losses: give "
            f"{math.ceil(10 * needed) / 10:g} or more, or lower scale.training.dev_documents or budgets"
        )
    return int(float(f"{tokens:.2g}"))


def _time_training(
    settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime
) -> tuple[float, int]:
    """Return a training's tokens per second on one thread, as in the processes of a study, and its dev tokens.

    The first steps warm up.
    """
    short = settings | {"training": settings["training"] | {"token_budget": TIMED_TOKENS}}
    trainer = _prepare_training(short, inputs, folder, runtime)
    with training_threads(str(trainer.device), 1):
        trainer.advance(min(2, len(trainer.batches) - 1))
        seconds, tokens = trainer.state["seconds"], trainer.state["tokens_seen"]
        trainer.advance(len(trainer.batches))
    speed = (trainer.state["tokens_seen"] - tokens) / (trainer.state["seconds"] - seconds)
    return speed, trainer.reading.count_dev_tokens()


def silence_libraries() -> None:
    """Keep messages of transformers and the hub out of the study's own progress."""
    from huggingface_hub.utils import logging as hub_logging
    from transformers.utils import logging

    hub_logging.set_verbosity_error()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
