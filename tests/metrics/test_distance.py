"""MMD and the two-sample test: by their definitions, on sets whose distance is known, and with honest intervals."""

import numpy as np
import pytest
from scored_texts import write_pairs

from mlm_vs_clm.metrics.distance import count_recognised, make_c2st, make_mmd, pool_states, split_discrepancy
from mlm_vs_clm.stats import ratio_of_sums


def draw_pairs(n=40, shift=0.0, seed=0):
    """Return n states and those of their originals, which share half of their variance; apart by `shift`."""
    first, second, shared = np.random.default_rng(seed).normal(size=(3, n, 4))
    return first + shared + shift, second + shared


def test_mmd_is_the_sum_over_pairs_of_documents():
    generated, originals = draw_pairs(7, shift=1)
    between = [np.linalg.norm(originals[i] - originals[j]) for i in range(7) for j in range(i)]

    def kernel(one, other):
        return np.exp(-np.sum((one - other) ** 2) / (2 * np.median(between) ** 2))

    x, y = generated, originals
    terms = [
        kernel(x[i], x[j]) + kernel(y[i], y[j]) - kernel(x[i], y[j]) - kernel(x[j], y[i])
        for i in range(7)
        for j in range(7)
        if i != j
    ]
    assert split_discrepancy(x, y)[:, 0].mean() == pytest.approx(np.mean(terms))


def test_mmd_is_unbiased_and_its_rows_vary_as_it_does():
    same = [split_discrepancy(*draw_pairs(seed=seed))[:, 0].mean() for seed in range(200)]
    assert abs(np.mean(same)) < 3 * np.std(same) / np.sqrt(200)
    apart = [split_discrepancy(*draw_pairs(shift=1, seed=seed))[:, 0] for seed in range(200)]
    errors = [rows.std(ddof=1) / np.sqrt(len(rows)) for rows in apart]
    assert np.mean(apart) > 0.1
    assert np.mean(errors) == pytest.approx(np.std([rows.mean() for rows in apart]), rel=0.2)


def test_a_classifier_tells_sets_apart_by_as_much_as_they_differ():
    def recognise(shift):
        counts = (count_recognised(*draw_pairs(100, shift, seed)) for seed in (0, 1, 2))
        return np.mean([ratio_of_sums(of_seed.sum(axis=0)) for of_seed in counts])

    accuracy = [*map(recognise, (0, 0.5, 3))]
    assert accuracy[0] == pytest.approx(0.5, abs=0.08)
    assert accuracy[0] + 0.1 < accuracy[1] < accuracy[2] and accuracy[2] > 0.95


def test_originals_are_no_way_from_themselves():
    _, originals = draw_pairs(20)
    assert split_discrepancy(originals, originals)[:, 0] == pytest.approx(0, abs=1e-12)
    assert ratio_of_sums(count_recognised(originals, originals).sum(axis=0)) == 0.5


@pytest.mark.parametrize("make", [make_mmd, make_c2st])
def test_a_text_without_words_is_left_out_and_few_texts_have_no_distance(make, encoder):
    (texts, originals), metric = write_pairs(12), make(encoder)
    rows = metric.statistics(["", *texts], ["a dose", *originals])
    assert np.isnan(rows[0]).all()
    np.testing.assert_allclose(rows[1:], metric.statistics(texts, originals))
    assert np.isnan(metric.statistics(texts[:2], originals[:2])).all()
    assert "encoder:tiny" in metric.signature()


def test_a_state_is_the_mean_over_tokens(encoder):
    vectors, _ = encoder.embed({"a dose of aspirin"})["a dose of aspirin"]
    state = pool_states(encoder, ("a dose of aspirin", ""))
    assert state[0] == pytest.approx(vectors[1:-1].numpy().mean(axis=0), abs=1e-6)
    assert np.isnan(state[1]).all()
