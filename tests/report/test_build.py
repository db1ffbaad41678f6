"""The report as a whole: what it writes, that it writes the same twice, and what it says where rows are missing."""

import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import yaml
from fake_tables import STUDY, fake_about, fake_tables, tidy_fakes
from refusals import assert_refused

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.evidence.columns import TABLES
from mlm_vs_clm.evidence.tables import COLUMNS, read_tables, tidy
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report.build import FIGURES, build, draw, make_page, make_tables
from mlm_vs_clm.report.rendering import to_markdown
from mlm_vs_clm.report.study_folder import DERIVED, EXAMPLES, STUDY_FILE, Background, load_study, save_study

ONE = ("abstracts",)
NOTHING = {"study": pd.DataFrame([STUDY])}


def read_files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_report_loads_no_network_and_draws_only_when_asked():
    heavy = "torch transformers matplotlib statsmodels spacy sklearn datasets hydra"
    code = f"import sys, mlm_vs_clm.report; print([m for m in '{heavy}'.split() if m in sys.modules])"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "[]"


def test_a_table_that_no_longer_has_rows_is_gone_and_nothing_is_left_half_written(report, tmp_path):
    shutil.copytree(report, tmp_path, dirs_exist_ok=True)
    (tmp_path / "writers.csv").write_text("a table of an earlier report")
    save_study(*load_study(report), tmp_path)
    assert not (tmp_path / "writers.csv").exists() and not [*tmp_path.glob(".*")]


def test_shuffled_rows_give_the_same_bytes(report, make_report, tmp_path):
    shuffled = {name: table.sample(frac=1, random_state=3) for name, table in fake_tables(ONE).items()}
    assert read_files(make_report(shuffled, tmp_path)) == read_files(report)


def test_the_page_follows_from_the_frames_alone(report, tmp_path):
    names = [*(f"{name}.csv" for name in COLUMNS if name not in DERIVED), STUDY_FILE, EXAMPLES]
    for name in names:
        if (report / name).is_file():
            shutil.copy(report / name, tmp_path)
    make_page(tmp_path)
    assert read_files(tmp_path) == read_files(report)


@pytest.mark.parametrize("name", [STUDY_FILE, EXAMPLES, "scores.csv"])
def test_a_study_without_one_of_its_files_is_one_line(report, tmp_path, name):
    shutil.copytree(report, tmp_path / "some")
    (tmp_path / "some" / name).unlink()
    assert_refused("some", make_page, tmp_path / "some")


@pytest.mark.parametrize(
    ("edited", "told"),
    [
        ({"models": None}, "study.yaml has no models: correct it"),
        ({"models": [1, 2]}, r"study.yaml: models\[0\] is not words"),
        ({"versions": "torch 2"}, "study.yaml: versions is not keys with values"),
        ({"corpora": {"name": "abstracts"}}, "study.yaml: corpora is not a list"),
        ({"corpora": [{"name": "abstracts", "splits": 3}]}, r"corpora\[0\].splits is not keys with values"),
        ({"panels": [{"name": "words"}]}, r"study.yaml has no panels\[0\].kind"),
        ({"study": STUDY | {"main_ratio": "half"}}, "study.yaml: study.main_ratio is not a number"),
    ],
)
def test_a_study_with_a_value_of_another_kind_is_one_line(report, tmp_path, edited, told):
    shutil.copytree(report, tmp_path / "some")
    settings = tmp_path / "some" / STUDY_FILE
    settings.write_text(yaml.safe_dump(yaml.safe_load(settings.read_text()) | edited))
    assert_refused(told, make_page, tmp_path / "some")


def test_every_csv_has_its_columns_and_reads_back(report):
    again = read_tables(report)
    for name, table in fake_tables(ONE).items():
        assert list(again[name].columns) == COLUMNS[name]
        pd.testing.assert_frame_equal(again[name], tidy(name, table), check_dtype=False, rtol=1e-7)


def test_empty_tables_give_a_page_that_names_its_command_and_has_no_empty_part(tmp_path):
    build(NOTHING, Background([], [], fake_about()), tmp_path)
    page = (tmp_path / "report.html").read_text()
    for name in [name for name, table in TABLES.items() if name != "study" and not table.is_rare]:
        assert (tmp_path / f"{name}.csv").read_text() == ",".join(COLUMNS[name]) + "\n"
    assert "make reproduce SCALE=smoke" in page and "A trial on a few documents" in page
    assert "<h2>Evidence" not in page and "<svg" not in page
    assert "missing" not in page.partition('id="about"')[0]


def test_a_study_whose_panels_have_no_rows_is_a_page(tmp_path):
    about = yaml.safe_load((ROOT / "results" / "laptop-kinds" / STUDY_FILE).read_text(encoding="utf-8"))
    build(NOTHING, Background([], [], fake_about() | {"panels": about["panels"]}), tmp_path)
    assert "make reproduce SCALE=smoke" in (tmp_path / "report.html").read_text()


def test_no_value_at_all_is_missing_everywhere_and_crashes_nowhere(make_report, tmp_path):
    tables = fake_tables(ONE)
    for name in ("scores", "downstream", "comparisons", "correlation"):
        tables[name][["value", "low", "high"]] = np.nan
    tables["ledger"][["flops", "seconds"]] = tables["training"][["dev_loss", "flops"]] = np.nan
    page = (make_report(tables, tmp_path) / "report.html").read_text()
    assert 'id="table-comparisons_text"' not in page and 'id="table-answers"' in page


def test_an_absent_column_is_named(make_report, tmp_path):
    tables = fake_tables(ONE)
    tables["scores"] = tables["scores"].drop(columns="share")
    assert_refused("'scores' has no column 'share'", make_report, tables, tmp_path)


def test_two_rows_for_one_cell_are_refused(make_report, tmp_path):
    tables = fake_tables(ONE)
    tables["ledger"] = pd.concat([tables["ledger"], tables["ledger"].iloc[:1]])
    with pytest.raises(StudyError, match="corpus=abstracts, arm=mlm, strategy=random, ratio=0.15, seed=0"):
        make_report(tables, tmp_path)


def test_a_study_with_another_main_cell_has_every_table():
    tables = tidy_fakes()
    tables["study"] = tables["study"].assign(main_ratio=0.15)
    for name in ("quality", "references", "cost"):
        made = make_tables(name, tables)
        assert made and all(table.rows for table in made), name
        assert name == "references" or "Random masking at ratio 0.15" in made[0].caption


def test_an_arm_without_a_marker_and_an_unknown_corpus_are_drawn_and_tabled():
    tables = tidy_fakes()
    for name, column in (("scores", "arm"), ("ledger", "arm"), ("downstream", "trained_on")):
        tables[name] = tables[name].assign(corpus="essays")
        tables[name][column] = tables[name][column].replace("mlm", "product")
    assert all(draw(name, tables) for name in FIGURES)
    assert any("product" in to_markdown(table) for table in make_tables("quality", tables))
