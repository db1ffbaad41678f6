"""From the frames of a study to its tables: one function, without store, data or network."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from ..arms.baselines import BOUNDS
from ..metrics import METRICS
from ..tasks import TASKS
from .answers import answer, vary_margins
from .cells import Cell, ScoredCell, TrainedCell, group_by
from .claims import find_noise, hash_rules, list_asked, list_comparisons
from .comparisons import compare_maskings
from .competence import exclude, judge_competence
from .correlation import compare_at_same_masking, correlate_tables
from .curve import compare_along, exclude_along, list_learning
from .differences import compare_by_seed, compare_utility
from .documents import group_rows, list_measured, read_statistics, to_cell
from .equal_compute import compare_at_equal_compute, repeat_text
from .headroom import exclude_no_room, share_headroom
from .leads import list_leads
from .observations import CELL, OPTIONAL, Design, Observations, list_scored
from .sanity import judge_metrics
from .scores import round_numbers, score_gain, score_measure, score_task
from .study import Study
from .tables import COLUMNS
from .units import NAMES as TASK_NAMES
from .units import list_trained
from .usefulness import correlate_writers, list_usefulness
from .variants import pair_variants
from .verdicts import judge_table, list_margins

Tables = dict[str, pd.DataFrame]


def derive_tables(observed: Observations, rules: Sequence[dict]) -> Tables:
    """Return every table of a study by name; `rules` are the claims for its main cell."""
    design, cells = observed.design, list_scored(observed)
    learned = list_trained(observed.units, observed.task_models)
    trained = [model for model in learned if not model.is_network]
    final, along = (
        [scored for scored in cells if bool(scored.cell.budget) == is_along] for is_along in (False, True)
    )
    scores = score_documents(observed, final)
    tables = {
        "study": describe_study(design, rules),
        "variants": pd.DataFrame(design.variants, columns=COLUMNS["variants"]),
        "scores": scores.drop(columns="signature", errors="ignore"),
        "signatures": list_signatures(scores),
        "downstream": score_task_models(observed, learned),
        "understanding": score_networks(observed, learned),
        "ledger": list_costs(observed.cells),
        "training": list_trainings(observed),
        "competence": judge_competence(final, design.resamples),
    }
    tables |= {name: frame for name in OPTIONAL if len(frame := getattr(observed, name))}
    study = Study(final, learned, tables, design.resamples)
    tables["headroom"] = share_headroom(trained, design.resamples, find_noise(rules), study.count_trainings)
    tables["sanity"] = judge_metrics(tables["scores"], tables["competence"], design.main)
    tables["correlation"] = correlate(tables, design)
    tables["usefulness"] = list_usefulness(tables)
    tables["writers"] = correlate_writers(final, trained, tables, design.resamples, design.bound)
    tables |= compare_arms(study, trained, along, rules, design)
    tables["answers"] = answer(list_asked(rules), study)
    tables["sensitivity"], tables["leads"] = vary_margins(tables["answers"]), list_leads(study)
    of_claims = {rule["id"]: rule["margin"] for rule in rules}
    margins = list_margins(tables["scores"], tables["downstream"], of_claims["C1"], of_claims["C9"])
    judged = judge_table(tables["comparisons"], margins, tables["answers"])
    return tables | {"comparisons": repeat_text(judged)}


def describe_study(design: Design, rules: Sequence[dict]) -> pd.DataFrame:
    """Return one row: which study this is, its main cell, and the hash of the rules that judge it."""
    row = {name: getattr(design, name) for name in COLUMNS["study"] if name != "rules"}
    return pd.DataFrame([row | {"rules": hash_rules(list(rules))}])


def compare_arms(
    study: Study,
    trained: Sequence[TrainedCell],
    along: Sequence[ScoredCell],
    rules: Sequence[dict],
    design: Design,
) -> Tables:
    """Return the table `comparisons` of all kinds, still to be judged, and `learning`, what was scored along the curve."""
    scored = [
        cell for place in study.scored if place[2:] == design.main for cell in study.scored[place].values()
    ]
    learned = [model for model in trained if model.cell.masking == design.main]
    arms = {run.cell.arm for run in scored}
    pairs, resamples = pair_variants(list_comparisons(list(rules)), arms), design.resamples
    learning, curve = list_learning(along, resamples), compare_along(along, pairs, resamples)
    learning, curve = exclude_along(learning, curve, along, scored, resamples)
    noise = find_noise(rules)
    utility = compare_utility(learned, pairs, resamples, noise)
    seeds = compare_by_seed(scored, learned, pairs, resamples)
    compute = compare_at_equal_compute(scored, pairs, resamples, noise)
    at_main = [exclude(rows, study.competence, design.main) for rows in (utility, seeds, compute)]
    at_main = [exclude_no_room(rows, study.tables["headroom"], design.main) for rows in at_main]
    strategy, ratio = design.main
    at_main = [rows.assign(strategy=strategy, ratio=ratio) for rows in (*at_main, curve)]
    kinds = [compare_maskings(pairs, study, noise), *at_main]
    rows = pd.concat([rows for rows in kinds if len(rows)] or kinds[:1], ignore_index=True)
    return {"comparisons": rows.assign(at=rows["at"].fillna("")), "learning": learning}


def correlate(tables: Mapping[str, pd.DataFrame], design: Design) -> pd.DataFrame:
    """Return the table `correlation`: over all cells, and at the same masking."""
    scores, downstream = tables["scores"], tables["downstream"]
    rows = correlate_tables(scores, downstream, design.bound)
    overall = pd.DataFrame(map(round_numbers, rows), columns=COLUMNS["correlation"])
    slopes = compare_at_same_masking(scores, downstream, tables["competence"])
    return pd.concat([overall, slopes], ignore_index=True)


def score_documents(observed: Observations, cells: Sequence[ScoredCell]) -> pd.DataFrame:
    """Return the table `scores`: every measure of every cell and, where its bounds were scored, its gains."""
    names = {to_cell(row): row for row in observed.cells.to_dict("records")}
    documents, bounds = group_rows(observed.documents), {}
    for cell, rows in documents.items():
        if cell.arm in BOUNDS and not cell.budget:
            bounds[cell] = read_statistics(rows, list_measured(rows))
    by_cell = {scored.cell: scored for scored in cells}
    measures = group_by(observed.measures.to_dict("records"), to_cell)
    rows = []
    for cell, scored in by_cell.items():
        about = {name: names[cell][name] for name in COLUMNS["scores"] if name in names[cell]}
        about |= {"artifact": scored.artifact}
        rows += [about | round_numbers(row) for row in _score_cell(scored, measures.get(cell, []), bounds)]
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=[*COLUMNS["scores"], "signature"])


def list_signatures(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the table `signatures`: by which version and settings of a metric the scores were made, each once."""
    signed = scores[scores["signature"] != ""] if len(scores) else pd.DataFrame(columns=COLUMNS["signatures"])
    return signed[COLUMNS["signatures"]].drop_duplicates()


def _score_cell(
    scored_cell: ScoredCell, measures: Sequence[dict], bounds: Mapping[Cell, Mapping]
) -> list[dict]:
    """Return the rows of one cell: its measures, then its gains."""
    scored, gains = [], []
    of_bounds = {arm: bounds.get(replace(scored_cell.cell, arm=arm), {}) for arm in BOUNDS}
    for row in measures:
        measure = row["scope"], row["metric"]
        rows, resamples, signature = scored_cell.statistics[measure], int(row["resamples"]), row["signature"]
        clusters = scored_cell.clusters_of(measure)
        scored.append(score_measure(measure, rows, clusters, resamples, signature, row["reason"]))
        if row["metric"] in METRICS and scored_cell.cell.arm not in BOUNDS and any(of_bounds.values()):
            ends = {arm: statistics.get(measure) for arm, statistics in of_bounds.items()}
            gains.append(score_gain(measure, rows, ends, clusters, resamples, signature))
    return [*scored, *gains]


def score_task_models(observed: Observations, trained: Sequence[TrainedCell]) -> pd.DataFrame:
    """Return the table `downstream`: every measure of every training set."""
    columns = [*TASK_NAMES, "share", "model", "artifact"]
    rows = [
        {name: row[name] for name in columns} | scores
        for row, model in zip(observed.task_models.to_dict("records"), trained, strict=True)
        if not model.is_network
        for scores in _score_answers(row, model)
    ]
    return pd.concat([pd.DataFrame(rows), observed.aggregates], ignore_index=True)


def score_networks(observed: Observations, trained: Sequence[TrainedCell]) -> pd.DataFrame:
    """Return the table `understanding`: every measure of every network that was fine-tuned on real text."""
    rows = [
        {"task": network.task, "corpus": network.cell.corpus, "network": network.cell.arm}
        | {"examples": network.examples, "artifact": network.artifact}
        | scores
        for row, network in zip(observed.task_models.to_dict("records"), trained, strict=True)
        if network.is_network
        for scores in _score_answers(row, network)
    ]
    return pd.DataFrame(rows, columns=COLUMNS["understanding"])


def _score_answers(row: Mapping, model: TrainedCell) -> list[dict]:
    measures, resamples = TASKS[model.task].measures, int(row["resamples"])
    scores = score_task(measures, model.answers, model.clusters, row["reason"], resamples)
    return [round_numbers(score) for score in scores]


def list_costs(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the table `ledger`: what generation cost in each cell."""
    hidden = {*CELL} - {*COLUMNS["ledger"]}
    return cells[cells["budget"].isna()].drop(columns=[column for column in cells if column in hidden])


def list_trainings(observed: Observations) -> pd.DataFrame:
    """Return the table `training`: each training's curve, with a column per varied setting.

    Where settings vary, `nats_per_character` is the dev loss of objectives that bound the likelihood of the whole text.
    """
    varied = {variant["setting"] for variant in observed.design.variants}
    columns = {*COLUMNS["training"], *varied, *(("nats_per_character",) if varied else ())}
    return observed.trainings[[column for column in observed.trainings if column in columns]]
