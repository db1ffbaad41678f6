"""Compositions of settings, each made once in a test process: Hydra takes a quarter of a second for one."""

import os
from copy import deepcopy
from pathlib import Path

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

_compose, _load, _parse = hydra.compose, OmegaConf.load, OverridesParser.parse_rule
_made, _read, _parsed = {}, {}, {}


def compose_once(config_name, overrides=(), **more):
    """Return what Hydra composes from the files of its search path as they are now; not to be changed."""
    places = [element.path for element in GlobalHydra.instance().config_loader().get_search_path().get_path()]
    folders = [Path(place.removeprefix("file://")) for place in places if place]
    files = tuple(
        (str(file), file.stat().st_mtime_ns) for folder in folders for file in sorted(folder.rglob("*.yaml"))
    )
    key = (config_name, tuple(overrides), repr(more), files)
    if key not in _made:
        _made[key] = _compose(config_name, overrides, **more)
    return _made[key]


def load_once(file):
    """Return the settings of a YAML file, which Hydra parses anew for every composition; an open file is parsed once."""
    if not (hasattr(file, "fileno") and hasattr(file, "name")):
        return _load(file)
    key = (file.name, os.fstat(file.fileno()).st_mtime_ns)
    if key not in _read:
        _read[key] = _load(file)
    return deepcopy(_read[key])


def parse_once(parser, text, rule):
    """Return what Hydra's grammar makes of an override."""
    if (text, rule) not in _parsed:
        _parsed[text, rule] = _parse(parser, text, rule)
    return deepcopy(_parsed[text, rule])


def spare_compositions():
    """Let Hydra compose and read settings once; its store of schemas, which it copies each time, is what it was."""
    hydra.compose = compose_once
    OmegaConf.load = staticmethod(load_once)
    OverridesParser.parse_rule = parse_once
    ConfigStore.__deepcopy__ = lambda store, memo: store  # `load` gives a copy of each schema


def name_models(cells):
    """Return the names of the models that a study trains; each is trained from the start that it names."""
    trained = [
        (name.split("/")[-2], recipe) for name, recipe in cells.items() if name.startswith("pretrain/")
    ]
    assert all(name == recipe.inputs["start"].settings["name"] for name, recipe in trained)
    return {name for name, _ in trained}
