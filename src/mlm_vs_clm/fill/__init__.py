"""The old path of the library, for one release: `mlm_vs_clm.fill` is `blankfill` now."""

import sys
import warnings
from importlib import import_module
from typing import Any

# Where each old module is; a name of the package itself is looked up in `blankfill`.
MOVED = {
    "blankfill": ("api", "axes", "likelihood"),
    "blankfill.decoding": (
        *("alignment", "causal", "free_length", "infill", "kept", "lookahead", "masked", "masked_left"),
        *("product", "seq2seq", "walking"),
    ),
    "blankfill.slots": ("ledger", "orders", "rows", "sampling", "vocabulary"),
    "mlm_vs_clm.arms": ("baselines", "recasing"),
}
BASELINES_ALONE = ("BASELINES", "WordCounts")  # what the package had beyond the library

warnings.warn(
    "mlm_vs_clm.fill is blankfill now (from blankfill import fill, score); this path goes with the next release",
    DeprecationWarning,
    stacklevel=2,
)
for home, names in MOVED.items():
    for name in names:
        sys.modules[f"{__name__}.{name}"] = import_module(f"{home}.{name}")


def __getattr__(name: str) -> Any:
    """Return a public name of the library, or a module that moved."""
    module = sys.modules.get(f"{__name__}.{name}")
    if module is not None:
        return module
    home = "mlm_vs_clm.arms.baselines" if name in BASELINES_ALONE else "blankfill"
    try:
        return getattr(import_module(home), name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
