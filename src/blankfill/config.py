"""The settings of filling as one object: what the model sees, how long fills are, in which order, how tokens are drawn."""

from dataclasses import dataclass, fields
from typing import Any, get_args

from .axes import AXIS
from .errors import BlankfillError
from .ranges import check_number
from .slots.orders import Pace
from .slots.ranges import RANGES
from .slots.sampling import Sampling

CHOICES = {
    name: (*dict.fromkeys(value for values in AXIS[name].values.values() for value in values), *extra)
    for name, extra in {"context": ("masked_left",), "length": (), "order": (), "source": ()}.items()
}
DTYPES = ("float32", "bfloat16", "float16")  # of weights, by torch's names
SAMPLED = ("temperature", "top_k", "top_p", "seed")


@dataclass(frozen=True)
class FillConfig:
    """How blanks are filled; None leaves a setting to the kind of model, which refuses those that it does not have.

    A slot is the place of one token in a blank.

    - context: what is seen: "both" sides (the default of a masked model) | "left" (of a causal one) | "leaky" (both, and
      originals until their turn comes) | "true_left" (the originals on the left) | "prefix" | "masked_left" | "kept" | "fim"
    - length: the tokens of a blank: "known" (the default: as many as its original) | "one" | "free" (`max_length`, by
      default 4, at most)
    - order: one of ORDERS, for a masked model, by default "random"
    - per_pass (1), passes, threshold, entropy_bound: how many slots are filled in a pass: so many; an equal share of all;
      those whose probability reaches `threshold`; those within a summed entropy in nats
    - schedule: how `passes` share the slots, "equal" (the default) | "cosine"; sweeps (1): of order "gibbs"
    - temperature: 0 is greedy; top_k, top_p and seed as in transformers
    - right_words: how many words behind each blank a masked model sees, -1 for all
    - candidates (8), lookahead (16): of a causal model that looks ahead
    - weight (0.5): of two models
    - source ("sentinel" | "kept"): of an encoder-decoder; max_new_tokens (256, with context "fim" 32): of models that write
      whole texts or answers

    Raises BlankfillError for a number outside its range, for numbers that exclude each other, and for a setting that
    another makes useless.
    """

    context: str | None = None
    length: str | None = None
    order: str | None = None
    per_pass: int | None = None
    passes: int | None = None
    threshold: float | None = None
    entropy_bound: float | None = None
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    max_length: int | None = None
    sweeps: int | None = None
    schedule: str | None = None
    candidates: int | None = None
    lookahead: int | None = None
    weight: float | None = None
    source: str | None = None
    max_new_tokens: int | None = None
    right_words: int | None = None

    def __post_init__(self):
        settings = self.of_model()
        for name in sorted(settings.keys() & RANGES.keys()):
            check_number(name, settings[name], RANGES[name])
        for name, values in CHOICES.items():
            if name in settings and settings[name] not in values:
                raise BlankfillError(f"{name}={settings[name]} is unknown: choose one of {', '.join(values)}")
        self._refuse_idle(settings)
        self.sampling()
        Pace.of(settings)

    def _refuse_idle(self, settings: dict[str, Any]) -> None:
        """Raise BlankfillError for a setting that another one makes useless."""
        for name, other, needed in (("max_length", "length", "free"), ("sweeps", "order", "gibbs")):
            if name in settings and settings.get(other) != needed:
                raise BlankfillError(f"{name} needs {other}={needed}: leave it out, or set that too")
        instead = [name for name in ("passes", "threshold", "entropy_bound") if settings.get(name)]
        instead += ["order=parallel"] * (settings.get("order") == "parallel")
        if settings.get("passes") and settings.get("order") == "parallel":
            raise BlankfillError("passes changes nothing beside order=parallel: leave one of them out")
        if settings.get("schedule", "equal") != "equal" and settings.get("order") == "spread":
            raise BlankfillError("schedule changes nothing beside order=spread: leave one of them out")
        if "per_pass" in settings and instead:
            raise BlankfillError(f"per_pass changes nothing beside {instead[0]}: leave one of them out")

    def of_model(self) -> dict[str, Any]:
        """Return the settings that were given, by name, without those of sampling."""
        values = {setting.name: getattr(self, setting.name) for setting in fields(self)}
        return {name: value for name, value in values.items() if value is not None and name not in SAMPLED}

    def sampling(self) -> Sampling:
        """Return how tokens are drawn."""
        return Sampling(self.temperature, self.top_k, self.top_p, self.seed)

    def with_settings(self, **settings: Any) -> "FillConfig":
        """Return a copy with these settings; BlankfillError for a name that is no setting."""
        names = [setting.name for setting in fields(self)]
        for name in settings:
            if name not in names:
                raise BlankfillError(f"{name} is no setting: choose from {', '.join(names)}")
        return FillConfig(**{name: getattr(self, name) for name in names} | settings)


def check_config(config: Any) -> FillConfig:
    """Return the settings, the defaults for None; BlankfillError for what is no `FillConfig`."""
    if config is not None and not isinstance(config, FillConfig):
        raise BlankfillError(
            f"config: a FillConfig is needed, this is a {type(config).__name__}; settings may also stand alone, by name"
        )
    return config or FillConfig()


def types_of_settings() -> dict[str, type]:
    """Return the type of each setting by name: str, int or float."""
    kinds = {setting.name: get_args(setting.type) or (setting.type,) for setting in fields(FillConfig)}
    return {name: of_name[0] for name, of_name in kinds.items()}  # of `str | None` the first
