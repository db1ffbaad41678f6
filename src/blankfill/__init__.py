"""Fill the blanks of texts with any masked, causal or encoder-decoder model, and score what stands in them."""

from importlib import import_module
from typing import Any

_HOME_OF = {
    "fill": ".api",
    "score": ".api",
    "Audit": ".auditing.report",
    "audit": ".auditing.report",
    "InfillAugmenter": ".augmenting.augmenter",
    "augment": ".augmenting.augmenter",
    "Candidate": ".candidates",
    "FillConfig": ".config",
    "fill_causal": ".decoding.causal",
    "fill_infill": ".decoding.infill",
    "fill_kept": ".decoding.kept",
    "fill_lookahead": ".decoding.lookahead",
    "fill_masked": ".decoding.masked",
    "fill_masked_left": ".decoding.masked_left",
    "fill_middle": ".decoding.middle",
    "fill_product": ".decoding.product",
    "fill_seq2seq": ".decoding.seq2seq",
    "BlankfillError": ".errors",
    "Event": ".filled",
    "Filled": ".filled",
    "Infill": ".filled",
    "Filler": ".filler",
    "Likelihood": ".likelihood",
    "load_model": ".networks.checkpoints",
    "load_tokenizer": ".networks.checkpoints",
    "Ledger": ".slots.ledger",
    "ORDERS": ".slots.orders",
    "Sampling": ".slots.sampling",
    "BlankedText": ".text",
    "DocumentError": ".text",
    "FilledText": ".text",
    "blank_out": ".text",
    "find_words": ".text",
    "fill_skipping_failures": ".writers",
}
__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `blankfill.axes` needs no torch."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
