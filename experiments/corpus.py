"""Read, cut, split and describe a corpus."""

from mlm_vs_clm import entry, recipes


@entry.command
def main(job: entry.Job) -> None:
    job.make(recipes.corpus(job.config))


if __name__ == "__main__":
    main()
