"""What a text gives away: a copier is caught and an honest writer is not, by each measure."""

import numpy as np
import pytest

from blankfill.draws import keyed_rng
from mlm_vs_clm.metrics import MEASURES
from mlm_vs_clm.metrics.disclosure import COPIED, MEMBERSHIP, NAMES, count_copied, count_names, place_losses

WORDS = [f"{a}{b}" for a in "bdfgklmnprstvz" for b in ("aro", "eni", "ilo", "ona", "umi")]


def write(name, n, words=60):
    rng = keyed_rng("disclosure", name)
    return [" ".join(rng.choice(WORDS, words)) for _ in range(n)]


READ, HELD_OUT, HONEST = (write(name, 30) for name in ("read", "held out", "honest"))


def score(metric, rows):
    return float(MEASURES[metric].aggregate(np.nansum(rows, axis=0)))


def test_a_copier_is_caught_and_an_honest_writer_is_not():
    copier = [f"{text[:200]} {own[:200]}" for text, own in zip(READ, HONEST, strict=True)]
    assert score(COPIED, count_copied(copier, READ, HELD_OUT)) > 0.4
    assert abs(score(COPIED, count_copied(HONEST, READ, HELD_OUT))) < 0.02
    assert score(COPIED, count_copied(HELD_OUT, READ, HELD_OUT)) < -0.9


def test_runs_are_words_without_case_and_punctuation():
    rows = count_copied(["The cat, sat down.", "Two words"], ["THE CAT SAT"], ["cat sat down"])
    assert rows[0].tolist() == [1, 1, 2] and np.isnan(rows[1]).all()


def test_names_that_come_back_are_caught_and_names_of_others_are_the_control():
    originals = [["Okafor", "the"], ["Lund", "Lund"], ["Okafor", "Berg"]]
    rows = count_names([["Okafor", "of"], ["Smith", "lund."], ["x", "y"]], originals)
    assert rows[:2].tolist() == [[1, 1, 0, 1], [1, 1, 0, 2]]
    assert score(NAMES, rows) == 1.0
    everyone = [["Okafor", "Lund", "Berg"]] * 3
    assert score(NAMES, count_names(everyone, originals)) == 0.0
    assert np.isnan(count_names([["a"]], [["the"]])).all()


def test_the_mean_of_the_values_of_pairs_is_the_auc():
    rng = np.random.default_rng(0)
    members, control = rng.normal(0, 1, 40), rng.normal(0.8, 1, 40)
    auc = np.mean([[(a < b) + (a == b) / 2 for b in control] for a in members])
    values = place_losses(members, control)
    assert values.shape == (40,) and values.mean() == pytest.approx(auc)
    assert score(MEMBERSHIP, np.column_stack([values, np.ones(40)])) == pytest.approx(auc)
    assert place_losses(members, members).mean() == pytest.approx(0.5)


def test_the_interval_of_the_auc_covers_the_truth_as_often_as_it_says():
    rng, caught = np.random.default_rng(1), []
    for _ in range(400):
        values = place_losses(*rng.normal(0, 1, (2, 60)))
        reach = 1.96 * values.std(ddof=1) / 60**0.5
        caught.append(abs(values.mean() - 0.5) < reach)
    assert 0.91 < np.mean(caught) < 0.98
