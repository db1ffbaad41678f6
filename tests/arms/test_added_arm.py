"""A word table is added by one entry, one yaml and one line: in a copy of the sources everything else follows from these."""

import json
import os
import shutil
import subprocess
import sys

import pytest
import yaml

from mlm_vs_clm.arms.baselines import ARMS, BASELINES
from mlm_vs_clm.arms.roles import CONTROL, TABLE, find_role
from mlm_vs_clm.arms.settings import check_arm
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report.cast import IN_WORDS, SIGHT
from mlm_vs_clm.report.style import COLOURS

ENTRY = '    "trigram_both": word_table("both", 3, draws=True),\n'
SETTINGS = "name: trigram_both\nwriter: trigram_both\ncontext: both\norder: left_to_right\n"
LINE = 'trigram_both: {line: "A table of three words."}\n'
USE = """
import json
from hydra import initialize_config_dir
from blankfill.text import BlankedText, find_words
from mlm_vs_clm.arms import baselines, roles, writing
from mlm_vs_clm.documents import Document
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.evidence.usefulness import find_kind
from mlm_vs_clm.pipeline import composing, recipes
from mlm_vs_clm.pipeline.config import register
from mlm_vs_clm.report import cast, style

splits = {"pretrain": "NEVER Read", "dev": "One Two Three."}
writing.load_split = lambda path, split: [Document("d", splits[split])]
writing.list_read = lambda inputs, read: [Document("d", "take Red pills now. take Red pills now. two Blue pills later.")]
said = {}
register()
with initialize_config_dir(str(composing.CONF), version_base="1.3"):
    recipe = recipes.generate(composing.compose(["arm=trigram_both"]))
    for mistake in ("arm.context=leaky", "arm.context=left", "arm.order=spread", "arm.length=free", "arm.name=my_table"):
        try:
            recipes.generate(composing.compose(["arm=trigram_both", mistake]))
        except StudyError as error:
            said[mistake] = str(error)
text = "take big pills now."
blanked = BlankedText("d", text, find_words(text), [1])
filled, *_ = writing.write_baseline(recipe.settings, [blanked], {"corpus": "corpus"})
role = roles.find_role("trigram_both temperature=1.0")
print(json.dumps({
    "inputs": [*recipe.inputs], "settings": [*recipe.settings], "fills": filled[0].fills, "refused": said,
    "role": [role.family, role.sees, role.line], "drawn": roles.find_role("trigram_both_sampled").line,
    "card": cast.Card("trigram_both", role, {}, 1).sight_words,
    "colour": style.looks(["trigram_both"])["trigram_both"]["color"], "kind": find_kind("trigram_both"),
    "floors": [*baselines.FLOORS["both"], *baselines.SAMPLED_FLOORS["both"]], "later": baselines.LATER_TABLES,
}))
"""


@pytest.fixture(scope="module")
def added(tmp_path_factory):
    """Return what a study knows of an arm that is added to a copy of the sources."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("conf", "src"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    arms = tree / "src/mlm_vs_clm/arms"
    before, head = (arms / "baselines.py").read_text(), "BASELINES = {\n"
    assert before.count(head) == 1
    (arms / "baselines.py").write_text(before.replace(head, head + ENTRY))
    (tree / "conf/arm/trigram_both.yaml").write_text(SETTINGS)
    with (arms / "cast.yaml").open("a") as cast:
        cast.write(LINE)
    environment = os.environ | {"PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-c", USE]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_an_added_table_counts_the_text_that_the_arms_were_trained_on(added):
    assert {"start", "corpus", "corruption"} < {*added["inputs"]} and "read" in added["settings"]
    assert added["fills"] == ["red"]


def test_an_added_table_has_its_card_and_is_a_floor_where_it_was_run(added):
    assert added["role"] == [TABLE, "both", "A table of three words."] and added["card"] == IN_WORDS["both"]
    assert added["drawn"] == "As trigram_both, but the word is drawn."
    assert added["colour"] == COLOURS[TABLE] and added["kind"] == "word table"
    assert {"trigram_both", "trigram_both_sampled"} <= {*added["floors"]} & {*added["later"]}


def test_settings_that_contradict_the_entry_are_refused(added):
    refused = added["refused"]
    assert "arm.context=leaky is not supported here, where it is always both" in refused["arm.context=leaky"]
    assert (
        "always left_to_right" in refused["arm.order=spread"] and "always none" in refused["arm.length=free"]
    )
    assert "arm my_table has no role" in refused["arm.name=my_table"] and "arm.context=left" in refused


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_has_a_role_a_colour_and_a_yaml_of_its_own_context(name):
    role, settings = find_role(name), yaml.safe_load((ROOT / f"conf/arm/{name}.yaml").read_text())
    assert COLOURS[role.family] and role.line and role.sees in SIGHT.keys() & IN_WORDS.keys()
    assert (role.family == CONTROL) == BASELINES[name].is_reference
    assert (settings["name"], settings["writer"]) == (name, name)
    assert settings.get("context", "none") == BASELINES[name].context
    assert settings.get("order", "none") == BASELINES[name].order


def test_every_arm_of_the_settings_has_a_role_and_every_one_that_draws_a_yaml():
    arms = {path.stem for path in (ROOT / "conf/arm").glob("*.yaml")}
    assert all(find_role(arm).line for arm in arms) and {*ARMS} <= arms


@pytest.mark.parametrize(
    ("name", "writer", "says"),
    [
        ("my_arm", "masked", "arm my_arm has no role: give it a line in mlm_vs_clm/arms/cast.yaml"),
        ("mlm", "unigram", "arm.name=mlm does not fit arm.writer=unigram"),
        ("unigram", "masked", "arm.name=unigram does not fit arm.writer=masked"),
        ("bigram_left", "bigram_both", "arm.name=bigram_left does not fit arm.writer=bigram_both"),
    ],
)
def test_a_name_without_a_role_or_of_another_kind_is_refused(name, writer, says):
    with pytest.raises(StudyError, match=says):
        check_arm({"name": name, "writer": writer})
