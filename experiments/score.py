"""Score what an arm wrote against the original."""

from mlm_vs_clm.pipeline import command, recipes


@command.command
def main(job: command.Job) -> None:
    job.make(recipes.score(job.config))


if __name__ == "__main__":
    main()
