"""Names are nouns of the field: pronouns and participles that say nothing are counted."""

import ast

from mlm_vs_clm.files import ROOT

VAGUE = {
    *("one", "ones", "part", "parts", "found", "told", "asked", "known", "made", "each", "other", "others", "own", "shown"),
    *("wanted", "given", "kept", "taken", "some", "these", "those", "it", "this", "that", "thing", "things", "what", "same"),
    *("more", "rest", "both", "either"),
}  # fmt: skip
MOST = 10  # in 1,000


def bound_names(source):
    """Return every name that a source binds: variables, arguments, functions and classes."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def test_at_most_ten_names_in_a_thousand_are_pronouns():
    names = [name for path in (ROOT / "src").rglob("*.py") for name in bound_names(path.read_text())]
    vague = [name for name in names if name in VAGUE]
    assert len(names) > 10_000 and 1000 * len(vague) / len(names) <= MOST, sorted({*vague})


def test_the_count_sees_each_kind_of_name():
    source = (
        "def told(one, *, kept=1):\n    found = [each for each in one]\n    return found\nclass Rest: ..."
    )
    assert [*bound_names(source)] == ["told", "Rest", "one", "kept", "found", "each"]
