"""Make every cell of a scale, and from them everything that a person reads."""

from mlm_vs_clm.pipeline import command, recipes, study


@command.command
def main(job: command.Job) -> None:
    # This loads the report.
    from mlm_vs_clm.pipeline.publish import check_panels, check_writable, publish
    from mlm_vs_clm.report.blocks import name_results

    folder = name_results(job.config.scale.name, job.config.track.name)
    check_writable(job.config.results, folder, job.overrides, job.config.corpus.path)
    check_panels(job.config.track.panels)
    cells = study.make_all(job.store, job.config, job.choose)
    shown = study.shown_corpora(job.config, job.choose)
    report = recipes.report(job.config, cells, shown, job.rules)
    publish(job.make(report), job.config.results, folder)


if __name__ == "__main__":
    main()
