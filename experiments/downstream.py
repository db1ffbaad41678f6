"""Train a task model on generated text and test it on real text."""

from mlm_vs_clm import entry, recipes


@entry.command
def main(job: entry.Job) -> None:
    job.make(recipes.downstream(job.config))


if __name__ == "__main__":
    main()
