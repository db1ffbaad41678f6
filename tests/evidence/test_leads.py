"""What a network adds to the best table of both sides, counted by hand."""

from made_cells import make_study, matched

from mlm_vs_clm.evidence.leads import list_leads
from mlm_vs_clm.evidence.tables import tidy


def find_leads(*cells):
    return list_leads(make_study(*cells))


def test_an_arm_is_compared_with_the_better_table_whatever_it_sees():
    floors = [matched("bigram_both", [2, 3, 4]), matched("ngram_both", [4, 3, 5])]
    table = tidy("leads", find_leads(matched("clm", [4, 5, 6], context="left"), *floors))
    (row,) = table.to_dict("records")
    assert (row["arm"], row["floor"], row["floor_value"], row["n"]) == ("clm", "ngram_both", 0.4, 3)
    assert round(row["value"], 9) == 0.1 and row["low"] <= 0.1 <= row["high"]


def test_without_a_table_there_is_no_lead():
    assert find_leads(matched("mlm", [4, 5]), matched("bigram_left", [1, 2])).empty


def test_a_drawn_table_is_no_network():
    floors = [matched("bigram_both", [2, 3, 4]), matched("bigram_both_sampled", [1, 1, 2])]
    assert set(find_leads(matched("mlm", [4, 5, 6], context="both"), *floors)["arm"]) == {"mlm"}


def test_the_better_table_is_that_on_the_blanks_of_the_arm():
    """Over all seeds bigram_both is better, on the seed that the arm has ngram_both is."""
    floors = [matched("bigram_both", [2, 3, 4]), matched("bigram_both", [9, 9, 9], seed=1)]
    floors += [matched("ngram_both", [4, 3, 5]), matched("ngram_both", [1, 1, 1], seed=1)]
    (row,) = find_leads(matched("clm", [4, 5, 6], context="left"), *floors).to_dict("records")
    assert (row["floor"], row["floor_value"]) == ("ngram_both", 0.4) and round(row["value"], 9) == 0.1
