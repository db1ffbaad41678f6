"""How an encoder-decoder generates tokens for a batch of inputs: with a cache and padding where that changes nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from transformers import EncoderDecoderCache, GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

from ..errors import BlankfillError
from ..memory import MEMORY
from ..networks.attention import as_filling, kept_in
from ..networks.linear import prepacked_products
from ..networks.probe import Way, choose_way, probe_texts
from ..networks.reading import stack
from ..networks.sizes import output_layer, vocabulary_size
from ..slots.vocabulary import check_finite
from .caches import make_cache

N_PROBED = 6  # tokens written for a short text
GENERATION_TOKENS = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id")


@torch.inference_mode()
def generate_tokens(
    model: Any, tokenizer: PreTrainedTokenizerBase, inputs: list[str], max_new_tokens: int
) -> list[list[int]]:
    """Return the tokens that the model generates for each input, without padding."""
    pad_id, by_steps = tokenizer.pad_token_id, model.config.model_type == "encoder-decoder"
    probes = WAYS_BY_STEPS if by_steps else WAYS
    ways: dict[str, Way] = {name: partial(probe, pad_id) for name, probe in probes.items()}
    texts = tokenizer(inputs, verbose=False)["input_ids"]
    if choose_way(model, ways, pad_id) != "batch":
        generated = [_generate_alone(model, ids, max_new_tokens) for ids in texts]
    else:
        generate = _generate_step_by_step if by_steps else _generate_by_library
        generated = generate(model, *_pad(texts, pad_id, model), max_new_tokens)
    return [[token for token in ids if token != pad_id] for ids in generated]


def _pad(texts: list[list[int]], pad_id: int, model: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return texts padded at their ends, whatever side the tokenizer pads, and their mask."""
    ids, seen = stack(texts, pad_id, model.device)
    return ids, torch.ones_like(ids) if seen is None else seen.long()


def _generate_by_library(model: Any, ids: torch.Tensor, seen: torch.Tensor, n_most: int) -> list[list[int]]:
    settings = {"max_new_tokens": n_most, "do_sample": False, "num_beams": 1}
    checks: list[Any] = [lambda ids, logits: check_finite(logits)]
    with prepacked_products(model), _plain_generation(model):
        written = model.generate(input_ids=ids, attention_mask=seen, logits_processor=checks, **settings)
    return written[:, 1:].tolist()


def _generate_alone(model: Any, ids: list[int], n_most: int) -> list[int]:
    """Return what a model generates for one text by plain passes, with no cache and no padding."""
    ends = end_tokens(model)
    written, read = [_start_token(model)], torch.tensor([ids], device=model.device)
    for _ in range(n_most):
        logits = model(input_ids=read, decoder_input_ids=torch.tensor([written], device=model.device)).logits
        written.append(int(check_finite(logits[:, -1]).argmax()))
        if written[-1] in ends:
            break
    return written[1:]


def end_tokens(model: Any) -> list[int | None]:
    """Return the tokens that end what a model writes; [None] where it names none."""
    ends = model.generation_config.eos_token_id
    return ends if isinstance(ends, list) else [ends]


def _start_token(model: Any) -> int:
    """Return the token that a model starts to write with; BlankfillError for none."""
    tokens = model.generation_config
    start = tokens.bos_token_id if tokens.decoder_start_token_id is None else tokens.decoder_start_token_id
    if not isinstance(start, int):
        raise BlankfillError(
            f"{type(model).__name__} names no token to start with: set generation_config.decoder_start_token_id"
        )
    return start


def _probe_inputs(
    pad_id: int, model: Any
) -> tuple[list[list[int]], torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return two short texts, the same padded with their mask, and what is written for each."""
    texts = probe_texts(model, pad_id)
    written = torch.tensor([[_start_token(model), *text[:2]] for text in texts], device=model.device)
    return texts, *_pad(texts, pad_id, model), written


def _probe_batch(pad_id: int, model: Any) -> torch.Tensor:
    """Return the logits after each token written for two short texts, padded and with a cache."""
    _, ids, seen, written = _probe_inputs(pad_id, model)
    first = model(input_ids=ids, attention_mask=seen, decoder_input_ids=written[:, :1], use_cache=True)
    encoded, cache, outputs = (first.encoder_last_hidden_state,), first.past_key_values, [first.logits]
    for step in range(1, written.shape[1]):
        output = model(
            encoder_outputs=encoded,
            attention_mask=seen,
            decoder_input_ids=written[:, step : step + 1],
            past_key_values=cache,
            use_cache=True,
        )
        cache = output.past_key_values
        outputs.append(output.logits)
    return torch.cat(outputs, 1).float()


def _probe_alone(pad_id: int, model: Any) -> torch.Tensor:
    """Return the same by plain passes."""
    texts, _, _, written = _probe_inputs(pad_id, model)
    read = [torch.tensor([text], device=model.device) for text in texts]
    pairs = zip(read, written, strict=True)
    return torch.cat(
        [model(input_ids=ids, decoder_input_ids=answer[None]).logits for ids, answer in pairs]
    ).float()


def _probe_steps(pad_id: int, model: Any) -> torch.Tensor:
    """Return which tokens `_generate_step_by_step` writes for two short texts (1, else 0)."""
    _, ids, seen, _ = _probe_inputs(pad_id, model)
    return _mark(model, _generate_step_by_step(model, ids, seen, N_PROBED))


def _probe_steps_alone(pad_id: int, model: Any) -> torch.Tensor:
    """Return the same by plain passes."""
    texts = _probe_inputs(pad_id, model)[0]
    return _mark(model, [_generate_alone(model, ids, N_PROBED) for ids in texts])


def _mark(model: Any, generated: list[list[int]]) -> torch.Tensor:
    marks = torch.zeros(len(generated), N_PROBED, vocabulary_size(model))
    for row, ids in enumerate(generated):
        marks[row, range(len(ids)), ids] = 1
    return marks


# How two short texts are read for `choose_way`: by a network with a decoder of its own, and by two networks.
WAYS = {"batch": _probe_batch, "alone": _probe_alone}
WAYS_BY_STEPS = {"batch": _probe_steps, "alone": _probe_steps_alone}


@contextmanager
def _plain_generation(model: PreTrainedModel) -> Iterator[None]:
    """Let `generate` use the checkpoint's special tokens but none of its habits (forced tokens, least length, ...).

    A fresh configuration passed to `generate` would take those up again, so the model's own is replaced.
    """
    configuration = model.generation_config
    model.generation_config = GenerationConfig(
        **{name: getattr(configuration, name) for name in GENERATION_TOKENS}
    )
    try:
        yield
    finally:
        model.generation_config = configuration


def _generate_step_by_step(model: Any, ids: torch.Tensor, seen: torch.Tensor, n_most: int) -> list[list[int]]:
    """Generate greedily, as `generate` does, but drop finished documents once they are a quarter of the batch."""
    with as_filling(model):
        return _step(model, ids, seen, n_most)


def _step(model: Any, ids: torch.Tensor, seen: torch.Tensor, n_most: int) -> list[list[int]]:
    read = model.encoder(input_ids=ids, attention_mask=seen).last_hidden_state
    dtype = kept_in(model.decoder)
    cache = EncoderDecoderCache(make_cache(n_most, dtype), make_cache(ids.shape[1], dtype))
    generated: list[list[int]] = [[] for _ in ids]
    rows, head, ends = list(range(len(ids))), output_layer(model), end_tokens(model)
    last = torch.full((len(ids), 1), _start_token(model), device=ids.device)
    for _ in range(n_most):
        states = model.decoder.base_model(
            input_ids=last,
            encoder_hidden_states=read,
            encoder_attention_mask=seen,
            past_key_values=cache,
            use_cache=True,
        ).last_hidden_state[:, -1]
        last = check_finite(head(states)).argmax(-1, keepdim=True)
        for row, token in zip(rows, last[:, 0].tolist(), strict=True):
            if not generated[row] or generated[row][-1] not in ends:
                generated[row].append(token)
        MEMORY.release_if_grown()
        going = [i for i, row in enumerate(rows) if generated[row][-1] not in ends]
        if not going:
            break
        if len(going) <= 0.75 * len(rows):
            for layer_cache in (cache.self_attention_cache, cache.cross_attention_cache):
                layer_cache.batch_select_indices(torch.tensor(going, device=ids.device))
            rows, last, read, seen = [rows[i] for i in going], last[going], read[going], seen[going]
    return generated
