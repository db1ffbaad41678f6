"""Choose which words are blanks."""

from mlm_vs_clm.pipeline import command, recipes


@command.command
def main(job: command.Job) -> None:
    job.make(recipes.corrupt(job.config))


if __name__ == "__main__":
    main()
