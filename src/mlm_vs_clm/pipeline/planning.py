"""How long a scale would take elsewhere, from what a finished run measured: its ledger and its training curves.

A second of the run is multiplied by three ratios: of the work (documents, passes, training tokens), of the models'
sizes (parameters that every position passes) and of the devices' speeds (FLOP/s in training). So filling is taken to
gain from a faster device as much as training does; where it gains less, it takes longer.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from hydra import compose, initialize_config_dir

from ..errors import StudyError
from ..files import explain_os_error, write_whole
from ..report import write_between_markers
from . import study
from .artifacts import Recipe
from .command import CONF, to_config
from .config import ArmConfig, Config, ModelConfig, register

ASSUMED = (
    "Filling is taken to gain from a faster device as much as training does; score and downstream, which run on the "
    "processor beside it, gain nothing."
)
ON_PROCESSOR = ("score", "downstream")


@dataclass(frozen=True)
class Run:
    """What a finished run measured: a row a generation, the last one of each training, a row a corpus and stage."""

    scale: str
    ledger: pd.DataFrame
    training: pd.DataFrame
    stages: pd.DataFrame

    @property
    def body(self) -> float:
        """Return the parameters that every position passes, from the two terms of the causal arm's FLOPs."""
        rows = self.ledger[self.ledger["arm"] == "clm"]
        counted = 2.0 * rows[["token_forwards", "tokens_filled"]].to_numpy(float)
        return float(np.linalg.lstsq(counted, rows["flops"].to_numpy(float), rcond=None)[0][0])

    @property
    def training_rate(self) -> float:
        """Return FLOP/s in training, over all models of the run."""
        seconds = self.training["tokens_seen"] / self.training["tokens_per_second"]
        return float(self.training["flops"].sum() / seconds.sum())


def read_run(results: Path) -> Run:
    """Read a results folder, `<scale>` or `<scale>-<track>`. Raises StudyError if it holds no ledger."""
    try:
        ledger, training, stages = (
            pd.read_csv(results / f"{name}.csv") for name in ("ledger", "training", "stages")
        )
    except OSError as error:
        raise StudyError(f"{explain_os_error(error, results)}: give a folder of make reproduce") from None
    return Run(
        results.name.split("-")[0], ledger, training.groupby("objective", as_index=False).last(), stages
    )


def count_body(model: ModelConfig) -> int | None:
    """Return the weights of the layers of a model drawn anew, 12 width² a layer; None for one that is fetched."""
    return 12 * model.shape["layers"] * model.shape["width"] ** 2 if model.start == "scratch" else None


def training_seconds(run: Run, objective: str, tokens: int) -> float:
    """Return the seconds of a training on the run's machine, NaN where the run trained no such model."""
    rows = run.training[run.training["objective"] == objective]
    return float(tokens / rows["tokens_per_second"].iloc[0]) if len(rows) else float("nan")


def filling_seconds(
    run: Run, corpus: str, strategy: str, ratio: float, documents: int, before: ArmConfig, arm: ArmConfig
) -> float:
    """Return the seconds of a filling on the run's machine, NaN where the run has no such cell.

    Between the ratios of the run it goes in a straight line. `before` is the arm as the run set it: where it filled
    more at a time, the passes, and so the seconds, are as many times more.
    """
    rows = run.ledger.query("corpus == @corpus and strategy == @strategy and arm == @arm.name")
    if rows.empty:
        return float("nan")
    rows = rows.groupby("ratio").first()
    seconds = rows["seconds"] / rows["documents"]
    if arm.per_pass != before.per_pass:
        steps = rows["blanks"] if arm.context == "leaky" else rows["tokens_filled"]
        seconds *= steps / arm.per_pass / rows["passes"]
    return documents * float(np.interp(ratio, rows.index, seconds))


def processor_seconds(run: Run, stage: str, corpus: str, documents: int, task_seeds: int) -> float:
    """Return the seconds of a result of `stage` by documents and task seeds, NaN where the run has none."""
    rows = run.stages.query("stage == @stage and corpus == @corpus")
    if rows.empty:
        return float("nan")
    row = rows.iloc[0]
    each = row["seconds"] / row["results"]
    return float(each * documents / row["documents"] * task_seeds / row["task_seeds"])


def jobs_of(run: Run, config: Config, choose: Callable[..., Config]) -> pd.DataFrame:
    """Return a row a result: stage, name, and its seconds on the run's machine."""
    rows: dict[str, tuple[str, str, float]] = {}
    for name, recipe in study.cells(config, choose).items():
        stage, corpus, *rest = name.split("/")
        if stage == "pretrain":
            tokens = recipe.settings["training"]["token_budget"]
            objective = recipe.settings["objective"]["name"]
            rows[recipe.id] = stage, objective, training_seconds(run, objective, tokens)
        elif stage == "score" and "model" in recipe.inputs["generation"].inputs:
            generation = recipe.inputs["generation"]
            rows[generation.id] = "generate", rest[-1], _seconds_of(run, corpus, generation, config, choose)
        if stage in ON_PROCESSOR:
            documents = config.scale.sizes[corpus].generate
            seeds = recipe.settings.get("seeds", 1)
            rows[recipe.id] = stage, rest[-1], processor_seconds(run, stage, corpus, documents, seeds)
    table = pd.DataFrame(rows.values(), columns=["stage", "name", "seconds"])
    body = count_body(config.model)
    larger = np.where(table["stage"].isin(ON_PROCESSOR) | (body is None), 1.0, (body or 0) / run.body)
    return table.assign(seconds=table["seconds"] * larger).sort_values("stage", key=_place_of, kind="stable")


def _place_of(stages: pd.Series) -> pd.Series:
    return stages.map({stage: i for i, stage in enumerate(("pretrain", "generate", *ON_PROCESSOR))})


def _seconds_of(run: Run, corpus: str, generation: Recipe, config: Config, choose) -> float:
    masking = generation.inputs["corruption"].settings
    name = generation.settings["name"]
    before, arm = choose(arm=name, scale=run.scale).arm, choose(arm=name).arm
    documents = config.scale.sizes[corpus].generate
    return filling_seconds(run, corpus, masking["strategy"], masking["ratio"], documents, before, arm)


def hours_of(seconds: pd.Series, devices: int) -> float:
    """Return hours on so many devices: no less than the longest job takes, as a job has one device."""
    return max(seconds.sum() / devices, seconds.max()) / 3600


def tell(run: Run, scale: str, jobs: pd.DataFrame, flops: float, devices: list[int]) -> str:
    """Return the plan as Markdown: what it assumes, and a row a stage."""
    speedup = flops / run.training_rate
    heads = ["stage", "results", *(f"hours, {n} device{'s' * (n > 1)}" for n in devices)]
    lines = [" | ".join(heads), " | ".join(["---", *(["---:"] * (len(heads) - 1))])]
    for stage, rows in jobs.groupby("stage", sort=False):
        known = rows["seconds"].dropna() / (1.0 if stage in ON_PROCESSOR else speedup)
        lines.append(" | ".join([stage, str(len(known)), *(f"{hours_of(known, n):.2f}" for n in devices)]))
    missing = sorted(set(jobs.loc[jobs["seconds"].isna(), "name"]))
    notes = [
        f"Scale {scale}, from results/{run.scale} ({run.training_rate / 1e9:.0f} GFLOP/s in training, "
        f"{run.body / 1e6:.1f} M parameters a position, at most {run.ledger['peak_memory_mb'].max() / 1000:.1f} GB of memory a process "
        f"in filling), on devices that reach {flops / 1e12:g} TFLOP/s in training: {speedup:.0f} times as fast. {ASSUMED}"
    ]
    if missing:
        notes.append(f"Not in the table, as the run has no such cell: {', '.join(missing)}.")
    return "\n".join([*(f"| {line} |" for line in lines), "", *notes])


def plan(results: Path, scale: str, flops: float, devices: list[int]) -> str:
    """Return the plan of a scale from a finished run, on devices that reach `flops` FLOP/s in training."""
    register()
    run = read_run(results)
    with initialize_config_dir(str(CONF), version_base="1.3"):
        composed: dict[tuple, Config] = {}

        def choose(**groups: str) -> Config:
            groups = {"scale": scale, "precision": "bf16"} | groups
            key = tuple(groups.items())
            if key not in composed:
                composed[key] = to_config(compose("config", [f"{k}={v}" for k, v in groups.items()]))
            return composed[key]

        return tell(run, scale, jobs_of(run, choose(), choose), flops, devices)


def main(arguments: list[str] | None = None) -> int:
    """Print the plan, or write it between the markers of a page; 1 on a mistake that a user can mend."""
    parser = argparse.ArgumentParser(
        description="Hours that a scale takes on other devices, from a finished run."
    )
    parser.add_argument("--results", type=Path, default=Path("results/laptop"))
    parser.add_argument("--scale", default="gpu")
    parser.add_argument("--flops", type=float, required=True, help="FLOP/s that a device reaches in training")
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--page", type=Path, help="write between the plan's markers of this page")
    given = parser.parse_args(arguments)
    try:
        told = plan(given.results, given.scale, given.flops, given.devices)
        if given.page:
            write_whole(
                given.page, write_between_markers(given.page.read_text(), f"plan {given.scale}", told)
            )
        else:
            print(told)
    except StudyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
