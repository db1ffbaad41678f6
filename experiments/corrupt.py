"""Choose which words are blanks."""

from mlm_vs_clm import entry, recipes


@entry.command
def main(job: entry.Job) -> None:
    job.make(recipes.corrupt(job.config))


if __name__ == "__main__":
    main()
