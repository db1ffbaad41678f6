"""Filling by a plain loop of full forward passes: one text at a time, no cache, no padding, a network's own attention."""

import torch

from blankfill.decoding.seq2seq import kept_words
from blankfill.slots.rows import to_rows
from blankfill.slots.vocabulary import Speller, slot_bias
from blankfill.text import blank_out


@torch.no_grad()
def fill_slots(model, tokenizer, text, blanks, kind):
    """Return the fills from left to right, and the nats of the originals."""
    bias = slot_bias(tokenizer, len(tokenizer))
    row = to_rows([blank_out("d", text, blanks)], tokenizer, None)[0]
    originals, nats = [row.ids[place] for place in row.slots], 0.0
    for follows in (True, False):
        if kind == "masked":
            row.mask(tokenizer.mask_token_id)
        for place, slot, original in zip(row.slots, row.kinds, originals, strict=True):
            logits = next_logits(model, row.ids, place, kind)
            best = int((logits[: len(tokenizer)] + bias[slot]).argmax())
            row.ids[place] = original if follows else best
            nats -= float(logits.log_softmax(-1)[original]) * follows
    return Speller(tokenizer).fills(row, len(blanks)), nats


def next_logits(model, ids, place, kind):
    """Return the logits of the token at a place."""
    if kind == "masked":
        return model(input_ids=torch.tensor([ids])).logits[0, place].float()
    return model(input_ids=torch.tensor([ids[:place]])).logits[0, -1].float()


@torch.no_grad()
def write_whole(model, tokenizer, text, blanks, n_most):
    """Return the tokens that an encoder-decoder writes from the kept words."""
    read = tokenizer([kept_words(blank_out("d", text, blanks))], return_tensors="pt")["input_ids"]
    written, tokens = [model.generation_config.decoder_start_token_id], model.generation_config
    while len(written) <= n_most and (len(written) == 1 or written[-1] != tokens.eos_token_id):
        logits = model(input_ids=read, decoder_input_ids=torch.tensor([written])).logits
        written.append(int(logits[0, -1].argmax()))
    return [token for token in written[1:] if token != tokenizer.pad_token_id]
