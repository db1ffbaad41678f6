"""Make every cell of a scale, and from them everything that a person reads."""

from mlm_vs_clm.pipeline import command, recipes, study


@command.command
def main(job: command.Job) -> None:
    from mlm_vs_clm.pipeline.publish import name_folder, publish  # loads the report

    cells = study.make_all(job.store, job.config, job.choose)
    shown = study.shown_corpora(job.config, job.choose)
    report = recipes.report(job.config, cells, shown, job.rules)
    publish(job.make(report), job.config.results, name_folder(job.config.scale.name, job.config.track.name))


if __name__ == "__main__":
    main()
