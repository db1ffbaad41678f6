"""Train a model with one objective."""

from mlm_vs_clm import entry, recipes


@entry.command
def main(job: entry.Job) -> None:
    job.make(recipes.pretrain(job.config))


if __name__ == "__main__":
    main()
