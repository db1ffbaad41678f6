"""A model that remembers its texts: the positive control of an audit."""

from copy import deepcopy

import torch


def train(model, tokenizer, texts, steps, is_masked):
    """Return a copy of a model that was trained on the same few texts, again and again."""
    model = deepcopy(model).train()
    ids = tokenizer(texts, padding=True, return_tensors="pt")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(0)
    special = torch.isin(ids["input_ids"], torch.tensor(tokenizer.all_special_ids))
    for _ in range(steps):
        labels = ids["input_ids"].masked_fill(special, -100)
        inputs = ids["input_ids"]
        if is_masked:
            hidden = (torch.rand(inputs.shape, generator=generator) < 0.25) & ~special
            inputs = inputs.masked_fill(hidden, tokenizer.mask_token_id)
            labels = labels.masked_fill(~hidden, -100)
        loss = model(input_ids=inputs, attention_mask=ids["attention_mask"], labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()
