"""The blocks between markers in README and docs, from the tables of committed studies: nobody types a number there."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..corpora.card import card_markdown
from ..evidence.claims import read_rules
from ..evidence.derivation import Tables
from ..evidence.tables import TRAINING_DATA, pick_kind, read_table, read_tables
from ..evidence.verdicts import NOT_RUN
from ..files import list_studies
from . import style
from .drawing import save, style_context
from .evidence_table import write_evidence
from .headline import answer_question
from .index import write_index
from .ladder import list_likelihoods, list_steps
from .ladder_figure import draw_ladder
from .outcomes import keep_trained
from .overview import count_claims, count_tokens, find_start, tabulate_evidence
from .sentences import describe_decisions, describe_main_cell, describe_utility, tabulate_costs
from .short_answer import keep_most_trained, write_short_blocks
from .statements import summarise_statements, tabulate_statements
from .study_folder import CLAIMS, load_background
from .style import read_study
from .tables import markdown_table

Blocks = dict[str, str]
MAIN = "laptop"  # the folder of the default study, which docs/paper.md tells
# What is told of all studies rests on these.
TOLD = (
    "study",
    "answers",
    "comparisons",
    "competence",
    "correlation",
    "findings",
    "headroom",
    "scores",
    "training",
)


def name_results(scale: str, track: str) -> str:
    """Return the folder of a study in `results`: the matched track's is named after the scale alone."""
    return scale if track == "matched" else f"{scale}-{track}"


def make_blocks(results: Path) -> Blocks:
    """Return the blocks on one study, from its folder of results, by marker."""
    blocks = describe_panels({name: read_table(name, results) for name in ("study", "findings")})
    if results.name == MAIN:
        blocks |= describe_main(read_tables(results))
        blocks["cards"] = "\n".join(map(card_markdown, load_background(results).cards))
    return blocks


def read_studies(results: Path) -> dict[str, Tables]:
    """Return the tables TOLD of all studies in a folder of results, by folder."""
    return {name: read_tables(folder, TOLD) for name, folder in list_studies(results).items()}


def make_shared_blocks(results: Path, tables: Mapping[str, Tables], rules: Sequence[dict]) -> Blocks:
    """Return the blocks on all studies in a folder of results, and on its benchmark, by marker; `tables` as `read_studies` has them."""
    studies, stated = keep_claims(tables), read_rules(CLAIMS)
    evidence = {"evidence": tabulate_evidence(studies, rules), "overview": count_claims(studies, rules)}
    evidence["statements"] = tabulate_statements(tables, stated)
    evidence["short-statements"] = summarise_statements(tables, stated)
    blocks = evidence | write_short_blocks({**studies, **tables}, rules, results)
    if repeated := find_repeated(studies):
        blocks["utility"] = describe_training_data(repeated)
    return blocks


def find_repeated(studies: Mapping[str, Tables]) -> Tables | None:
    """Return the tables of the default study, or of one of its start and length that has more trainings; none where it was not run."""
    if MAIN not in studies:
        return None
    size = find_start(studies[MAIN]), count_tokens(studies[MAIN])
    most = keep_most_trained(studies)
    return next(tables for tables in most if (find_start(tables), count_tokens(tables)) == size)


def write_overviews(results: Path, tables: Mapping[str, Tables], rules: Sequence[dict]) -> None:
    """Write what rests on all studies, as the same bytes from the same tables.

    `evidence.csv` has every comparison, `index.html` a row per study, `figures/answer.svg` claim C1 step by step.
    """
    studies, folder = keep_claims(tables), results / "figures"
    write_evidence(studies, results)
    write_index(tables, list_studies(results), results)
    steps = list_steps(studies, rules)
    if len(steps):
        folder.mkdir(exist_ok=True)
        with style_context():
            save(draw_ladder(steps, list_likelihoods(studies)), folder)


def keep_claims(tables: Mapping[str, Tables]) -> dict[str, Tables]:
    """Return the tables of the studies on the claims, by folder, the shortest training first."""
    studies = {name: of_study for name, of_study in tables.items() if find_start(of_study)}
    return dict(sorted(studies.items(), key=lambda study: (count_tokens(study[1]), study[0])))


def describe_main(tables: Tables) -> Blocks:
    """Return the blocks on the default study, by marker."""
    study = read_study(tables)
    return {
        "default": answer_question(tables),
        "setting": describe_setting(tables),
        "competent": tabulate_competence(tables),
        "decisions": tabulate_decisions(describe_decisions(tables["correlation"], study)),
        "costs": tabulate_costs(tables["ledger"], tables["comparisons"], study),
    }


def tabulate_decisions(sentences: Iterable[str]) -> str:
    """Return sentences that begin with a corpus and a colon as a table in Markdown: a row per corpus."""
    header = ("corpus", "do quality and usefulness correlate strongly?")
    return markdown_table(header, (sentence.split(": ", 1) for sentence in sentences))


def describe_training_data(tables: Tables) -> str:
    """Return whose text is the better training data, what both are worth, and over how many trainings."""
    rows = pick_kind(tables["comparisons"], TRAINING_DATA)
    told = describe_utility(rows, tables["headroom"], read_study(tables))
    return f"{told} (Trainings of each model: {rows['runs'].max():.0f}.)" if told else ""


def tabulate_competence(tables: Tables) -> str:
    """Return a table of the trained arms at the main cell: score, floor, and whether the arm is competent, by corpus."""
    study, competence = read_study(tables), tables["competence"]
    rows = study.at_main(keep_trained(competence))
    judged = {(row.arm, row.corpus, row.word_class): row for row in rows.itertuples(index=False)}
    corpora = style.ordered(rows["corpus"])
    lines = []
    for arm in style.ordered(rows["arm"], style.ARMS):
        cells = [
            [judged.get((arm, corpus, blank_class)) for blank_class in ("all", "content")]
            for corpus in corpora
        ]
        lines.append([arm, *(_word_competence(*cell) for cell in cells)])
    return markdown_table(["arm", *corpora], lines)


def _word_competence(whole: Any, content: Any) -> str:
    if whole is None or whole.outcome == NOT_RUN:
        return NOT_RUN
    form = "{{:.{0}f}} against {{:.{0}f}}".format(style.decimals_of(whole.metric))
    on_content = f"; content words: {content.outcome}" if content is not None else ""
    return f"{form.format(whole.value, whole.floor_value)} ({whole.floor}): **{whole.outcome}**{on_content}"


def describe_setting(tables: Tables) -> str:
    """Return the size of a study: the main cell, and on how much each objective was trained."""
    training = tables["training"]
    seen = training.groupby("objective")["tokens_seen"].max()
    passes = training.groupby(["artifact", "corpus"])["passes"].max()
    equal = f"{seen.max():,.0f} by each of {', '.join(seen.index)}"
    by_objective = ", ".join(f"{objective} {n:,.0f}" for objective, n in seen.items())
    tokens = equal if seen.nunique() == 1 else by_objective
    return (
        f"{describe_main_cell(tables, read_study(tables))} Tokens seen in training: {tokens}; "
        f"{passes.min():.2g} to {passes.max():.2g} passes over a corpus."
    )


def describe_panels(tables: Tables) -> Blocks:
    """Return the block of a study with a question of its own: the question and its answer."""
    about, findings = tables["study"].iloc[0], tables["findings"]
    folder = name_results(about["scale"], about["track"])
    last = [f"**{row.title}** {row.sentence}" for row in findings[-1:].itertuples(index=False)]
    return {f"{folder}-first": last[0]} if last else {}
