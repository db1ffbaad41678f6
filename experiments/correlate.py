"""Relate quality to utility over all cells of a scale."""

from mlm_vs_clm import entry, recipes, study


@entry.command
def main(job: entry.Job) -> None:
    cells = study.make_all(job.store, job.config, job.choose)
    job.make(recipes.correlate(job.config, cells))


if __name__ == "__main__":
    main()
