"""What generation costs, and what it is good for."""

import pandas as pd
from fake_tables import tidy_fakes

from mlm_vs_clm.report.cost import cost_table
from mlm_vs_clm.report.style import Study
from mlm_vs_clm.report.training import training_table
from mlm_vs_clm.report.utility import downstream_tables, pair_cells, reference_table

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


def test_quality_is_of_the_draws_that_a_task_model_learned_from():
    tables = tidy_fakes()
    cells = pair_cells(tables["scores"], tables["downstream"])
    other = tables["scores"].assign(seed=99, value=0.0)
    assert len(cells) and pair_cells(pd.concat([tables["scores"], other]), tables["downstream"]).equals(cells)
