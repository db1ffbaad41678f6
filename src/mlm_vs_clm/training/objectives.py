"""The objectives by name: how examples are made, which kind of model learns from them, and which settings each has."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass

from blankfill.ranges import check_fields

from ..errors import StudyError
from .causal_examples import causal, causal_with_errors, filled_in_the_middle, kept_then_text, prefix_to_rest
from .masked_examples import diffused, infill, masked, masked_from_the_left, masked_pair
from .noise import OF_MASKED, OWN, Example, Noise, Rng, TargetTokens, TokenizedDocument
from .seq2seq_examples import denoised, kept_to_text, masked_spans, masked_words

ALIKE = 1e-9  # by which shares may miss 1, as they are rounded


@dataclass(frozen=True)
class Objective:
    """How examples are made, the kind of model that learns from them, what it needs, and the settings that it reads.

    `bounds_text` is true where the summed loss is minus the log-likelihood of the text, or bounds it from above;
    `reads_pairs` where documents come as `pair_sentences` makes them.
    """

    kind: str
    make_example: Callable[[TokenizedDocument, Noise, TargetTokens, Rng], Example]
    needs_mask: bool = True
    settings: tuple[str, ...] = ()
    bounds_text: bool = False
    reads_pairs: bool = False


CHOICE = ("ratio", "unit")  # which tokens are masked
FATE = ("mask_share", "random_share")  # what becomes of them

OBJECTIVES = {
    "mlm": Objective("masked", masked, settings=(*CHOICE, *FATE, *OF_MASKED)),
    "mlm_nsp": Objective("masked", masked_pair, settings=(*CHOICE, *FATE, "spread"), reads_pairs=True),
    "mlm_left": Objective("causal", masked_from_the_left, settings=CHOICE),
    "clm": Objective("causal", causal, needs_mask=False, bounds_text=True),
    "clm_noised": Objective("causal", causal_with_errors, needs_mask=False, settings=("noise_ratio",)),
    "hybrid": Objective("masked", masked, settings=(*CHOICE, *FATE, *OF_MASKED, "masked_share", "schedule")),
    "masked_diffusion": Objective("masked", diffused, bounds_text=True),
    "prefix_lm": Objective("causal", prefix_to_rest, needs_mask=False, settings=("spread", "prefix_share")),
    "fim": Objective("causal", filled_in_the_middle),
    "seq2seq": Objective("seq2seq", kept_to_text, needs_mask=False, settings=CHOICE),
    "infill": Objective("causal", infill, settings=CHOICE),
    "kept": Objective("causal", kept_then_text, needs_mask=False, settings=CHOICE),
    "sentinel": Objective("seq2seq", masked_words, settings=CHOICE),
    "span_corruption": Objective("seq2seq", masked_spans, settings=("ratio", "mean_span")),
    "denoise": Objective("seq2seq", denoised, settings=("ratio", "mean_span", "permute_sentences")),
}
UNITS = ("token", "word", "span")


# Whether a batch of `hybrid` is masked, from its number, the number of batches and the masked share: spread evenly; all in the
# middle, as AntLM had them between two causal phases; all after the causal ones (arXiv 2507.00994).
SCHEDULES: dict[str, Callable[[int, int, float], bool]] = {
    "batches": lambda number, n, share: math.floor((number + 1) * share) > math.floor(number * share),
    "phases": lambda number, n, share: n * (1 - share) / 2 <= number < n - n * (1 - share) / 2,
    "causal_first": lambda number, n, share: number >= n * (1 - share),
}


def split_batches(name: str, noise: Noise) -> dict[str, float]:
    """Return the objectives that the batches of a training have, and the share of each: of `hybrid`, mlm and clm."""
    if name != "hybrid":
        return {name: 1.0}
    shares = {"mlm": noise.masked_share, "clm": 1 - noise.masked_share}
    return {objective: share for objective, share in shares.items() if share}


def objective_of_batch(number: int, n_batches: int, name: str, noise: Noise) -> str:
    """Return the objective of a batch, of `hybrid` by its schedule."""
    if name != "hybrid":
        return name
    return "mlm" if SCHEDULES[noise.schedule](number, n_batches, noise.masked_share) else "clm"


def reset_unread(name: str, **settings) -> dict:
    """Return settings with the default for those of CHOICE and FATE that an objective does not read, as every id has them.

    A study changes them for all its objectives: those that do not read them are the same trainings still.
    """
    read = OBJECTIVES[name].settings if name in OBJECTIVES else settings
    defaults = {key: getattr(Noise, key) for key in (*CHOICE, *FATE) if key not in read}
    return {"name": name} | settings | defaults


def check_objective(name: str, ratio: float, unit: str, **settings) -> None:
    """Raise StudyError for an objective that does not exist, a number out of its range, or a setting of OWN that it does not read."""
    if name not in OBJECTIVES:
        raise StudyError(f"objective.name={name} is unknown: choose one of {', '.join(OBJECTIVES)}")
    check_fields(Noise(ratio, unit, **settings), "objective.")
    _check_unit(name, unit, settings)
    for key in OWN:
        if key in settings and key not in OBJECTIVES[name].settings:
            raise StudyError(f"objective.{key} is not used by objective {name}; remove it")
    if (schedule := settings.get("schedule", Noise.schedule)) not in SCHEDULES:
        raise StudyError(f"objective.schedule={schedule} is unknown: choose one of {', '.join(SCHEDULES)}")
    _check_shares(name, ratio, settings)


def _check_unit(name: str, unit: str, settings: dict) -> None:
    if unit not in UNITS:
        raise StudyError(f"objective.unit={unit} is unknown: choose one of {', '.join(UNITS)}")
    if unit == "span" and not _takes_spans(name):
        raise StudyError(f"objective.unit=span is not used by objective {name}: choose mlm or hybrid")
    if _takes_spans(name) and unit != "span" and "mean_span" in settings:
        raise StudyError(
            f"objective.mean_span needs objective.unit=span, got {unit}: set it, or remove mean_span"
        )


def _check_shares(name: str, ratio: float, settings: dict) -> None:
    if settings.get("prefix_share") == 1:
        raise StudyError("objective.prefix_share=1 leaves nothing of the text to predict: give less than 1")
    shares = settings.get("mask_share", 0) + settings.get("random_share", 0)
    if not shares <= 1 + ALIKE:
        raise StudyError(
            f"objective.mask_share and objective.random_share are {shares:g} together: give at most 1, as the rest of the "
            "masked tokens stays as it is"
        )
    drawn = "prefix_share" if name == "prefix_lm" else "ratio"
    middle = settings.get("prefix_share", Noise.prefix_share) if name == "prefix_lm" else ratio
    if not 0 <= (spread := settings.get("spread", 0)) <= min(middle, 1 - middle):
        raise StudyError(
            f"objective.spread={spread}: {drawn} - spread to {drawn} + spread must lie between 0 and 1"
        )


def _takes_spans(name: str) -> bool:
    """Return whether an objective masks by `unit`, and so has spans of a `mean_span` for `span` alone."""
    return {*OF_MASKED} <= {*OBJECTIVES[name].settings}


def check_target_tokens(name: str, tokens: TargetTokens) -> None:
    """Raise StudyError for a tokenizer without the mask or sentinels that an objective needs."""
    takes_sentinels = OBJECTIVES[name].make_example in (masked_words, masked_spans)
    if OBJECTIVES[name].needs_mask and tokens.mask < 0 and not (takes_sentinels and tokens.sentinels):
        raise StudyError(
            f"objective {name} needs a tokenizer with a mask token, and this model's has none: choose "
            f"{', '.join(alternative for alternative, objective in OBJECTIVES.items() if not objective.needs_mask)}, or another model"
        )


def describe_noise(name: str, noise: Noise) -> dict:
    """Return the noise as it is recorded: settings of OWN that an objective does not have are left out."""
    unused = set(OWN) - set(OBJECTIVES[name].settings)
    unused |= {"mean_span"} if _takes_spans(name) and noise.unit != "span" else set()
    return {key: value for key, value in asdict(noise).items() if key not in unused}
