"""METEOR (nltk with WordNet), per document and its mean."""

import hashlib
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from ..errors import StudyError
from .metric import PRE_SPLIT, Metric, mean_statistics

N_REMEMBERED = 1 << 16


def make_meteor(wordnet: Path) -> Metric:
    """Return METEOR, 0-1, with the WordNet files of a folder that ends in `corpora/wordnet`.

    Even a perfect text scores below 1 (nltk's penalty counts one chunk): 0.5 for a single word.
    """
    return Metric(partial(score_documents, wordnet), partial(_signature, wordnet))


@lru_cache
def _signature(wordnet: Path) -> str:
    """Name the nltk version and the WordNet files, since both change the values."""
    settings = f"METEOR|{PRE_SPLIT}|mean|alpha:0.9|beta:3|gamma:0.5|nltk:{version('nltk')}"
    return f"{settings}|wordnet-sha256:{hash_wordnet(wordnet)}|scale:0-1"


def score_documents(wordnet: Path, candidates: list[str], references: list[str]) -> np.ndarray:
    """Return rows (score, 1); 0 for an empty candidate, NaN for an empty reference. StudyError: no WordNet."""
    from nltk.translate.meteor_score import meteor_score

    stemmer, synonyms = _make_stemmer(), read_wordnet(wordnet)
    return mean_statistics(
        meteor_score([reference.split()], candidate.split(), stemmer=stemmer, wordnet=synonyms)
        if reference
        else np.nan
        for candidate, reference in zip(candidates, references, strict=True)
    )


@lru_cache(maxsize=1)
def _make_stemmer() -> SimpleNamespace:
    """Return Porter's stemmer, which computes each stem once."""
    from nltk.stem.porter import PorterStemmer

    return SimpleNamespace(stem=lru_cache(maxsize=N_REMEMBERED)(PorterStemmer().stem))


class Synonyms:
    """WordNet as nltk's METEOR asks for it, each word looked up once.

    The synonyms of all senses of a word are returned as one sense, as METEOR takes their union anyway.
    """

    def __init__(self, reader):
        self.reader = reader
        self.synsets = lru_cache(maxsize=N_REMEMBERED)(self._look_up)

    def _look_up(self, word: str) -> list[SimpleNamespace]:
        lemmas = (lemma for synset in self.reader.synsets(word) for lemma in synset.lemmas())
        names = sorted({lemma.name() for lemma in lemmas if "_" not in lemma.name()})
        synonyms = [SimpleNamespace(name=partial(str, name)) for name in names]
        return [SimpleNamespace(lemmas=lambda: synonyms)]


@lru_cache
def read_wordnet(wordnet: Path) -> Synonyms:
    """Read WordNet once per process. StudyError if the folder does not hold it or may not be read."""
    import nltk

    reader = _reader_class()
    folder = Path(wordnet).resolve()
    if str(folder.parent.parent) not in nltk.data.path:
        nltk.data.path.insert(0, str(folder.parent.parent))
    try:
        return Synonyms(reader(str(folder), None))
    except (OSError, ValueError, AssertionError) as error:
        raise StudyError(
            f"WordNet cannot be read from {wordnet} ({type(error).__name__}): run `make data`, "
            "and make that folder writable by its owner only"
        ) from error


def _reader_class():
    import warnings

    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class English(WordNetCorpusReader):
        """WordNet without its maps to other languages, which cost half of the loading time."""

        def __init__(self, *args):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                super().__init__(*args)

        def map_wn(self, version="wordnet"):
            return None

    return English


@lru_cache
def hash_wordnet(wordnet: Path) -> str:
    """Return the first 12 hex digits of the sha256 of the files, in name order, read once per process.

    StudyError if there are none.
    """
    paths = [path for pattern in ("*.exc", "data.*", "index.*") for path in sorted(wordnet.glob(pattern))]
    if not paths:
        raise StudyError(f"WordNet is not in {wordnet}: run `make data`")
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]
