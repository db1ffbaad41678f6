"""`audit`: what generated texts, and a model, give away of the texts that the model was trained on."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from ..arguments import is_list
from ..errors import BlankfillError
from ..filler import Filler
from ..loading import Model, Tokenizer
from ..ranges import SEEDS, check_number
from ..text import DocumentError
from .copies import Copies, measure_copies
from .intervals import Auc, area_under_curve
from .membership import measure_losses
from .nearest import describe_nearest
from .phrases import Returned, measure_phrases
from .runs import Words, words_of

LEAST_TEXTS = 2


@dataclass(frozen=True)
class Canaries:
    """Planted phrases against those that were drawn alike and never planted: which come back, and the AUC of the loss."""

    returned: Returned | None
    loss: Auc | None


@dataclass(frozen=True)
class Audit:
    """What `audit` measured; None where it had nothing to measure. No field holds words of a text.

    texts: how many there were of each kind. copies, names, membership, canaries: see `Copies`, `Returned`, `Auc`,
    `Canaries`. closest: quantiles of the distance from generated and from held-out texts to their closest training text.
    """

    texts: dict[str, int]
    copies: Copies
    names: Returned | None
    membership: Auc | None
    canaries: Canaries | None
    closest: dict[str, dict[float, float]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return json.loads(json.dumps(asdict(self)))

    def __str__(self) -> str:
        """Return one line per measure."""
        return "\n".join(_lines(self))


def audit(
    train: Iterable[str],
    holdout: Iterable[str],
    generated: Iterable[str],
    *,
    names: tuple[Iterable[str], Iterable[str]] | None = None,
    model: Model | None = None,
    tokenizer: Tokenizer | None = None,
    canaries: tuple[Iterable[str], Iterable[str]] | None = None,
    seed: int = 0,
    device: str = "auto",
) -> Audit:
    """Measure what generated texts give away of training texts, beside what they share with held-out ones anyway.

    >>> report = audit(train, holdout, generated, model=model, tokenizer=tokenizer)
    >>> print(report)

    - train: the texts that the model was trained on.
    - holdout: texts of the same source that it was not trained on. They get every measure too; the difference is what
      training left behind.
    - generated: the texts to be published. Words that they keep from training texts count as copies.
    - names: those that were masked in the training texts, and those that were masked in the held-out ones.
    - canaries: phrases that were planted in the training texts, and phrases drawn in the same way that were not.
    - model, tokenizer, device: as in `Filler`, for the loss of the texts.
    - seed: of the bootstrap, and of the words that a masked model predicts.

    Intervals are of 95 % and each stands alone: of twenty, one is expected to miss. An interval that holds "no
    difference" is no proof that nothing leaks. Raises BlankfillError, which shows no text, for fewer than two texts of a
    kind, and for a held-out text that is a training text too.
    """
    check_number("seed", seed, SEEDS)
    seed = int(seed)  # a key of draws spells it
    kinds = {"train": train, "holdout": holdout, "generated": generated}
    texts = {name: _read(name, documents) for name, documents in kinds.items()}
    words = {name: [words_of(text) for text in documents] for name, documents in texts.items()}
    for name, documents in words.items():
        if not any(documents):
            raise BlankfillError(
                f"{name}: none of the {len(documents)} texts has a word, so nothing can be measured"
            )
    _refuse_shared(words["train"], words["holdout"])
    for name, is_given in (("tokenizer", tokenizer is not None), ("device", device != "auto")):
        if model is None and is_given:
            raise BlankfillError(f"{name}: without a model nothing is read with it, leave it out")
    filler = None if model is None else Filler(model, tokenizer, device=device)
    key = sha256("\n".join(texts["train"]).encode("utf-8", "surrogatepass")).digest()
    closest = {name: describe_nearest(words[name], words["train"]) for name in ("generated", "holdout")}
    return Audit(
        {name: len(documents) for name, documents in texts.items()},
        measure_copies(words["train"], words["holdout"], words["generated"], key, seed),
        _compare("names", names, words["generated"]),
        None
        if filler is None
        else _compare_losses(
            filler, {name: texts[name] for name in ("train", "holdout")}, seed, "membership"
        ),
        None if canaries is None else _measure_canaries(canaries, filler, words["generated"], seed),
        closest,
    )


def _read(name: str, texts: Any, least: int = LEAST_TEXTS) -> list[str]:
    if not is_list(texts):
        raise BlankfillError(f"{name}: a list of strings is needed, this is a {type(texts).__name__}")
    read = [*texts]
    if wrong := [i for i, text in enumerate(read) if not isinstance(text, str)]:
        raise BlankfillError(f"{name}: number {wrong[0]} is a {type(read[wrong[0]]).__name__}, not a string")
    if len(read) < least:
        raise BlankfillError(f"{name}: {len(read)} texts are too few: give {least} or more")
    return read


def _refuse_shared(train: Sequence[Words], holdout: Sequence[Words]) -> None:
    """Raise BlankfillError for a text in both: it is no control."""
    trained = {*train} - {()}
    if shared := [i for i, words in enumerate(holdout) if words in trained]:
        raise BlankfillError(
            f"holdout: {len(shared)} of {len(holdout)} texts are training texts too (the first is number {shared[0]}): "
            "take them out, a control must not have been trained on"
        )


def _read_pair(name: str, pair: Any) -> tuple[list[str], list[str]]:
    if isinstance(pair, str | bytes | Mapping) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise BlankfillError(
            f"{name}: give two lists of strings, those of the training texts and their control"
        )
    first, second = pair
    return _read(name, first, 1), _read(f"control of {name}", second, 1)


def _compare(name: str, pair: Any, generated: Sequence[Words]) -> Returned | None:
    if pair is None:
        return None
    ours, control = _read_pair(name, pair)
    return measure_phrases(map(words_of, ours), map(words_of, control), generated)


def _compare_losses(filler: Filler, sides: Mapping[str, list[str]], seed: int, name: str) -> Auc | None:
    """Return the AUC of two sides; BlankfillError, with the name of the side, for a text that cannot be read."""
    losses = []
    for side, texts in sides.items():
        try:
            losses.append(measure_losses(texts, filler, seed))
        except DocumentError as error:
            raise BlankfillError(f"{side}: number {error.id}: {error.problem}") from None
    return area_under_curve(*losses, seed, name)


def _measure_canaries(pair: Any, filler: Filler | None, generated: Sequence[Words], seed: int) -> Canaries:
    planted, control = _read_pair("canaries", pair)
    sides = {"canaries": planted, "control of canaries": control}
    loss = None if filler is None else _compare_losses(filler, sides, seed, "canaries")
    return Canaries(_compare("canaries", (planted, control), generated), loss)


def _lines(report: Audit) -> list[str]:
    counts = ", ".join(f"{n} {name}" for name, n in report.texts.items())
    copies = report.copies
    lines = [f"texts: {counts}; training against held-out, difference and its interval of 95 %"]
    lines += [_line(f"copied {n}-grams", contrast) for n, contrast in copies.copied.items()]
    lines += [_line("longest copied run", copies.copied_run)]
    lines += [_line(f"returned {n}-grams", contrast) for n, contrast in copies.returned.items()]
    lines += [_line("longest returned run", copies.returned_run)]
    lines += [
        f"copied run of {run.words} words: generated {run.generated}, train {run.train}, hash {run.digest}"
        for run in copies.longest
    ]
    lines += [f"longest run of a held-out text: {copies.longest_control} words"]
    lines += [_line("names that come back", report.names and report.names.share)]
    lines += [_line_of_auc("membership", report.membership)]
    if report.canaries:
        returned = report.canaries.returned
        lines += [_line("canaries that come back", returned and returned.share)]
        lines += [_line_of_auc("canaries", report.canaries.loss)]
    for name, quantiles in report.closest.items():
        values = ", ".join(f"{share:.0%} {distance:.2f}" for share, distance in quantiles.items())
        lines += [f"distance to the closest training text, {name} (a description): {values}"]
    return [line for line in lines if line]


def _line(name: str, contrast: Any) -> str:
    if contrast is None:
        return ""
    sides = f"{contrast.value:.3f} against {contrast.control:.3f}"
    return f"{name}: {sides}, {contrast.difference:+.3f} [{contrast.low:+.3f}, {contrast.high:+.3f}]"


def _line_of_auc(name: str, auc: Auc | None) -> str:
    return f"{name} by the loss: AUC {auc.value:.3f} [{auc.low:.3f}, {auc.high:.3f}]" if auc else ""
