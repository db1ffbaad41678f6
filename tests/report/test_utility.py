"""What generation costs, and what it is good for."""

from fake_tables import tidy_fakes

from mlm_vs_clm.report.cost import cost_table
from mlm_vs_clm.report.style import Study
from mlm_vs_clm.report.training import training_table
from mlm_vs_clm.report.utility import downstream_tables, headline_table, reference_table

STUDY = Study("smoke", ("random", 0.5))


def as_words(table, number):
    return {name: entry.text for name, entry in zip(table.header, table.rows[number], strict=True)}


def test_costs_are_means_per_document_beside_what_was_counted_in_all():
    (table,) = cost_table(tidy_fakes()["ledger"], STUDY)
    row = as_words(table, 0)
    assert (row["arm"], row["order"], row["passes"], row["token-forwards"]) == (
        "mlm",
        "random",
        "42.7",
        "8,192",
    )
    assert (row["GFLOPs"], row["documents"], row["peak memory (MB)"]) == ("258", "150", "900")
    assert (row["device"], row["precision"]) == ("cpu", "float32")


def test_references_have_no_masking_and_no_copying_to_audit():
    (table,) = downstream_tables(tidy_fakes()["downstream"], STUDY)
    first, arm = as_words(table, 0), as_words(table, 1)
    assert (first["trained on"], first["strategy"], first["ratio"]) == ("real (upper reference)", "–", "–")
    assert first["share of the original kept"] == "–" and first["precision"] == "missing"
    assert (arm["trained on"], arm["strategy"], arm["ratio"]) == ("mlm", "random", "0.5")
    (references,) = reference_table(tidy_fakes()["downstream"], STUDY)
    assert as_words(references, 0)["majority (lower reference)"] == "0.300 [0.270, 0.330]"


def test_a_language_model_is_shown_at_its_last_step():
    (table,) = training_table(tidy_fakes()["training"], STUDY)
    corpora = ["abstracts", "plots", "speeches"]
    assert [row[0].text for row in table.rows] == [
        name for name in ("mlm", "clm", "seq2seq") for _ in corpora
    ]
    assert [row[3].text for row in table.rows] == 3 * corpora
    assert as_words(table, 0)["step"] == "100"
    assert table.command == "python experiments/pretrain.py -m scale=smoke objective=clm,mlm,seq2seq"


def test_the_headline_holds_every_arm_of_every_corpus_but_the_oracle():
    tables = tidy_fakes(("plots", "abstracts"))
    table = headline_table(tables, STUDY)
    arms = [(row[0].text, row[1].text) for row in table.rows]
    assert arms[:2] == [("abstracts", "mlm"), ("abstracts", "mlm_leaky")] and len(arms) == 2 * (8 + 3)
    assert "F1 on abstracts, micro-F1 on plots" in table.caption
    real = as_words(table, arms.index(("plots", "real (upper reference)")))
    assert real["BLEU, whole document"] == "–" and real["utility"] == "0.740 [0.710, 0.770]"
    assert not headline_table({name: rows.iloc[:0] for name, rows in tables.items()}, STUDY).rows
