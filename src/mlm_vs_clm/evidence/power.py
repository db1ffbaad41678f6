"""What a study could detect, and what it would take to decide a comparison."""

import math

from ..stats import ALPHA, FEWEST_UNITS, PairedDifference

UNITS = "documents or authors"
SETTLED_RUNS = 5  # a statement about objectives needs as many trainings
MOST = 100  # runs, or times as many documents or cells: more is not counted


def smallest_detectable_effect(standard_error: float, degrees: float, power: float = 0.8) -> float:
    """Return the true difference that a two-sided t test finds with this power; NaN without degrees of freedom."""
    from scipy.special import stdtrit

    if not degrees > 0:
        return math.nan
    return float((stdtrit(degrees, 1 - ALPHA / 2) + stdtrit(degrees, power)) * standard_error)


def describe_needs(estimate: PairedDifference, margin: float, tests: float = 1.0) -> str:
    """Return how many runs or documents would put the interval beside 0 or inside +-margin, were the estimate to stay.

    `tests`: by how much p is corrected. Noise of documents falls with their number, that between runs with theirs.
    """
    from scipy.special import stdtrit

    if estimate.n < FEWEST_UNITS:
        return f"at least {FEWEST_UNITS} {UNITS}"
    distance = max(abs(estimate.difference), 0.0 if math.isnan(margin) else margin - abs(estimate.difference))
    if not distance > 0 or math.isnan(estimate.standard_error):
        return "nothing: the estimate is 0, and without a margin equality cannot be shown"
    quantile = 1 - ALPHA / 2 / max(tests, 1.0)
    if math.isnan(estimate.run_deviation):
        reach = distance / float(stdtrit(max(estimate.n - 1, 1), quantile))
        documents = math.ceil(estimate.n * max(1.0, (estimate.standard_error / reach) ** 2))
        documents_needed = f" of about {documents:,} {UNITS}" if documents > estimate.n else ""
        if documents > MOST * estimate.n:
            documents_needed = f" of more than {MOST} times as many {UNITS}"
        return f"{SETTLED_RUNS} runs{documents_needed} (training noise is unknown with one run)"
    shared = max(0.0, estimate.standard_error**2 - estimate.run_deviation**2 / estimate.runs)
    for runs in range(max(estimate.runs + 1, SETTLED_RUNS), MOST + 1):
        reach = (distance / float(stdtrit(runs - 1, quantile))) ** 2 - estimate.run_deviation**2 / runs
        if reach > shared:
            return f"about {runs} runs"
        if reach > 0 and runs >= 2 * SETTLED_RUNS:
            return f"about {runs} runs of about {math.ceil(estimate.n * shared / reach):,} {UNITS}"
    return f"more than {MOST} runs"
