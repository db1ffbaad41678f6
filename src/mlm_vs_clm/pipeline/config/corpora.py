"""Settings of corpora: their sizes, and how they are read and cut."""

from dataclasses import dataclass, field

from omegaconf import MISSING

from blankfill.ranges import LARGEST_SEED, count


@dataclass
class ColumnsConfig:
    """The names of the columns of a user's own table; null: as here."""

    id: str | None = None
    text: str | None = None
    labels: str | None = None
    author: str | None = None
    split: str | None = None
    entities: str | None = None


@dataclass
class CorpusConfig:
    """A corpus: its name, its downstream task, and how its documents are cut; `scale.sizes` has their number.

    A user's own corpus has a path, and a reader unless the path implies it; see corpora.readers.
    """

    name: str = MISSING
    task: str = MISSING
    path: str | None = None
    reader: str | None = None
    columns: ColumnsConfig = field(default_factory=ColumnsConfig)
    skip_mistakes: bool = False
    window_words: int = count(128, 1)
    min_words: int = count(20, 1)
    gold_entities: bool | None = False
    show_examples: bool = False
    seed: int = count(0, 0, LARGEST_SEED)
