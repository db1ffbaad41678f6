"""Fill the blanks of texts with any masked, causal or encoder-decoder model, and score what stands in them."""

from importlib import import_module
from typing import Any

_HOMES = {
    ".api": (
        "fill",
        "score",
    ),
    ".auditing.report": (
        "Audit",
        "audit",
    ),
    ".augmenting.augmenter": (
        "InfillAugmenter",
        "augment",
    ),
    ".candidates": ("Candidate",),
    ".config": ("FillConfig",),
    ".decoding.causal": ("fill_causal",),
    ".decoding.infill": ("fill_infill",),
    ".decoding.kept": ("fill_kept",),
    ".decoding.lookahead": ("fill_lookahead",),
    ".decoding.masked": ("fill_masked",),
    ".decoding.masked_left": ("fill_masked_left",),
    ".decoding.middle": ("fill_middle",),
    ".decoding.product": ("fill_product",),
    ".decoding.seq2seq": ("fill_seq2seq",),
    ".errors": ("BlankfillError",),
    ".filled": (
        "Event",
        "Filled",
        "Infill",
    ),
    ".filler": ("Filler",),
    ".likelihood": ("Likelihood",),
    ".networks.checkpoints": (
        "load_model",
        "load_tokenizer",
    ),
    ".slots.ledger": ("Ledger",),
    ".slots.orders": ("ORDERS",),
    ".slots.sampling": ("Sampling",),
    ".text": (
        "BlankedText",
        "DocumentError",
        "FilledText",
        "blank_out",
        "find_words",
    ),
    ".writers": ("fill_skipping_failures",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `blankfill.axes` needs no torch."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
