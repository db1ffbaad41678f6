"""How blanks are filled: masked, causal and encoder-decoder models, and the baselines that need no model."""

from importlib import import_module
from typing import Any

_HOMES = {
    "..blanks": ("BlankedText", "DocumentError", "FilledText"),
    ".api": ("Filled", "fill", "fill_skipping_failures"),
    ".baselines": ("BASELINES", "WordCounts"),
    ".causal": ("fill_causal",),
    ".infill": ("fill_infill",),
    ".kept": ("fill_kept",),
    ".ledger": ("Ledger",),
    ".likelihood": ("Likelihood", "score"),
    ".lookahead": ("fill_lookahead",),
    ".masked": ("fill_masked",),
    ".masked_left": ("fill_masked_left",),
    ".orders": ("ORDERS",),
    ".product": ("fill_product",),
    ".sampling": ("Sampling",),
    ".seq2seq": ("fill_seq2seq",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `fill.axes` and `fill.baselines` need no torch."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name], __name__), name)
