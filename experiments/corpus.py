"""Read, cut, split and describe a corpus; with check=true, tell all that is wrong with one and store nothing."""

from mlm_vs_clm.corpora import SOURCES
from mlm_vs_clm.pipeline import command, recipes


@command.command
def main(job: command.Job) -> None:
    if job.config.check:
        named = job.config.corpus.name not in SOURCES
        recipes.check_corpus(job.config if named else job.choose(corpus="own"))
    else:
        job.make(recipes.corpus(job.config))


if __name__ == "__main__":
    main()
