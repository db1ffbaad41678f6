"""What raters are asked: each question, and what its answers from lowest to highest mean."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A question on a 5-point scale; `anchors` say what 1 to 5 mean."""

    title: str
    text: str
    anchors: tuple[str, str, str, str, str]


POINTS = (1, 2, 3, 4, 5)
QUESTIONS = {
    "coherence": Question(
        "Coherence",
        "Do the sentences and their parts make sense together, as one text about something?",
        (
            "No sense: words without a thread",
            "Little sense: a topic shows, the rest does not follow",
            "Some sense: the thread breaks several times",
            "Mostly makes sense: a break or two",
            "Makes sense throughout",
        ),
    ),
    "grammar": Question(
        "Grammar",
        "Is the language well formed: words, endings, word order, punctuation? Judge the form, not the sense.",
        (
            "Not sentences: errors in almost every phrase",
            "Many errors: most sentences are broken",
            "Several errors: about half of the sentences are broken",
            "Few errors: small slips",
            "No errors",
        ),
    ),
}
