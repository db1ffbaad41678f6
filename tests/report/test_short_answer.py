"""README's first screen says what holds in the tables: a headline whose condition fails is not printed."""

import json

import pandas as pd
import pytest
from fake_studies import add_likelihoods, make_studies
from made_cells import RULES

from mlm_vs_clm.report.lead_words import span
from mlm_vs_clm.report.short_answer import describe_speed, write_short_blocks
from mlm_vs_clm.report.short_table import shorten_tokens

ALL = ("desk", "laptop-long_runs", "laptop-causal_start")
READS = "**Better text?** It depends on what the causal model reads"
BETTER_INFORMED = f"{READS}. Another checkpoint (abstracts and plots) can reverse the lead."
NO_BETTER_DATA = "**Better training data?** Not shown."


@pytest.fixture
def studies():
    return make_studies(names=ALL)


EQUAL = {"status": "made", "direction": "none shown", "size": "inside the margin"}
FIRST = {"status": "made", "direction": "first", "size": "outside"}
SECOND = {"status": "made", "direction": "second", "size": "outside"}
OPEN = {"status": "made", "direction": "none shown", "size": "not settled"}
SILENT = {"status": "not competent", "direction": "", "size": ""}


def change(studies, condition, **values):
    """Alter the answers of a condition in all studies, on plots alone; no two studies have the same effect."""
    for place, tables in enumerate(studies.values()):
        rows = tables["answers"]
        if "effect" in values:
            values = values | {"effect": values["effect"] + place / 100}
        rows.loc[(rows["condition"] == condition) & (rows["corpus"] == "plots"), list(values)] = list(
            values.values()
        )


def ask(studies, folder, *names):
    blocks = write_short_blocks(studies, RULES, folder)
    return "\n".join(
        blocks[name]
        for name in names or ("short-answer", "short-findings", "further-findings")
        if name in blocks
    )


def link(reads, study):
    """Return the first entry of a row of the table, which links the page of its study."""
    return f"[{reads}](results/{study}/report.html)"


def find_likelihood(told):
    """Return the finding on the likelihood, of a list of findings."""
    return next(line.removeprefix("- ") for line in told.splitlines() if "likelihood" in line)


def test_what_holds_on_every_corpus_is_said_with_its_numbers(studies, tmp_path):
    assert ask(studies, tmp_path).splitlines() == [
        BETTER_INFORMED,
        "- **Causal reads the text before each blank** and knows its length: masked leads by 5.0 to 6.0 "
        "BLEU in two of four comparisons; causal by 3.0 to 4.0 (from a causal start) in two.",
        "- **Causal reads both sides**: causal leads by 3.0 to 4.0 BLEU (from a causal start) in two of "
        "four comparisons; equal in two.",
        "",
        NO_BETTER_DATA,
        "- **As the paper compares them, masked leads by 19.0 to 20.0 BLEU** (both from an encoder, one training). With later blanks hidden from masked: "
        "11.0 to 12.0.",
        "- **Neither text is shown to be better training data.** Of the two, no answer in four of four comparisons. One constant word "
        "per blank beats leaving words out on abstracts.",
        "- **BLEU without a network** (`desk`): best word table 28.0.",
    ]


@pytest.mark.parametrize(
    ("condition", "verdict", "effect", "said"),
    [
        ("known length", EQUAL, 0.1, "masked leads by 6.0 BLEU in one of two comparisons; equal in one."),
        (
            "known length",
            SECOND,
            -2.0,
            "masked leads by 6.0 BLEU in one of two comparisons; causal by 2.0 in one.",
        ),
        (
            "known length",
            SILENT,
            9.0,
            "masked leads by 6.0 BLEU in one of two comparisons; no answer in one.",
        ),
        ("both contexts", FIRST, 3.0, "masked leads by 3.0 BLEU in one of two comparisons; equal in one."),
        ("both contexts", OPEN, 1.0, "equal in one of two comparisons; no answer in one."),
        ("no leak", SILENT, 9.0, "masked better on abstracts; undecided on plots"),
        ("as reported", OPEN, 1.0, "masked better on abstracts, plots"),
    ],
)
def test_outcomes_are_counted_and_a_headline_that_fails_on_one_corpus_is_gone(
    studies, tmp_path, condition, verdict, effect, said
):
    del studies["laptop-causal_start"]
    change(studies, condition, **verdict, effect=effect)
    told = ask(studies, tmp_path)
    assert said in told, told
    assert ("compares them, masked leads by" in told) == (condition in ("known length", "both contexts"))


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (FIRST, "(both from an encoder; by 8.0 to 20.0 over SmolLM2; one training each)"),
        (SILENT, "(both from an encoder; by 20.0 over SmolLM2 on abstracts; one training each)"),
        (OPEN, "(both from an encoder, one training)"),
    ],
)
def test_a_pretrained_model_of_the_papers_kind_is_named_where_it_is_behind(studies, tmp_path, verdict, said):
    pretrained = make_studies(names=["desk"])["desk"]
    answers = pretrained["answers"]
    answers = answers[answers["condition"] == "as reported"].assign(condition="as reported, pretrained")
    pretrained["answers"] = answers
    pretrained["study"]["starts_from"] = "checkpoints of their kinds"
    change({"laptop-rewriting": pretrained}, "as reported, pretrained", **verdict, effect=8.0)
    every = studies | {"laptop-rewriting": pretrained}
    assert f"BLEU** {said}. With later" in ask(every, tmp_path)
    answers["runs"] = 5
    said = said.replace("; one training each", ", five trainings")
    said = said.replace("an encoder;", "an encoder, one training;")
    assert f"BLEU** {said}. With later" in ask(every, tmp_path)


def test_what_is_read_is_part_of_the_answer_only_where_no_lead_over_both_sides_is_larger(studies, tmp_path):
    assert READS in ask(studies, tmp_path)
    change(studies, "both contexts", **FIRST, effect=7.0, high=8.0)
    assert "Better text" not in ask(studies, tmp_path)
    change(studies, "both contexts", effect=2.0)  # its interval, to 8, does not lie below that of before
    for name in ("desk", "laptop-long_runs"):
        rows = studies[name]["answers"]
        rows.loc[(rows["condition"] == "both contexts") & (rows["corpus"] == "abstracts"), "high"] = 8.0
    assert "Better text" not in ask(studies, tmp_path)


OVER_RATIOS = "goes with better training data** (rank correlation 0.70 to 0.80, uncorrected). With the hidden share fixed: in one."
OVER_TWO = "data** in two of three comparisons (rank correlation 0.70 to 0.80, uncorrected). With the hidden share fixed: in one."


@pytest.mark.parametrize(
    ("lows", "at_one", "said"),
    [
        ([0.4, 0.4], [], OVER_RATIOS),
        ([0.4, 0.4, -0.1], [], OVER_TWO),
        ([0.4, 0.4], [0.1, 0.6], f"{OVER_RATIOS} At one masking, other studies: in one of two."),
        ([0.4, -0.1], [], ""),
    ],
)  # fmt: skip
def test_quality_and_usefulness_are_told_over_masking_ratios_where_most_comparisons_agree(
    studies, tmp_path, lows, at_one, said
):
    answers = studies["desk"]["answers"]
    effects = zip((0.7, 0.8, 0.3), lows, strict=False)
    rows = [
        {"corpus": f"c{i}", "effect": effect, "low": low, "high": 0.9}
        for i, (effect, low) in enumerate(effects)
    ]
    asked = pd.DataFrame(rows).assign(
        claim="C5", condition="over corruption levels", metric="bleu", scope="document", runs=1, **OPEN
    )
    partial = pd.DataFrame(
        {"corpus": ["c0", "c1", "other"], "low": [0.1, -0.1, 0.1], "high": 0.9, "value": 0.4}
    )
    studies["desk"]["correlation"] = partial.assign(
        statistic="partial_spearman", quality_scope="document", quality_metric="bleu"
    )
    studies["desk"]["answers"] = pd.concat([answers, asked], ignore_index=True)
    if at_one:
        rows = [
            {"claim": "U1", "condition": name, "corpus": corpus, "effect": effect, "n": 32, "scope": "fills"}
            | {"low": effect - 0.1, "high": effect + 0.1, "metric": "exact_match", **OPEN}
            | {"first_strategy": strategy, "first_ratio": ratio}
            for name, corpus, strategy, ratio, effect in zip(
                ("entities", "genres"), "ab", ("random", "content_words"), (0.7, 1.0), at_one, strict=True
            )
        ]
        studies["laptop-usefulness"] = studies["desk"] | {"answers": pd.DataFrame(rows)}
        studies["laptop-usefulness"]["study"] = studies["desk"]["study"].assign(starts_from="")
    told = ask(studies, tmp_path)
    assert said in told if said else "Over masking ratios" not in told
    values = "(rank correlation by exact match): 0.10 [0.00, 0.20] on a (70 %), 0.60 [0.50, 0.70] on b (content words)."
    assert (f"**Quality and usefulness at one masking** {values}" in told) == bool(at_one)


def test_the_start_is_part_of_the_answer_only_where_it_turns_the_lead(studies, tmp_path):
    rows = studies["laptop-causal_start"]["answers"]
    rows.loc[rows["direction"] == "second", "direction"] = "none shown"
    assert f"{READS}.\n" in ask(studies, tmp_path)


def test_the_start_turns_a_lead_only_where_the_causal_model_reads_the_same(studies, tmp_path):
    for condition in ("known length", "both contexts"):
        rows = studies["laptop-causal_start"]["answers"]
        of_first = condition == "known length"
        is_asked = rows["condition"] == condition
        rows.loc[is_asked, ["direction", "effect"]] = ["first", 5.0] if of_first else ["second", -3.0]
    assert f"{READS}.\n" in ask(studies, tmp_path)


def test_where_two_starts_favour_the_causal_model_none_is_named_and_the_table_has_both(studies, tmp_path):
    studies |= {"laptop-pretrained": make_studies(names=["laptop-causal_start"])["laptop-causal_start"]}
    studies["laptop-pretrained"]["study"]["starts_from"] = "checkpoints of their kinds"
    studies["laptop-pretrained"]["answers"]["effect"] -= 0.01  # rows that are equal are one comparison
    from_causal = studies["laptop-causal_start"]["answers"]
    for name, value in SILENT.items():
        from_causal.loc[from_causal["corpus"] == "plots", name] = value
    blocks = write_short_blocks(studies, RULES, tmp_path)
    assert (
        "**Causal reads both sides**: causal leads by 3.0 to 4.0 BLEU in three of six comparisons; equal in two; "
        "no answer in one." in blocks["short-answer"]
    )
    assert [line for line in blocks["short-table"].splitlines() if "240k" in line] == [
        f"| {link(reads, f'laptop-{track}')} | {start} | causal +3.0 | {plots} | 1×240k |"
        for track, start, plots in (
            ("causal_start", "causal model", "no answer"),
            ("pretrained", "own kind", "causal +4.0"),
        )
        for reads in ("before the blank", "both sides")
    ]


def test_with_the_left_side_alone_corpora_that_are_too_weak_are_named(studies, tmp_path):
    answers = studies["laptop-long_runs"]["answers"]
    left = answers[answers["condition"] == "both contexts"].assign(condition="left context", **EQUAL)
    left.loc[left["corpus"] == "abstracts", list(SILENT)] = list(SILENT.values())
    studies["laptop-long_runs"]["answers"] = pd.concat([answers, left], ignore_index=True)
    told = ask(studies, tmp_path)
    assert "it is within 1 BLEU of causal on plots** (+0.1;" in told and "No answer elsewhere." in told


def test_training_data_is_told_as_no_better_only_where_most_comparisons_say_so(studies, tmp_path):
    gaps = studies["desk"]["comparisons"]
    gaps.loc[0, "direction"] = "first"
    told = ask(studies, tmp_path)
    assert NO_BETTER_DATA not in told
    assert "masked beats causal by 0.00 F1 in one of four comparisons; no answer in three" in told
    assert "**Better training data?** Mostly not shown." in told and "reliably better training data" in told
    studies["laptop-causal_start"]["comparisons"].loc[0, "direction"] = "second"
    told = ask(studies, tmp_path)
    assert NO_BETTER_DATA in told and "Neither text is shown to be better" in told
    assert (
        "masked beats causal by 0.00 F1 in one of four comparisons; causal beats masked by 0.00 F1 in one; no answer in two"
        in told
    )
    for tables in studies.values():
        tables["comparisons"]["status"] = "no room"
    assert "training data" not in ask(studies, tmp_path)


def test_where_no_text_beats_unfilled_text_that_is_the_answer_on_training_data(studies, tmp_path):
    for tables in studies.values():
        tables["headroom"]["above_low"] = -0.1
    told = ask(studies, tmp_path)
    idle = "With half the words hidden from both, neither model's text is shown to train better than leaving words out."
    assert f"**Better training data?** {idle}" in told
    assert (
        "- **As training data**: no answer in four of four comparisons. One constant word per blank scores above both"
        in told
    )
    noised = (
        studies["desk"]["headroom"]
        .iloc[[0]]
        .assign(trained_on="clm_noised", metric="f1", above=0.15, above_low=0.1, above_high=0.2)
    )
    rooms = pd.concat([studies["desk"]["headroom"], noised], ignore_index=True)
    with_noised = studies | {"desk": studies["desk"] | {"headroom": rooms}}
    said = "**Text of another model beats leaving words out**: a causal model trained on wrong words (`clm_noised`) by"
    assert said in ask(with_noised, tmp_path)
    more = studies["desk"]["headroom"].assign(ratio=0.7)
    sides = [(0.1, 0.2), (-0.2, -0.1)]
    for place, (ratio, (low, high)) in enumerate(zip((0.7, 1.0), sides, strict=True)):
        name = f"laptop-usefulness{place}"
        studies[name] = studies["desk"] | {
            "headroom": more.assign(ratio=ratio, above_low=low, above_high=high)
        }
        studies[name]["study"] = studies["desk"]["study"].assign(starts_from="")
    said = (
        "At two other maskings, some model's text beats leaving words out in one, loses in one (uncorrected)."
    )
    assert more["corpus"].nunique() == 1 and said in ask(studies, tmp_path)


def test_where_the_paper_s_own_comparison_favours_masked_text_as_training_data_that_is_told(
    studies, tmp_path
):
    gaps = studies["desk"]["comparisons"]
    row = gaps.iloc[[0]].assign(
        comparison="as reported", direction="first", value=0.16, low=0.1, high=0.2, metric="f1", runs=1
    )
    studies["desk"]["comparisons"] = pd.concat([gaps, row], ignore_index=True)
    told = ask(studies, tmp_path)
    assert "**Better training data?** Not shown, except as the paper compares them." in told
    told_of = "In the paper's set-up (one training), masked leads causal by 0.16 F1"
    assert f"{told_of}." in told
    rooms = studies["desk"]["headroom"]
    worse = rooms.iloc[[0]].assign(trained_on="seq2seq_kept", above_low=-0.3, above_high=-0.2)
    studies["desk"]["headroom"] = pd.concat([rooms, worse], ignore_index=True)
    assert f"{told_of}; causal is worse than leaving words out." in ask(studies, tmp_path)


def test_of_one_start_the_exact_likelihood_is_told_after_the_longest_of_equally_many_trainings(
    studies, tmp_path
):
    add_likelihoods(studies["desk"], **OPEN, effect=-0.001, low=-0.1, high=0.1)
    add_likelihoods(studies["laptop-long_runs"], **FIRST)
    told = find_likelihood(ask(studies, tmp_path))
    assert told.startswith("**By exact likelihood** (nats per character). From an encoder (1×3.07M tokens):")
    assert "768k" not in told and "-0.00" not in told and "No answer" not in told
    rows = studies["desk"]["answers"]
    rows.loc[(rows["metric"] == "nats_per_character") & (rows["corpus"] == "plots"), "n"] = 6
    assert find_likelihood(ask(studies, tmp_path)).endswith(" No answer elsewhere.")


def test_a_likelihood_that_no_study_measured_is_not_told(studies, tmp_path):
    add_likelihoods(studies["desk"], status="not run", effect=float("nan"))
    assert "likelihood" not in ask({"desk": studies["desk"]}, tmp_path)


def test_one_word_is_told_as_better_only_where_it_is_in_every_study(studies, tmp_path):
    rooms = studies["desk"]["headroom"]
    rooms.loc[rooms["trained_on"] == "mlm", "utility"] = 0.8
    assert "constant word" not in ask(studies, tmp_path)


def test_content_words_are_told_where_the_causal_model_restores_more_of_them(studies, tmp_path):
    rows = [
        {"kind": "text", "metric": "exact_match_content", "strategy": "random", "ratio": 0.5}
        | {"corpus": corpus, "comparison": name, "value": value, "first": "mlm", "second": second}
        | SECOND
        for corpus in ("abstracts", "plots")
        for name, second, value in (("known length", "clm", -0.014), ("both contexts", "infill", -0.066))
    ]
    tables = studies["laptop-causal_start"]
    tables["comparisons"] = pd.concat([tables["comparisons"], pd.DataFrame(rows)], ignore_index=True)
    assert "content words" not in ask(studies, tmp_path)  # `mlm` is not above its tables there
    tables["competence"]["outcome"] = "competent"
    said = "**Of 100 content words**{}: from a causal start, causal restores 1.4 more where causal reads before the blank (both sides: 6.6)."
    told = ask(studies, tmp_path)
    assert f"{said.format('')} No answer elsewhere." in told
    assert "measure (" not in told  # by BLEU the causal models lead, too
    tables["answers"].loc[tables["answers"]["condition"] == "known length", "direction"] = "first"
    assert "Another measure (abstracts and plots) can reverse" in ask(studies, tmp_path)
    is_before = tables["comparisons"]["comparison"] == "known length"
    tables["comparisons"].loc[is_before, "status"] = "not competent"
    told = ask(studies, tmp_path)
    assert "from a causal start, causal restores 6.6 more where causal reads both sides." in told
    tables["comparisons"].loc[is_before, "status"] = "made"
    last = len(tables["comparisons"]) - 1
    tables["comparisons"].loc[last - 1 :, "status"] = "not competent"
    assert said.format(" (abstracts alone)") in ask(studies, tmp_path)
    tables["comparisons"].loc[last - 3 :, ["status", "direction"]] = ["made", "none shown"]
    told = ask(studies, tmp_path)
    assert "content words" not in told and "measure" not in told


def test_the_table_names_who_is_ahead_and_links_the_studies_of_its_rows(studies, tmp_path):
    change(studies, "known length", **SILENT)
    table = ask(studies, tmp_path, "short-table")
    assert table.splitlines() == [
        "| the causal model reads | start | abstracts | plots | trainings×tokens |",
        "|---|---|---|---|---|",
        f"| {link('before the blank', 'desk')} | encoder | masked +6.0 | no answer | 5×3.07M |",
        f"| {link('both sides', 'laptop-long_runs')} | encoder | equal | equal | 5×768k |",
        f"| {link('before the blank', 'laptop-causal_start')} | causal model | causal +3.0 | no answer | 1×240k |",
        f"| {link('both sides', 'laptop-causal_start')} | causal model | causal +3.0 | causal +4.0 | 1×240k |",
        "",
        "Who is ahead (p < 0.05, corrected within a study), by how many BLEU points. *Equal*: no lead, 95 % interval within 1 point. "
        "*No answer*: a model does not clearly beat a table of neighbouring words (gaps up to 5.0).",
    ]


def test_a_causal_model_that_was_not_trained_has_a_row_of_its_own(studies, tmp_path):
    studies |= make_studies(names=["laptop"])
    name = link("before the blank", "laptop")
    row = f"| {name} | own kind; SmolLM2 zero-shot | masked +4.0 | masked +3.0 | 1×240k (masked) |"
    assert row in ask(studies, tmp_path, "short-table").splitlines()
    assert "two of four comparisons" in ask(studies, tmp_path)  # those of trained models alone are counted


def test_the_table_says_what_no_answer_means_where_it_stands(studies, tmp_path):
    assert "No answer" not in ask(studies, tmp_path, "short-table")
    change(studies, "both contexts", direction="none shown", size="not settled")
    assert "*No answer*: neither a lead nor equality is shown." in ask(studies, tmp_path, "short-table")


def test_a_study_of_another_start_or_no_study_says_nothing(tmp_path):
    assert write_short_blocks({}, RULES, tmp_path) == {}
    other = make_studies(names=["desk"])["desk"]
    other["study"]["starts_from"] = "a checkpoint per arm"
    assert write_short_blocks({"laptop-own_masked": other}, RULES, tmp_path) == {}


def test_the_speed_is_that_of_the_benchmark(tmp_path):
    file = tmp_path / "bench.jsonl"
    assert describe_speed(file) == ""
    row = {"device": "cpu (X)", "threads": 2, "name": "fill_fp32", "ratio": 5.24}
    file.write_text("\n".join(json.dumps(row | change) for change in ({"name": "train_fp32"}, {})))
    assert describe_speed(file).startswith("Filling many blanks is 5.2 times as fast")


def test_numbers_are_written_once_where_they_are_alike():
    assert span([0.21, 0.19]) == "0.2" and span([1, 2.04]) == "1.0 to 2.0"
    assert shorten_tokens(768_000) == "768k" and shorten_tokens(3_072_000) == "3.07M"
