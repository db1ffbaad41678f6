"""The blocks of README and docs are made from the outcomes in the tables."""

import pandas as pd
import pytest
from fake_tables import tidy_fakes

from mlm_vs_clm.report import blocks

VERDICTS = {
    "first": ("made", "first", "inside the margin"),
    "second": ("made", "second", "outside"),
    "equal": ("made", "none shown", "inside the margin"),
    "not competent": ("not competent", "", ""),
    "not run": ("not run", "", ""),
}
VERDICTS = {
    name: dict(zip(("status", "direction", "size"), one, strict=True)) for name, one in VERDICTS.items()
}


def make_answers(*outcomes):
    """Return answers to claim C1: one corpus an outcome under "known length", and one row of "no leak"."""
    row = {
        "claim": "C1",
        **{"kind": "difference", "first_arm": "mlm", "second_arm": "clm"},
        **{"metric": "bleu", "scope": "document", "effect": float("nan")},
        **{"runs": 1, "unsure": False, "excluded": "", "needs": "both arms"},
    }
    rows = [
        row | {"condition": "known length", "corpus": f"corpus {i}"} | VERDICTS[outcome]
        for i, outcome in enumerate(outcomes)
    ]
    rows.append(rows[0] | {"metric": "exact_match"} | VERDICTS["equal"])
    more = {"condition": "no leak", "corpus": "corpus 0", "unsure": True} | VERDICTS["not run"]
    return pd.DataFrame([*rows, row | more])


@pytest.mark.parametrize(
    ("outcomes", "row", "entry"),
    [
        (["not run", "not run"], "not run | not run |", "**not run**, needs both arms |"),
        (
            ["not competent", "second", "second"],
            "undecided (arm not competent) | clm ahead, outside the margin | clm ahead, outside the margin |",
            "**clm ahead, outside the margin** *known length* (2 of 3); **undecided (arm not competent)** *known length* (1 of 3); **not run** *no leak*† |",
        ),
        (
            ["first"],
            "mlm ahead, inside the margin |",
            "**mlm ahead, inside the margin** *known length*; **not run** *no leak*† |",
        ),
    ],
)
def test_answer_and_claims_are_told_by_their_outcomes(outcomes, row, entry):
    tables = tidy_fakes() | {"answers": make_answers(*outcomes)}
    tables["sentences"] = pd.DataFrame(
        [("C1", "S.", "over 5 runs", "Known length, x: y.")],
        columns=["claim", "statement", "sure", "sentence"],
    )
    text, _, header, _, *rows, _, along, training, cost = blocks.describe_answer(tables).splitlines()
    assert along.startswith(
        "- **Along the training**, mlm minus clm in BLEU. At equal tokens seen, from budget "
    )
    assert text.startswith("**Is the text better?** First arm minus second, over 5 runs, ")
    assert header.startswith("| condition | difference | measure | corpus 0 |")
    assert any(line.startswith("| known length |") and line.endswith(row) for line in rows)
    assert training.startswith("- **As training data**") and cost.startswith(
        "- **Does it cost more?** **not run**. "
    )
    assert blocks.tabulate_claims(tables).splitlines()[2] == f"| C1 S. | {entry}"


def test_competence_is_told_arm_by_arm_and_what_was_not_run_is_not_guessed():
    cell = {"arm": "mlm", "corpus": "plots", "strategy": "random", "ratio": 0.5, "metric": "exact_match"}
    cell |= {
        "word_class": "all",
        "value": 0.2,
        "floor": "bigram_both",
        "floor_value": 0.1,
        "outcome": "competent",
    }
    content = cell | {"word_class": "content", "outcome": "not competent"}
    others = [
        cell | {"arm": "clm", "corpus": "speeches"},
        cell | {"arm": "bigram_both"},
        cell | {"ratio": 1.0},
    ]
    tables = tidy_fakes() | {"competence": pd.DataFrame([cell, content, *others])}
    assert blocks.tabulate_competence(tables).splitlines() == [
        "| arm | plots | speeches |",
        "| --- | --- | --- |",
        "| mlm | 0.200 against 0.100 (bigram_both): **competent**; content words: not competent | not run |",
        "| clm | not run | 0.200 against 0.100 (bigram_both): **competent** |",
    ]
