"""The scripts of a corpus, how its words are found, and what of the scoring is for English alone."""

import math
from collections import Counter
from collections.abc import Iterable
from itertools import chain, islice

import regex

from blankfill.text import BY_CHARACTER

from ..documents import LEAST_STOPWORDS, measure_stopwords

SPACED = tuple(
    "Latin Cyrillic Greek Arabic Hebrew Devanagari Bengali Tamil Telugu Gujarati Gurmukhi Kannada Malayalam Oriya Sinhala "
    "Hangul Armenian Georgian Ethiopic Tibetan Mongolian Syriac Thaana Cherokee Bopomofo".split()
)
# Written without spaces too, where the study has no rule: a whole clause counts as one word.
WITHOUT_RULE = tuple("Javanese Balinese Tai_Le New_Tai_Lue Tai_Tham Tai_Viet Yi Nushu Tangut".split())
SCRIPT_OF = {
    name: regex.compile(rf"\p{{Script={name}}}")
    for name in (*SPACED[:6], *BY_CHARACTER, *SPACED[6:], *WITHOUT_RULE)
}
N_READ = 1000  # documents in which stopwords are counted
LEAST_SHOWN = 0.001  # of the letters
ENGLISH_ONLY = (
    "the stopwords of masking, exact match and shares by class; METEOR's stemmer and synonyms; nonword_rate's WordNet; "
    "grammar_errors; and, unless others are chosen, the encoder of BERTScore, MMD and C2ST and the model of "
    "perplexity_unrelated. scores.csv says where an encoder does not know the texts"
)


def describe_language(texts: Iterable[str]) -> dict:
    """Return the share of letters by script (the largest first), and of English stopwords among the words (0-1)."""
    texts = list(texts)
    stopwords = measure_stopwords(islice(texts, N_READ))
    return {
        "scripts": list_scripts(texts),
        "stopwords": None if math.isnan(stopwords) else round(stopwords, 4),
    }


def list_scripts(texts: Iterable[str]) -> dict[str, float]:
    """Return the share (0-1) of the letters of texts that are of each script, the largest first; marks do not count."""
    counts: Counter[str] = Counter()
    for letter, n in Counter(chain.from_iterable(texts)).items():
        if letter.isalpha():
            counts[find_script(letter)] += n
    return {name: round(n / counts.total(), 4) for name, n in counts.most_common()}


def find_script(letter: str) -> str:
    """Return the name of a letter's script in the Unicode standard, or "other"."""
    return next((name for name, letters in SCRIPT_OF.items() if letters.match(letter)), "other")


def language_lines(language: dict) -> list[str]:
    """Return the lines of a data card on script, words and what is for English alone."""
    scripts = {name: share for name, share in language["scripts"].items() if share >= LEAST_SHOWN}
    shares = ", ".join(f"{name} {share:.1%}" for name, share in scripts.items()) or "no letters"
    lines = [f"- **Script** (share of letters): {shares}", f"- **Words**: {_rule_of(scripts)}"]
    lines.append(f"- **For English only**: {ENGLISH_ONLY}; {_say_stopwords(language['stopwords'])}")
    return lines + ([f"- **Encoder**: {language['note']}"] if language.get("note") else [])


def _rule_of(scripts: dict[str, float]) -> str:
    """Return how the words of the scripts are found."""
    single = [name for name in scripts if name in BY_CHARACTER]
    unknown = [name for name in scripts if name in WITHOUT_RULE]
    rule = "runs of letters and digits with their marks, and each symbol"
    if single:
        rule += f"; each character of {', '.join(single)}, which put no space between words"
    if unknown:
        rule += f"; the words of {', '.join(unknown)} cannot be found: a clause without a space counts as one word"
    return rule


def _say_stopwords(share: float | None) -> str:
    if share is None:
        return "this corpus has no words"
    kind = "" if share >= LEAST_STOPWORDS else ": it seems not to be English, so do not read these numbers"
    return f"{share:.1%} of this corpus's words are English stopwords{kind}"
