"""Score what an arm wrote against the original."""

from mlm_vs_clm import entry, recipes


@entry.command
def main(job: entry.Job) -> None:
    job.make(recipes.score(job.config))


if __name__ == "__main__":
    main()
