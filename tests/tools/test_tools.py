"""`python -m mlm_vs_clm <tool>`: one parser, and one line for every mistake."""

import pytest

from mlm_vs_clm.pipeline import publish
from mlm_vs_clm.tools import notebooks
from mlm_vs_clm.tools.__main__ import TOOLS, load_tool, main


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_explains_itself(tool, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([tool, "--help"])
    out = capsys.readouterr().out
    assert stopped.value.code == 0 and TOOLS[tool][1] in " ".join(out.split())
    assert callable(load_tool(tool).run)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "required: tool"),
        (["benhc"], "invalid choice: 'benhc'"),
        (["store", "lsit"], "invalid choice: 'lsit'"),
        (["store", "list", "--stroe", "x"], "unrecognized arguments: --stroe x"),
        (["store", "list", "--store", "a", "--store=b"], "--store is given twice: leave one of them out"),
        (["fill", "a", "--model=m", "--seed=1", "--model=n"], "--model is given twice"),
    ],
)
def test_a_misspelt_tool_or_argument_is_one_line(arguments, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    error = capsys.readouterr().err
    assert (
        stopped.value.code == 2 and error.startswith("error: ") and said in error and error.count("\n") == 1
    )


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("store=outputs", "store=outputs: the store is no column, give it as --store outputs"),
        ("stage=score,downstream", "stage=score,downstream: a table shows one stage"),
        ("stage=scores", "choose one of score, downstream, generate"),
        ("score", "choose by column=value"),
        ("corpus=abstracts,speeches", "give all of its values at once, as corpus=plots,abstracts,speeches"),
    ],
)
def test_a_table_that_cannot_be_chosen_is_one_line(word, said, tmp_path, capsys):
    assert main(["table", "--store", str(tmp_path), "corpus=plots", word]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and said in error and error.count("\n") == 1


@pytest.mark.parametrize("tool", ["notebooks", "page"])
def test_an_installed_package_has_neither_notebooks_nor_results(tool, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    assert main([tool]) == 1 and capsys.readouterr().err.startswith(f"error: {tmp_path}")


@pytest.mark.parametrize(
    ("error", "code"), [(OSError(28, "No space left on device"), 1), (KeyboardInterrupt(), 130)]
)
def test_a_full_disk_and_an_interrupt_are_one_line(error, code, capsys, monkeypatch):
    def fail(chosen):
        raise error

    monkeypatch.setattr(load_tool("store"), "run", fail)
    assert main(["store", "list"]) == code
    assert capsys.readouterr().err.count("\n") == 1


def test_an_error_that_nobody_foresaw_shows_where_it_came_from_and_not_its_words(capsys, monkeypatch):
    def fail(chosen):
        raise ValueError(f"the patient takes {'aspirin'!s}".upper())

    monkeypatch.setattr(load_tool("store"), "run", fail)
    assert main(["store", "list"]) == 1
    shown = capsys.readouterr().err
    assert "test_tools.py" in shown and "ValueError" in shown and "ASPIRIN" not in shown
