"""What makes the code readable and can be counted: names that are nouns of the field, short modules, few arguments."""

import ast

import pytest

from mlm_vs_clm.files import ROOT

VAGUE = {
    *("one", "ones", "part", "parts", "found", "told", "asked", "known", "made", "each", "other", "others", "own", "shown"),
    *("wanted", "given", "kept", "taken", "some", "these", "those", "it", "this", "that", "thing", "things", "what", "same"),
    *("more", "rest", "both", "either"),
}  # fmt: skip
MOST = 10  # in 1,000
MOST_LINES, MOST_ARGUMENTS = 300, 6
# What a caller of the library sees, and what transformers and torch call.
PUBLIC = {
    *(
        "fill",
        "score",
        "audit",
        "augment",
        "measure_likelihood",
        "Filler.__init__",
        "InfillAugmenter.__init__",
    ),
    *(f"fill_{way}" for way in ("causal", "infill", "lookahead", "masked", "product", "seq2seq")),
    *("attend", "Recomputed.forward"),
}
SOURCES = sorted((ROOT / "src").rglob("*.py"))


@pytest.fixture(scope="module")
def trees():
    return [ast.parse(path.read_text()) for path in SOURCES]


def bound_names(tree):
    """Return every name that a source binds: variables, arguments, functions and classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def test_at_most_ten_names_in_a_thousand_are_pronouns(trees):
    names = [name for tree in trees for name in bound_names(tree)]
    vague = [name for name in names if name in VAGUE]
    assert len(names) > 10_000 and 1000 * len(vague) / len(names) <= MOST, sorted({*vague})


def test_the_count_sees_each_kind_of_name():
    source = (
        "def told(one, *, kept=1):\n    found = [each for each in one]\n    return found\nclass Rest: ..."
    )
    assert [*bound_names(ast.parse(source))] == ["told", "Rest", "one", "kept", "found", "each"]


def count_arguments(tree):
    """Return how many arguments each function takes, by its name and that of its class, `self` not counted."""
    counts = {}
    for owner in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
        prefix = "" if owner is tree else f"{owner.name}."
        for node in owner.body:
            if isinstance(node, ast.FunctionDef):
                names = [
                    argument.arg
                    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                ]
                counts[prefix + node.name] = len(names) - (names[:1] in (["self"], ["cls"]))
    return counts


def test_no_module_is_longer_than_three_hundred_lines():
    assert [path.name for path in SOURCES if len(path.read_text().splitlines()) > MOST_LINES] == []


def test_no_function_of_ours_takes_more_than_six_arguments(trees):
    counts = [count for tree in trees for count in count_arguments(tree).items()]
    assert {name for name, n in counts if n > MOST_ARGUMENTS} <= PUBLIC
    source = "class A:\n    def f(self, a, *, b): ...\ndef g(): ..."
    assert count_arguments(ast.parse(source)) == {"g": 0, "A.f": 2}
