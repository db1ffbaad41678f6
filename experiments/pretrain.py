"""Train a model with one objective."""

from mlm_vs_clm.pipeline import command, recipes


@command.command
def main(job: command.Job) -> None:
    job.make(recipes.pretrain(job.config))


if __name__ == "__main__":
    main()
