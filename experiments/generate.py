"""Let an arm fill the blanks."""

from mlm_vs_clm.pipeline import command, recipes


@command.command
def main(job: command.Job) -> None:
    job.make(recipes.generate(job.config))


if __name__ == "__main__":
    main()
