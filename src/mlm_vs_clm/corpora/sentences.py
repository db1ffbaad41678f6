"""Where sentences begin, by one small rule for abstracts, plots and speeches."""

import re

END = re.compile(r"[.!?]+[\"'”’)\]]*\s+(?=[\"'“‘(\[`]*[A-Z0-9À-ÖØ-Þ])|\s*\n\s*\n\s*")
ACRONYM = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
ABBREVIATIONS = frozenset(
    "mr mrs ms dr st jr sr prof rev hon gov gen sen rep lt col capt sgt maj adm cmdr supt messrs pres "
    "vs al etc cf ca approx dept inc ltd co corp mt ft ave blvd spp".split()
)
BEFORE_NUMBERS = frozenset(
    "no nos fig figs tab eq p pp vol ch sec ref refs res h.r jan feb mar apr aug sept oct nov dec".split()
)


def find_sentence_starts(text: str) -> list[int]:
    """Return the character offsets at which sentences after the first begin.

    A sentence ends at . ! or ? before white space and a capital or digit, or at a blank line; not after a
    title or abbreviation, an initial or acronym ("John F. Kennedy", "U.S. Army"), nor in "No. 5".
    """
    return [end.end() for end in END.finditer(text) if not _is_abbreviation(text, end)]


def _is_abbreviation(text: str, end: re.Match) -> bool:
    if text[end.start()] != "." or text[end.start() + 1] in ".!?":
        return False
    token = text[max(text.rfind(" ", 0, end.start()), text.rfind("\n", 0, end.start())) + 1 : end.start()]
    token = token.lstrip("([\"'“‘`").lower()
    if token in BEFORE_NUMBERS and text[end.end()].isdigit():
        return True
    return token in ABBREVIATIONS or bool(ACRONYM.fullmatch(token))
