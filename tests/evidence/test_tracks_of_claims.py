"""A claim with the key `track` is asked in the studies of that track alone, which are asked no others."""

import yaml

from mlm_vs_clm.evidence.claims import hash_rules, list_asked, load_rules
from mlm_vs_clm.files import ROOT

MAIN = ("random", 0.5)


def write_rules(folder):
    rules = yaml.safe_load((ROOT / "conf/claims.yaml").read_text())
    rules = [rule for rule in rules if "track" not in rule]
    own = rules[0] | {"id": "F2", "statement": "Said elsewhere.", "track": ["continuation", "phases"]}
    file = folder / "claims.yaml"
    file.write_text(yaml.safe_dump([*rules, own]))
    return file


def test_a_study_of_the_paper_is_asked_the_claims_of_the_paper_by_the_same_hash(tmp_path):
    file = write_rules(tmp_path)
    rules = load_rules(file, MAIN)
    assert "F2" not in {rule["id"] for rule in rules} and list_asked(rules) == rules
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text())[:-1]))
    assert hash_rules(load_rules(file, MAIN)) == hash_rules(rules)


def test_a_study_with_claims_of_its_own_is_asked_these_and_keeps_the_pairs_of_the_others(tmp_path):
    rules = load_rules(write_rules(tmp_path), MAIN, "phases")
    assert [rule["id"] for rule in list_asked(rules)] == ["F2"]
    assert {"C1", "C9"} <= {rule["id"] for rule in rules}
