"""The range of a number: which values a setting, or an argument of the library, may have."""

import math
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any

from .errors import BlankfillError

RANGE = "range"  # the key in the metadata of a field
MANY = 10**12  # more documents, words or tokens than any corpus has; still exact in floating point
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`, but for `low` itself with `above`, and for `high` itself with `below`.

    Not-a-number, infinity and booleans are never in a range. `whole` takes whole numbers alone, `also` has values that
    are no numbers, and `what` says what the number is.
    """

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    below: bool = False
    whole: bool = False
    also: tuple[str, ...] = ()
    what: str = ""

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, str):
            return value in self.also
        if isinstance(value, bool) or not isinstance(value, Integral if self.whole else Real):
            return False
        real: Any = value  # mypy knows no order of Real
        is_inside = -math.inf < real < math.inf and self.low <= real <= self.high
        return is_inside and not (self.above and value == self.low or self.below and value == self.high)

    @property
    def is_share(self) -> bool:
        """Return whether these are shares, from 0 to 1."""
        return (self.low, self.high, self.whole, self.what) == (0, 1, False, "")

    def __str__(self) -> str:
        """Return what to give, such as `0 to below 1` or `1 or more`."""
        low, high = (f"{end:,}" if isinstance(end, int) else f"{end:g}" for end in (self.low, self.high))
        if self.high == math.inf:
            words = f"above {low}" if self.above else f"{low} or more"
        else:
            words = f"{f'above {low}' if self.above else low} to {f'below {high}' if self.below else high}"
        words = words if self.low > -math.inf else f"a {'whole ' if self.whole else ''}number"
        is_named = self.what and self.what != words
        return ", or ".join([f"{self.what}, {words}" if is_named else words, *self.also])


SEEDS = Range(0, LARGEST_SEED, whole=True)


def number(default: Any, low: float, high: float = math.inf, **limits: Any) -> Any:
    """Return a field of a dataclass with its default and its range; a mutable default is given by what makes it."""
    options: dict = {"default_factory": default} if callable(default) else {"default": default}
    return field(**options, metadata={RANGE: Range(low, high, **limits)})


def count(default: Any, low: int, high: float = MANY) -> Any:
    """Return a field of a dataclass for a whole number, with its default and its range; see `number`."""
    return number(default, low, high, whole=True)


def range_of(owner: type, name: str) -> Range:
    """Return the range of a field of a dataclass."""
    return next(setting.metadata[RANGE] for setting in fields(owner) if setting.name == name)


def check_number(name: str, value: Any, allowed: Range) -> None:
    """Raise BlankfillError, with the name, the value and the range, for a value outside its range."""
    if value in allowed:
        return
    if allowed.is_share:
        ends = [f", {end} left out" for end, is_out in ((0, allowed.above), (1, allowed.below)) if is_out]
        raise BlankfillError(f"{name}={value} must be between 0 and 1{''.join(ends)}")
    is_broken = allowed.whole and isinstance(value, Real) and not isinstance(value, Integral)
    is_broken = is_broken and allowed.low > -math.inf  # else the range says it
    raise BlankfillError(f"{name}={value}: give {'a whole number, ' if is_broken else ''}{allowed}")


def check_fields(settings: Any, prefix: str = "") -> None:
    """Raise BlankfillError for a field of a dataclass that is outside its range."""
    for setting in fields(settings):
        if RANGE in setting.metadata:
            check_number(f"{prefix}{setting.name}", getattr(settings, setting.name), setting.metadata[RANGE])
