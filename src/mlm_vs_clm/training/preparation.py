"""From a model, texts and an objective to a training before its first step."""

from dataclasses import replace
from pathlib import Path

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from blankfill.networks.checkpoints import make_switchable

from ..errors import StudyError
from .batches import Batches, TrainingBatches, find_target_tokens, make_groups, order_batches
from .loop import Trainer
from .noise import Neighbours, TargetTokens, TokenizedDocument, TrainedObjective
from .objectives import OBJECTIVES, check_target_tokens, split_batches
from .settings import Training, TrainingTexts
from .starts import add_mask_token

DEV_BATCH = 16


def prepare(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    texts: TrainingTexts,
    objective: TrainedObjective,
    training: Training,
    folder: Path,
) -> Trainer:
    """Return a training of `model` (in place) before its first step; its files go into `folder`.

    A causal model without a mask token gets one, and so does its tokenizer, where the objective needs it.
    Raises StudyError for a tokenizer that lacks a special token the objective needs, a corpus without dev documents,
    a model that cannot be masked and causal where the objective is `hybrid`, and one without segments where it reads pairs.
    """
    definition = OBJECTIVES[objective.name]
    if definition.kind == "causal" and definition.needs_mask:
        add_mask_token(model, tokenizer)
    tokens = find_target_tokens(tokenizer, model)
    check_target_tokens(objective.name, tokens)
    if objective.name == "hybrid":
        make_switchable(model)
    if definition.reads_pairs and getattr(model.config, "type_vocab_size", 1) < 2:
        raise StudyError(
            f"objective {objective.name} needs a model with two segment types, such as BERT's; this one is "
            f"{model.config.model_type}"
        )
    if absent := [name for name, documents in texts.dev.items() if not documents]:
        raise StudyError(
            f"corpus {absent[0]} has no document to measure the dev loss on: raise dev_documents"
        )
    documents = [document for of_corpus in texts.learned.values() for document in of_corpus]
    corpora = [name for name, of_corpus in texts.learned.items() for _ in of_corpus]
    lengths, seed = [len(document.ids) for document in documents], training.seed
    order = order_batches(lengths, corpora, training.token_budget, training.batch_documents, seed)
    if "noise_ratio" in definition.settings:
        read = [documents[i] for i in sorted({i for batch in order for i in batch})]
        tokens = replace(tokens, neighbours=Neighbours(read))
    padding = tokenizer.pad_token_id or 0
    dev = {
        name: batch_held_out(of_corpus, objective, tokens, padding, seed + 1)
        for name, of_corpus in texts.dev.items()
    }
    learned = Batches(documents, order, objective, tokens, padding, seed)
    reading = TrainingBatches(learned, corpora, dev, texts.pairs)
    return Trainer(model, tokenizer, reading, training, folder)


def batch_held_out(
    documents: list[TokenizedDocument],
    objective: TrainedObjective,
    tokens: TargetTokens,
    padding: int,
    seed: int,
) -> dict[str, Batches]:
    """Return held-out documents in batches under each objective that batches of the training have."""
    groups = make_groups(range(len(documents)), DEV_BATCH)
    return {
        name: Batches(documents, groups, replace(objective, name=name), tokens, padding, seed)
        for name in split_batches(objective.name, objective.noise)
    }
