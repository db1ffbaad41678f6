"""Compositions of settings, each made once in a test process: Hydra takes a quarter of a second for one."""

from pathlib import Path

import hydra
from hydra.core.global_hydra import GlobalHydra

_compose, _made = hydra.compose, {}


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
