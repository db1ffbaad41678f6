"""What one would write without this project: plain loops over models of transformers, which the benchmark compares with."""

from collections.abc import Iterator
from pathlib import Path

import torch
from torch.utils.data import IterableDataset
from transformers import PreTrainedModel, Trainer, TrainingArguments

from blankfill.slots.rows import to_rows
from blankfill.text import BlankedText
from mlm_vs_clm.training.batches import Batches
from mlm_vs_clm.training.settings import Training


def fill_by_loop(pipe, tokenizer, texts: list[BlankedText], bias: torch.Tensor) -> list[list[int]]:
    """Fill from left to right with the fill-mask pipeline: one text, one mask, one pass at a time."""
    filled = []
    for row in to_rows(texts, tokenizer, 512):
        ids = list(row.ids)
        for place in row.slots:
            ids[place] = tokenizer.mask_token_id
        for place, kind in zip(row.slots, row.kinds, strict=True):
            inputs = pipe.preprocess(tokenizer.decode(ids[1:-1], clean_up_tokenization_spaces=False))
            logits = pipe.forward(inputs)["logits"][0, place].float()
            ids[place] = int((logits + bias[kind]).argmax())
        filled.append([ids[place] for place in row.slots])
    return filled


@torch.inference_mode()
def fill_by_generate(model, tokenizer, texts: list[BlankedText]) -> list[list[int]]:
    """Fill each blank by running `generate` on all that is to its left."""
    filled = []
    for row in to_rows(texts, tokenizer, 512):
        ids = list(row.ids)
        for place in row.slots:
            seen = torch.tensor([ids[:place]])
            written = model.generate(
                seen, attention_mask=torch.ones_like(seen), max_new_tokens=1, do_sample=False
            )
            ids[place] = int(written[0, place])
        filled.append([ids[place] for place in row.slots])
    return filled


@torch.inference_mode()
def fill_by_rereading(model, tokenizer, texts: list[BlankedText], candidates: int) -> list[list[int]]:
    """Look ahead by reading the whole text up to the next blank again, for all candidates of a blank at once."""
    filled = []
    for row in to_rows(texts, tokenizer, 512):
        ids = torch.tensor(row.ids)
        for place, end in zip(row.slots, [*row.slots[1:], len(ids)], strict=True):
            tried = ids[:end].repeat(candidates, 1)
            tried[:, place] = model(ids[None, :place]).logits[0, -1].topk(candidates).indices
            likely = model(tried).logits[:, place - 1 : -1].log_softmax(-1)
            ids[place] = tried[likely.gather(2, tried[:, place:, None]).sum((1, 2)).argmax(), place]
        filled.append(ids[row.slots].tolist())
    return filled


def learn_by_loop(model: PreTrainedModel, batches: Batches, training: Training) -> list[float]:
    """Train with the loss that the model computes itself, one step a batch; return the loss of each step."""
    optimizer = torch.optim.AdamW(
        model.parameters(), training.body_learning_rate, weight_decay=training.weight_decay
    )
    losses = []
    for number in range(len(batches)):
        with torch.autocast("cpu", torch.bfloat16, enabled=training.precision == "bf16"):
            loss = model(**batches[number]).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), training.max_gradient_norm)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


class _Batches(IterableDataset):
    """Batches in their order, each drawn when it is asked for."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        return (self.batches[number] for number in range(len(self.batches)))


def learn_by_trainer(
    model: PreTrainedModel, batches: Batches, training: Training, folder: Path
) -> list[float]:
    """Train with the Trainer of transformers at the same settings, one step a batch; return the loss of each step."""
    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=len(batches),
        per_device_train_batch_size=1,  # a batch is one item
        learning_rate=training.body_learning_rate,
        lr_scheduler_type="constant",
        weight_decay=training.weight_decay,
        max_grad_norm=training.max_gradient_norm,
        bf16=training.precision == "bf16",
        use_cpu=True,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = Trainer(model, arguments, data_collator=lambda items: items[0], train_dataset=_Batches(batches))
    trainer.train()
    return [step["loss"] for step in trainer.state.log_history if "loss" in step]
