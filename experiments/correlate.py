"""Relate quality to utility over all cells of a scale."""

from mlm_vs_clm.pipeline import command, recipes, study


@command.command
def main(job: command.Job) -> None:
    cells = study.make_all(job.store, job.config, job.choose)
    job.make(recipes.correlate(job.config, cells))


if __name__ == "__main__":
    main()
