"""Train a task model on generated text and test it on real text."""

from mlm_vs_clm.pipeline import command, recipes


@command.command
def main(job: command.Job) -> None:
    job.make(recipes.downstream(job.config))


if __name__ == "__main__":
    main()
