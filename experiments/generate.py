"""Let an arm fill the blanks."""

from mlm_vs_clm import entry, recipes


@entry.command
def main(job: entry.Job) -> None:
    job.make(recipes.generate(job.config))


if __name__ == "__main__":
    main()
