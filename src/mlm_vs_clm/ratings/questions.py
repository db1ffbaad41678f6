"""What raters are asked: each question, and what its answers from lowest to highest mean."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A question on a 5-point scale; `anchors` say what 1 to 5 mean.

    One asked `beside_original` follows when all texts have been rated without their originals.
    """

    title: str
    text: str
    anchors: tuple[str, str, str, str, str]
    beside_original: bool = False


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
    "consistency": Question(
        "Factual consistency",
        "Does the text state the facts of the original: who, what, when, how many? Judge the facts, not the words.",
        (
            "Hardly any fact is that of the original",
            "Many facts are missing or others",
            "Several facts are missing or others",
            "One or two small facts are missing or others",
            "All facts are those of the original",
        ),
        beside_original=True,
    ),
    "relevance": Question(
        "Relevance",
        "Is the text about what the original is about, whether or not its facts are right?",
        (
            "About something else",
            "The topic shows, the rest is beside the point",
            "About the topic, with several passages beside the point",
            "About the topic, with a passage or two beside the point",
            "About the topic throughout",
        ),
        beside_original=True,
    ),
}


def list_parts(has_originals: bool) -> list[list[str]]:
    """Return the names of the questions of each part of a sheet: without the originals, then beside them."""
    pages = [
        [name for name, question in QUESTIONS.items() if question.beside_original == beside]
        for beside in (False, True)
    ]
    return pages if has_originals else pages[:1]
