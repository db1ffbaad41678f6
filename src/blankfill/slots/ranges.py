"""The range of every number that decides how blanks are filled: of the settings of an arm and of what callers give."""

from ..ranges import MANY, Range

# By the name of the argument. The upper ends of passes, sweeps, lengths and candidates are far beyond what is useful,
# and below what would take for ever or fill the memory.
RANGES = {
    "temperature": Range(0, 1_000),
    "top_k": Range(0, MANY, whole=True),
    "top_p": Range(0, 1, above=True),
    "per_pass": Range(1, MANY, whole=True),
    "passes": Range(0, 1_000, whole=True),
    "threshold": Range(0, 1),
    "entropy_bound": Range(0, MANY),
    "sweeps": Range(1, 1_000, whole=True),
    "max_length": Range(1, 100, whole=True),
    "right_words": Range(-1, MANY, whole=True),
    "candidates": Range(1, 1_000_000, whole=True),
    "lookahead": Range(1, MANY, whole=True),
    "weight": Range(0, 1, what="the causal share"),
    "max_new_tokens": Range(1, 10_000, whole=True),
}
LOWEST_TEMPERATURE = 1e-6  # above 0: logits divided by less overflow
