"""Which column of a BIO file holds the tokens: the first that neither counts nor names kinds of words."""

import re

from ...errors import StudyError
from .base import MOSTLY, Columns

TAG = re.compile(r"O|[BIESLU]-\S+")
RANGE = re.compile(r"\d+[-.]\d+")  # CoNLL-U: a word of several tokens, or a node without text
# Parts of speech of Universal Dependencies, of the Penn Treebank and of STTS (German).
KINDS = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X "
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP TO UH VB VBD VBG VBN VBP VBZ "
    "WDT WP WP$ WRB . , : ( ) \" '' `` # $ -LRB- -RRB- HYPH NFP ADD AFX XX "
    "ADJA ADJD APPR APPRART APPO APZR ART CARD FM ITJ KOUI KOUS KON KOKOM NE PDS PDAT PIS PIAT PIDAT PPER PPOSS PPOSAT PRELS "
    "PRELAT PRF PWS PWAT PWAV PAV PROAV PTKZU PTKNEG PTKVZ PTKANT PTKA TRUNC VVFIN VVIMP VVINF VVIZU VVPP VAFIN VAIMP VAINF "
    "VAPP VMFIN VMINF VMPP XY $, $. $(".split()
)
OTHER_TAGS = "tags of an earlier column (not used; corpus.columns.entities=<its number> chooses it)"
SETTING = "corpus.columns.text=<its number, from 1>"
Cells = list[str]
Column = list[list[str]]  # the cells of one column, by sentence


def given_columns(columns: Columns) -> dict[str, int]:
    """Return the places (from 0) of the columns of tokens and of tags that the settings name; StudyError for a bad one."""
    for name, number in columns.items():
        if name not in ("text", "entities"):
            raise StudyError(
                f"corpus.columns: a file of tokens and tags has no names of columns but {SETTING}, and entities for the tags'"
            )
        if not re.fullmatch(r"[1-9]\d{0,2}", number):
            raise StudyError(
                f"corpus.columns.{name}={number}: columns of tokens and tags are named by number, from 1: {SETTING}"
            )
    return {name: int(number) - 1 for name, number in columns.items()}


def count_other_tags(sentences: list[list[Cells]]) -> int:
    """Return how many tags that begin an entity stand in columns before the last."""
    width = max((len(cells) for sentence in sentences for cells in sentence), default=0)
    columns = [_flatten(_take(sentences, place)) for place in range(width - 1)]
    of_tags = [cells for cells in columns if cells and all(map(TAG.fullmatch, cells))]
    return sum(cell[0] in "BSU" and len(cell) > 1 for cells in of_tags for cell in cells)


def find_column(sentences: list[list[Cells]], where: str) -> int:
    """Return the place (from 0) of the tokens in lines of cells with the tag last; StudyError where none can be theirs.

    A column of numbers, or one that counts the tokens, is never theirs; one with the same cell all along each
    sentence, or with parts of speech alone, only where none was ruled out. Names of kinds that are not known are those
    without a small letter, where another column has small letters and more different cells.
    """
    width = max((len(cells) for sentence in sentences for cells in sentence), default=0)
    columns = {place: _take(sentences, place) for place in range(width - 1)}
    left = {place: column for place, column in columns.items() if not _counts(column)}
    texts = [place for place, column in left.items() if not (_is_constant(column) or _names_kinds(column))]
    if not texts and len(left) < len(columns):
        raise StudyError(
            f"{where}: each column but the last counts, holds numbers or names kinds: name the tokens' ({SETTING})"
        )
    varied = [place for place in texts if not any(_is_tag_of(left[place], left[other]) for other in texts)]
    return next(iter(varied or texts or left), 0)


def holds_ranges(sentences: list[list[Cells]], column: int) -> bool:
    """Return whether the tokens are counted in the first column, so that a range there is no token (CoNLL-U)."""
    first = [cell for cell in _flatten(_take(sentences, 0)) if not RANGE.fullmatch(cell)]
    return column > 0 and sum(cell.isdecimal() for cell in first) >= MOSTLY * len(first) > 0


def _take(sentences: list[list[Cells]], place: int) -> Column:
    """Return a column as far as lines have it beside their tag."""
    by_sentence = ([cells[place] for cells in sentence if len(cells) > place + 1] for sentence in sentences)
    return [cells for cells in by_sentence if cells]


def _flatten(column: Column) -> list[str]:
    return [cell for sentence in column for cell in sentence]


def _counts(column: Column) -> bool:
    cells = _flatten(column)
    n_numbers = sum(any(map(str.isdecimal, cell)) for cell in cells)
    return n_numbers >= MOSTLY * len(cells)


def _is_constant(column: Column) -> bool:
    longer = [cells for cells in column if len(cells) > 1]
    if not longer:
        return False
    # One cell along each sentence, or one in its first line and then an empty sign, as tables of other tools have it.
    is_sparse = (
        all(len(set(cells[1:])) == 1 for cells in longer) and len({cells[-1] for cells in longer}) == 1
    )
    return is_sparse and max(map(len, longer)) > 2 or all(len(set(cells)) == 1 for cells in longer)


def _names_kinds(column: Column) -> bool:
    """Return whether all cells are known parts of speech, or tags of another kind."""
    return all(cell in KINDS or TAG.fullmatch(cell) for cell in _flatten(column))


def _is_tag_of(column: Column, other: Column) -> bool:
    """Return whether a column is of ASCII without a small letter, and the other has some and more different cells."""
    cells, words = {*_flatten(column)}, {*_flatten(other)}
    is_named = all(cell.isascii() and not _has_small(cell) for cell in cells)
    return is_named and len(cells) < len(words) and any(map(_has_small, words))


def _has_small(cell: str) -> bool:
    return any(map(str.islower, cell))
