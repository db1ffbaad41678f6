"""Analysis of the ratings: agreement, means per arm, differences of arms, correlation with the metrics."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import combinations

import numpy as np
import pandas as pd

from ..correlations import correlate_ranks
from ..errors import StudyError
from ..evidence.verdicts import correct
from ..stats import NORMAL, draw_weights, percentile_interval
from .questions import POINTS
from .sheet import ORIGINAL

ALL = "all"
RESAMPLES = 1000
ROUNDS = "krippendorff_alpha_ordinal between rounds"
Metrics = dict[tuple[str, str], np.ndarray]


def _parts(rows: pd.DataFrame) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Yield the rows of each question, in each corpus and in all of them together."""
    for question, of_question in rows.groupby("question", sort=False):
        for corpus, of_corpus in [*of_question.groupby("corpus"), (ALL, of_question)]:
            yield {"question": question, "corpus": corpus}, of_corpus


def _matrix(rows: pd.DataFrame) -> np.ndarray:
    """Return the ratings as (items, raters), NaN where none was given."""
    return rows.pivot(index="item", columns="rater", values="rating").to_numpy(dtype=float)


def measure_agreement(rows: pd.DataFrame) -> pd.DataFrame:
    """Return Krippendorff's alpha (ordinal) with a 95 % bootstrap interval over documents, by question and corpus."""
    table = []
    for about, ratings in _parts(rows):
        documents = ratings.groupby("item")[["corpus", "document"]].first().agg("/".join, axis=1)
        table.append(about | estimate_alpha(_matrix(ratings), documents.to_numpy()))
    return pd.DataFrame(table).assign(measure="krippendorff_alpha_ordinal")


def measure_rounds(rows: pd.DataFrame) -> pd.DataFrame:
    """Return alpha between the two rounds of each rater who rated twice, by question and corpus; no rows where none did."""
    table = []
    for rater, of_rater in rows.groupby("rater"):
        if of_rater["round"].nunique() > 1:
            agreement = measure_agreement(of_rater.assign(rater=of_rater["round"].astype(str)))
            table.append(agreement.assign(measure=f"{ROUNDS} of {rater}", n_raters=1))
    return pd.concat(table, ignore_index=True) if table else pd.DataFrame()


def estimate_alpha(ratings: np.ndarray, documents: np.ndarray) -> dict:
    """Return alpha of ratings (items, raters) and its interval, from the items with two ratings or more.

    Items with the same value in documents (items,) are versions of one text: they are drawn together.
    """
    counts = np.stack([(ratings == point).sum(axis=1) for point in POINTS], axis=1)
    paired = counts.sum(axis=1) >= 2
    counts, documents = counts[paired], documents[paired]
    n_raters = int((~np.isnan(ratings)).any(axis=0).sum())
    about = {"n_items": len(counts), "n_ratings": int(counts.sum()), "n_raters": n_raters}
    undefined = dict.fromkeys(("value", "low", "high"), np.nan) | about
    if len(counts) < 2:
        return undefined | {"reason": "fewer than two items were rated by two raters"}
    if (counts.sum(axis=0) > 0).sum() < 2:
        return undefined | {"reason": "the ratings do not vary"}
    versions = [np.flatnonzero(documents == document) for document in np.unique(documents)]
    if len(versions) < 2:
        return undefined | {"value": _alpha(counts), "reason": "one document has no interval"}
    draws = np.random.default_rng(0).integers(len(versions), size=(RESAMPLES, len(versions)))
    resampled = [_alpha(counts[np.concatenate([versions[i] for i in draw])]) for draw in draws]
    low, high = percentile_interval(np.array(resampled))
    return {"value": _alpha(counts), "low": low, "high": high} | about | {"reason": ""}


def _alpha(counts: np.ndarray) -> float:
    """Return alpha of counts (items, points); NaN if only one point was given at all."""
    try:
        import krippendorff  # GPL-3.0, so it is required for reading ratings only
    except ModuleNotFoundError:
        raise StudyError("agreement needs krippendorff: pip install 'krippendorff>=0.9'") from None
    if (counts.sum(axis=0) > 0).sum() < 2:
        return np.nan
    domain = list(POINTS)
    return krippendorff.alpha(value_counts=counts, value_domain=domain, level_of_measurement="ordinal")


def rate_arms(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean rating of each arm by question and corpus, with a 95 % interval over items and raters."""
    table = [
        about | {"arm": arm} | estimate_mean(_matrix(rated))
        for about, ratings in _parts(rows)
        for arm, rated in ratings.groupby("arm")
    ]
    names = "arm corpus question value low high n n_items n_raters reason".split()
    return pd.DataFrame(table)[names]


def estimate_mean(ratings: np.ndarray) -> dict:
    """Return the mean of ratings (items, raters), with an interval from resampling both items and raters.

    Owen's (2007) bootstrap for crossed factors: too narrow with two or three raters. With one, only items are drawn.
    """
    is_rated = ~np.isnan(ratings)
    ratings = ratings[is_rated.any(axis=1)][:, is_rated.any(axis=0)]
    is_rated = ~np.isnan(ratings)
    n_items, n_raters = ratings.shape
    about = {"n": int(is_rated.sum()), "n_items": n_items, "n_raters": n_raters}
    if not is_rated.any():
        return dict.fromkeys(("value", "low", "high"), np.nan) | about | {"reason": "nothing was rated"}
    value = float(ratings[is_rated].mean())
    if n_items < 2:
        undefined = {"low": np.nan, "high": np.nan} | about | {"reason": "one item has no interval"}
        return {"value": value} | undefined
    items, raters = draw_weights(n_items, RESAMPLES), draw_weights(n_raters, RESAMPLES, seed=1)
    matrices = np.where(is_rated, ratings, 0), is_rated * 1.0
    sums, counts = (np.einsum("bi,ir,br->b", items, matrix, raters) for matrix in matrices)
    low, high = percentile_interval(sums / np.where(counts == 0, np.nan, counts))
    reason = "" if n_raters > 1 else "one rater: the interval is over items alone"
    return {"value": value, "low": low, "high": high} | about | {"reason": reason}


def compare_arms(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the difference (first minus second) of every two arms from a mixed model, Holm-corrected per question.

    rating ~ arm + corpus, with variances of raters, of documents and of items (a document in one arm): crossed,
    as every rater sees every document in every arm. The five points are treated as numbers. Where the model cannot
    be fitted, each row has the reason.
    """
    tables = [
        compare_by_model(question, of_question)
        for question, of_question in rows.groupby("question", sort=False)
    ]
    return pd.concat(tables, ignore_index=True)


def compare_by_model(question: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of arms of one question."""
    rated = rows.dropna(subset="rating")
    arms = sorted(rows["arm"].unique())
    about = {"question": question, "n": len(rated), "n_items": rated["item"].nunique()}
    about |= {"n_raters": rated["rater"].nunique()}
    model, reason = None, reason_not_fitted(rated, arms)
    if not reason:
        model, reason = fit_model(rated)
    pairs = [{"first": first, "second": second} for first, second in combinations(arms, 2)]
    contrasts = [contrast(model, **pair) if not reason else {} for pair in pairs]
    table = pd.DataFrame([about | pair | estimate for pair, estimate in zip(pairs, contrasts, strict=True)])
    table = table.reindex(columns=[*about, "first", "second", "difference", "low", "high", "p"])
    return table.assign(p_holm=correct(table["p"].astype(float)), reason=reason)


def reason_not_fitted(rated: pd.DataFrame, arms: list[str]) -> str:
    """Return why the mixed model cannot be fitted to these ratings, or nothing."""
    if len(arms) < 2:
        return "one arm: nothing to compare"
    if unrated := [arm for arm in arms if arm not in set(rated["arm"])]:
        return f"no rating of arm {unrated[0]}"
    if rated["rater"].nunique() < 2:
        return "one rater: a rater's severity cannot be separated from the arms"
    return "the ratings do not vary" if rated["rating"].nunique() < 2 else ""


def fit_model(rated: pd.DataFrame) -> tuple:
    """Return the mixed model (statsmodels, REML) and nothing, or None and why it could not be fitted."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    fixed = "rating ~ 0 + C(arm)" + (" + C(corpus)" if rated["corpus"].nunique() > 1 else "")
    rated = rated.assign(document=rated["corpus"] + "/" + rated["document"])
    crossed = {name: f"0 + C({name})" for name in ("document", "item", "rater")}
    single_group = np.ones(len(rated))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a variance of zero is legal here, and `converged` is checked
        try:
            model = MixedLM.from_formula(
                fixed, rated, groups=single_group, vc_formula=crossed, re_formula="0"
            )
            # Variances may end at zero, where the default gradient methods stop too early or fail.
            fitted = model.fit(reml=True, method="powell")
        except np.linalg.LinAlgError as error:
            return None, f"the mixed model could not be fitted ({error}): too few ratings for its arms"
    return (fitted, "") if fitted.converged else (None, "the mixed model did not converge")


def contrast(model, first: str, second: str) -> dict:
    """Return the difference of two arms with its normal 95 % interval and two-sided p."""
    from scipy.stats import norm

    names = model.model.exog_names
    weights = np.array([(name == f"C(arm)[{first}]") - 1.0 * (name == f"C(arm)[{second}]") for name in names])
    difference = float(weights @ model.fe_params.to_numpy())
    error = float(np.sqrt(weights @ model.cov_params().loc[names, names].to_numpy() @ weights))
    p = float(2 * norm.sf(abs(difference) / error)) if error > 0 else np.nan
    low, high = difference - NORMAL * error, difference + NORMAL * error
    return {"difference": difference, "low": low, "high": high, "p": p}


def correlate_metrics(rows: pd.DataFrame, read_metrics: Callable[[str], Metrics]) -> pd.DataFrame:
    """Return Spearman's correlation of an item's mean rating with each metric of its document, over items.

    The original is left out: it scores highest by definition and raters prefer it, so that any metric would seem to
    agree. `read_metrics` returns the values (n documents,) of each metric of a score artifact, by (scope, metric),
    empty where it is not stored. `n` counts the items whose metric is stored and defined.
    """
    generated = rows[rows["arm"] != ORIGINAL]
    names = ["question", "corpus", "item", "artifact", "place"]
    means = generated.groupby(names, sort=False)["rating"].mean().reset_index()
    values = {artifact: read_metrics(artifact) for artifact in means["artifact"].unique()}
    n_absent = sum(not metrics for metrics in values.values())
    note = f"the scores of {n_absent} of {len(values)} cells are not in the store" if n_absent else ""
    kinds = sorted({kind for metrics in values.values() for kind in metrics})
    table = [
        about
        | {"scope": kind[0], "metric": kind[1], "statistic": "spearman"}
        | _correlate(of_question, values, kind, note)
        for about, of_question in _parts(means)
        for kind in kinds or [("", "")]
    ]
    columns = "question corpus scope metric statistic value low high n reason".split()
    return pd.DataFrame(table, columns=columns)


def _correlate(means: pd.DataFrame, values: dict[str, Metrics], kind: tuple[str, str], note: str) -> dict:
    """Return the correlation of mean ratings with one metric, over the items that have both."""
    metric_values = [values[artifact].get(kind, ()) for artifact in means["artifact"]]
    pairs = zip(metric_values, means["place"], strict=True)
    scored = [of_cell[place] if place < len(of_cell) else np.nan for of_cell, place in pairs]
    correlation = correlate_ranks(means["rating"], scored, RESAMPLES)
    return asdict(correlation) | {"reason": "; ".join(filter(None, (correlation.reason, note)))}
