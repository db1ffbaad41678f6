"""One report built from fake tables, and reports without figures, for all tests of this folder."""

from importlib import import_module

import pytest
from fake_tables import fake_about, fake_cards, fake_examples, fake_tables

from mlm_vs_clm.report.study_folder import Background

building = import_module("mlm_vs_clm.report.build")  # the package has a function of this name
ONE = ("abstracts",)


@pytest.fixture(scope="session")
def make_report():
    def make(tables, folder):
        building.build(tables, Background(fake_examples(ONE), fake_cards(ONE), fake_about()), folder)
        return folder

    return make


@pytest.fixture(scope="session")
def report(make_report, tmp_path_factory):
    return make_report(fake_tables(ONE), tmp_path_factory.mktemp("report"))


@pytest.fixture
def no_figures(monkeypatch):
    monkeypatch.setattr(building, "FIGURES", {})
