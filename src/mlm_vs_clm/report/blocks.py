"""The blocks between markers in README and docs, from the tables of committed studies: nobody types a number there."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ..corpora.card import card_markdown
from ..evidence.cells import group_by
from ..evidence.tables import read_tables
from ..evidence.verdicts import NOT_RUN
from ..files import list_studies, locate_results
from . import style
from .build import show_tables
from .drawing import save, style_context
from .evidence_table import write_evidence
from .frames import load_frames
from .index import write_index
from .ladder import draw_ladder, list_likelihoods, list_steps
from .outcomes import decided_first, grid_table, keep_trained
from .overview import count_claims, tabulate_evidence
from .rendering import to_lines, to_markdown
from .sentences import (
    Tables,
    describe_along,
    describe_claims,
    describe_costs,
    describe_decisions,
    describe_main_cell,
    describe_utility_gap,
    describe_word_classes,
    summarise_corpora,
)
from .short_answer import write_short_blocks
from .style import read_study
from .tables import markdown_row
from .utility import headline_table
from .wording import UNSURE, at_first_measure, word_verdict

Blocks = dict[str, str]


def name_results(scale: str, track: str) -> str:
    """Return the folder of a study in `results`: the matched track's is named after the scale alone."""
    return scale if track == "matched" else f"{scale}-{track}"


def make_blocks(results: Path) -> Blocks:
    """Return the blocks that a folder of results writes, by marker.

    A study on the claims also writes the blocks on all such studies, from the folders beside its own.
    """
    tables = read_tables(results)
    blocks = BLOCKS.get(results.name, describe_panels)(tables)
    root = locate_results(results)
    links = f"results/{results.name}/", f"{results.relative_to(root.parent).as_posix()}/"
    blocks = {name: text.replace(*links) for name, text in blocks.items()}
    if results.name == "evening":
        blocks["cards"] = "\n".join(map(card_markdown, load_frames(results).cards))
    if results.name in BLOCKS:
        blocks |= make_shared_blocks(root)
    return blocks


def make_shared_blocks(results: Path) -> Blocks:
    """Return the blocks on all studies of the claims in a folder of results, and on its benchmark, by marker."""
    studies = read_studies(results)
    evidence = {"evidence": tabulate_evidence(studies), "overview": count_claims(studies)}
    return evidence | write_short_blocks(studies, results)


def write_overviews(results: Path) -> None:
    """Write what rests on all studies, as the same bytes from the same tables.

    `evidence.csv` has every comparison, `index.html` a row per study, `figures/answer.svg` claim C1 step by step.
    """
    studies, folder = read_studies(results), results / "figures"
    write_evidence(studies, results)
    write_index(list_studies(results), results)
    steps = list_steps(studies)
    if len(steps):
        folder.mkdir(exist_ok=True)
        with style_context():
            save(draw_ladder(steps, list_likelihoods(studies)), folder)


def read_studies(results: Path) -> dict[str, Tables]:
    """Return the tables of the studies on the claims in `results`, by folder, in the order of BLOCKS."""
    folders = list_studies(results)
    return {name: read_tables(folders[name]) for name in BLOCKS if name in folders}


def describe_matched(tables: Tables) -> Blocks:
    """Return the blocks on the matched study, by marker."""
    study = read_study(tables)
    return {
        "answer": describe_answer(tables),
        "claims": tabulate_claims(tables),
        "grid": show_grid(tables),
        "utility": describe_training_data(tables),
        "answers": describe_claims(tables["sentences"]),
        "competent": tabulate_competence(tables),
        "gap": "\n".join(show_tables("gap", tables)),
        "setting": describe_setting(tables),
        "costs": "\n\n".join(describe_costs(tables["ledger"], tables["equal_compute"], study)),
        "decisions": "\n".join(f"- {one}" for one in describe_decisions(tables["correlation"], study)),
        "found": describe_findings(tables),
        "headline": to_markdown(headline_table(tables, study)),
        "references": "\n".join(show_tables("references", tables)),
    }


def describe_answer(tables: Tables) -> str:
    """Return the answer: on the text, along the training where there is a curve, on training with it, on the cost."""
    told = dict(zip(tables["sentences"]["claim"], tables["sentences"]["sure"].fillna(""), strict=True))
    sure = told.get("C1") or "by condition"
    cost = list_outcomes(tables, "C8", first_arm="masked", second_arm="causal")
    details = [describe_along(tables["curve"]), describe_word_classes(tables["gap"])]
    return "\n".join(
        [
            f"**Is the text better?** First arm minus second, {sure}, with 95 % intervals (†: {UNSURE}):",
            "",
            *(
                line
                for table in grid_table(tables["answers"], read_study(tables), "C1")
                for line in to_lines(table)
            ),
            "",
            *(f"- {one}" for one in details if one),
            f"- {describe_training_data(tables) or '**As training data**: not run.'}",
            f"- **Does it cost more?** {cost}. {describe_costs(tables['ledger'], tables['equal_compute'], read_study(tables))[0]}",
        ]
    )


def describe_training_data(tables: Tables) -> str:
    """Return whose text is the better training data, and what both are worth."""
    return describe_utility_gap(tables["utility_gap"], tables["headroom"], read_study(tables))


def tabulate_claims(tables: Tables) -> str:
    """Return a table of the claims with their answers in a few words."""
    lines = [
        markdown_row(
            [
                f"{row.claim} {row.statement}",
                list_outcomes(tables, row.claim),
            ]
        )
        for row in tables["sentences"].itertuples(index=False)
    ]
    return "\n".join([markdown_row(["claim of the paper", "answer"]), "|---|---|", *lines])


def list_outcomes(tables: Tables, claim: str, **names: str) -> str:
    """Return the outcomes of a claim by the first measure of each condition, what is decided first.

    Each has its conditions, and in how many of their comparisons; an outcome that all share stands alone, "not run" with
    what it needs. `names`: of the sides, in place of the arms.
    """
    answers = tables["answers"]
    rows = at_first_measure(answers[answers["claim"] == claim]).assign(**names)
    found = group_by(decided_first(rows).itertuples(index=False), word_verdict)
    if len(found) < 2:
        needs = "; ".join(dict.fromkeys(str(row.needs) for row in found.get(NOT_RUN, [])))
        return f"**{next(iter(found), NOT_RUN)}**{needs and f', needs {needs}'}"
    counts = rows["condition"].value_counts()
    return "; ".join(f"**{outcome}** {_list_conditions(some, counts)}" for outcome, some in found.items())


def _list_conditions(rows: list, counts: pd.Series) -> str:
    """Return the conditions of an outcome: "*no leak*, *known length* (2 of 3)†"; no name where there is one alone."""
    parts = []
    for name, part in group_by(rows, lambda row: row.condition).items():
        mark = "†" if any(row.unsure for row in part) else ""
        share = f"({len(part)} of {counts[name]})" if len(part) < counts[name] else ""
        parts.append(" ".join(filter(None, [f"*{name}*" if len(counts) > 1 else "", share])) + mark)
    return ", ".join(parts)


def tabulate_competence(tables: Tables) -> str:
    """Return a table of the trained arms at the main cell: score, floor, and whether the arm is competent, by corpus."""
    study, competence = read_study(tables), tables["competence"]
    rows = study.at_main(keep_trained(competence))
    found = {(row.arm, row.corpus, row.word_class): row for row in rows.itertuples(index=False)}
    corpora = style.ordered(rows["corpus"])
    lines = [["arm", *corpora], ["---"] * (1 + len(corpora))]
    for arm in style.ordered(rows["arm"], style.ARMS):
        cells = [[found.get((arm, corpus, each)) for each in ("all", "content")] for corpus in corpora]
        lines.append([arm, *(_word_competence(*cell) for cell in cells)])
    return "\n".join(markdown_row(line) for line in lines)


def _word_competence(whole: Any, content: Any) -> str:
    if whole is None or whole.outcome == NOT_RUN:
        return NOT_RUN
    form = "{:.1f} against {:.1f}" if whole.metric == "bleu" else "{:.3f} against {:.3f}"
    more = f"; content words: {content.outcome}" if content is not None else ""
    return f"{form.format(whole.value, whole.floor_value)} ({whole.floor}): **{whole.outcome}**{more}"


def describe_setting(tables: Tables) -> str:
    """Return the size of a study: the main cell, and on how much each objective was trained."""
    training = tables["training"]
    seen = training.groupby("objective")["tokens_seen"].max()
    passes = training.groupby(["artifact", "corpus"])["passes"].max()
    tokens = ", ".join(f"{objective} {n:,.0f}" for objective, n in seen.items())
    return (
        f"{describe_main_cell(tables, read_study(tables))} Tokens seen in training: {tokens}; "
        f"{passes.min():.2g} to {passes.max():.2g} passes over a corpus."
    )


def describe_pretrained(tables: Tables) -> Blocks:
    """Return the blocks on pretrained checkpoints: between objectives, with training on the domain and without."""
    title = "Pretrained checkpoints, each kind with its own"
    general = "Trained on the domain, or a checkpoint as it comes"
    return {
        "pretrained": describe_comparison(title, tables),
        "general": describe_comparison(general, tables, "C4"),
        "pretrained-tables": tabulate_study(tables),
    }


def describe_seeds(tables: Tables) -> Blocks:
    """Return the blocks on several training seeds: the answer, also in short, and every seed."""
    utility = describe_training_data(tables)
    times = f"{tables['answers']['runs'].max():.0f} times"
    title = f"The same comparison, each arm trained {times} on fewer tokens"
    return {
        "settled": describe_comparison(title, tables),
        "sure": f"{describe_claims(tables['sentences'], ['C1'])}\n\n{utility}",
        "runs": "\n".join([show_grid(tables), *show_tables("runs", tables)]),
    }


def describe_one(marker: str, title: str, tables: Tables, claim: str = "C1") -> Blocks:
    """Return the blocks on a study of one claim: its answers, and its size, competence and differences."""
    along = f"- {describe_along(tables['curve'])}\n\n" if len(tables["curve"]) else ""
    return {
        marker: describe_comparison(title, tables, claim),
        f"{marker}-tables": along + tabulate_study(tables),
    }


def tabulate_study(tables: Tables) -> str:
    """Return the size of a study, which arms are competent, and the differences between arms."""
    gap = "\n".join(show_tables("gap", tables))
    return "\n\n".join([describe_setting(tables), tabulate_competence(tables), gap])


def describe_comparison(title: str, tables: Tables, claim: str = "C1") -> str:
    """Return the answers to a claim, a row per condition that was run; to C1, also by kind of word and as training data."""
    answers = tables["answers"]
    grid = grid_table(answers[answers["status"] != NOT_RUN], read_study(tables), claim)[0]
    runs = answers.loc[(answers["claim"] == claim) & (answers["status"] != NOT_RUN), "runs"]
    fewest, most = runs.min(), runs.max()
    how = (
        "95 % intervals over the trainings"
        if most > 1
        else "one training each, 95 % intervals over documents"
    )
    how += " where there are several, else over documents" if fewest < most else ""
    details = [describe_word_classes(tables["gap"]), describe_training_data(tables)] if claim == "C1" else []
    told = [f"- {one}" for one in details if one]
    return "\n".join(
        [f"**{title}** ({how}; †: {UNSURE}):", "", *to_lines(grid), *([""] if told else []), *told]
    )


def describe_panels(tables: Tables) -> Blocks:
    """Return the blocks of a study with a question of its own: figures and sentences, and the first sentence alone."""
    about, findings = tables["study"].iloc[0], tables["findings"]
    folder = name_results(about["scale"], about["track"])
    parts = [
        f"![{one.title}](../results/{folder}/figures/{one.panel}.svg)\n\n**{one.title}**: {one.sentence}"
        for one in findings.itertuples(index=False)
    ]
    first = [f"**{one.title}**: {one.sentence}" for one in findings[:1].itertuples(index=False)]
    return {folder: "\n\n".join(parts), name_first(folder): first[0]} if parts else {}


def name_first(folder: str) -> str:
    """Return the name of the block that has the first sentence of a study alone."""
    return f"{folder}-first"


def show_grid(tables: Tables) -> str:
    """Return the answers to claim C1 in Markdown, condition by corpus."""
    return to_markdown(grid_table(tables["answers"], read_study(tables), "C1")[0])


def describe_findings(tables: Tables) -> str:
    """Return the main comparison in words, a paragraph per corpus."""
    study = read_study(tables)
    text = [
        "\n".join([f"**{summary.corpus}**", *(f"- {sentence}" for sentence in summary.sentences)])
        for summary in summarise_corpora(tables, study)
    ]
    return "\n\n".join([*text, describe_main_cell(tables, study)])


# By folder of results, in the order of the tables on all studies.
BLOCKS: dict[str, Callable[[Tables], Blocks]] = {
    "evening": describe_matched,
    "evening-runs": describe_seeds,
    "desk": partial(describe_one, "desk", "The same comparison with four times the training"),
    "desk-short_runs": partial(
        describe_one, "short", "The same comparison, each arm trained 5 times on as many tokens"
    ),
    "evening-causal_start": partial(describe_one, "start", "The same comparison from a causal checkpoint"),
    "evening-pretrained": describe_pretrained,
    "evening-domains": partial(
        describe_one, "domains", "Trained on the domain, or on the other two", claim="C4"
    ),
    "evening-orders": describe_panels,
}
