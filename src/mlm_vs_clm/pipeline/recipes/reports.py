"""Recipes of the whole study: quality against utility, and the report."""

from dataclasses import asdict
from pathlib import Path

from ...files import hash_of
from ..artifacts import Recipe
from ..config import Config
from ..variants import list_settings
from .versions import make_recipe

OWN = "own"  # the scale of a user's texts, of which the claims are not asked
SHOWN = ("title", "question", "starts_from", "panels", "reference")  # of a track, by the report


def correlate(config: Config, cells: dict[str, Recipe]) -> Recipe:
    """Return the recipe of quality against utility; of `cells`, it reads scores and downstream results."""
    cells = {name: recipe for name, recipe in cells.items() if name.startswith(("score/", "downstream/"))}
    return make_recipe("correlate", {"bound": config.scoring.bound}, cells)


def report(config: Config, cells: dict[str, Recipe], corpora: list[str], rules: list[dict]) -> Recipe:
    """Return the recipe of the tables, figures and page; `rules` decide the verdicts, examples are of `corpora`."""
    settings: dict = {"scale": config.scale.name, "examples": corpora, "rules": rules}
    settings |= {"track": config.track.name} if config.track.name != "matched" else {}
    settings |= {"variants": varied} if (varied := list_settings(config.scale.grid)) else {}
    shown_of_track = [key for key in SHOWN if key != "starts_from" or config.scale.name != OWN]
    settings |= {key: value for key in shown_of_track if (value := asdict(config.track)[key])}
    main = {"strategy": config.scale.main.label, "ratio": config.scale.main.ratio}
    settings |= {"resamples": max(config.scale.resamples, 2000), "main": main}
    if config.scale.minutes:
        settings |= {"minutes": config.scale.minutes, "token_budget": config.scale.training.token_budget}
    if (ratings := Path(config.results) / "ratings" / "ratings.csv").is_file():
        settings["ratings"] = {"path": str(ratings), "sha256": hash_of(ratings)}
    return make_recipe("report", settings | {"bound": config.scoring.bound}, cells)
