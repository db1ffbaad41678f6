"""What is made of stored results is made again when the code changes; the results keep their ids."""

import shutil
import subprocess
import sys

from mlm_vs_clm.files import ROOT

ASK = "from mlm_vs_clm.pipeline.recipes.versions import make_recipe\nprint(*(make_recipe(stage, {}).id for stage in ('report', 'correlate', 'score')))"


def ask(source):
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env={"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_a_report_and_correlations_are_made_again_when_the_code_of_the_study_changes(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "shipped"))
    before = ask(tmp_path / "src")
    assert ask(tmp_path / "src") == before  # bytecode is no code
    with (tmp_path / "src" / "mlm_vs_clm" / "stats.py").open("a") as file:
        file.write("\n")
    report, correlate, score = ask(tmp_path / "src")
    assert report != before[0] and correlate != before[1] and score == before[2]
