"""Figures as SVG: bytes that depend on the figure alone, and a small form that stands in the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRID = "#e3e3e3"


def to_svg(figure: Figure) -> str:
    """Return a figure as SVG, without a date or a program version in it.

    Clips are numbered: matplotlib names them by their place, whose last bits may differ from run to run.
    """
    buffer = StringIO()
    clips: dict[str, str] = {}
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub(
        r'(?<=["#])p[0-9a-f]{10}(?=[")])',
        lambda clip: clips.setdefault(clip[0], f"clip{len(clips)}"),
        buffer.getvalue(),
    )


def inline(figure: Figure, marks: Sequence[tuple[str, str]] = (), name: str = "figure") -> Markup:
    """Return a figure as a part of the page: small, ids that begin with `name`, and points that take the focus and tell their numbers."""
    is_kept: list[bool] = []
    for background in (figure.patch, *(axes.patch for axes in figure.axes)):
        background.set_visible(False)
    svg = to_svg(figure)
    svg = re.sub(r"<(metadata|style).*?</\1>", "", svg[svg.index("<svg") :], flags=re.DOTALL)

    def group(tag: re.Match) -> str:
        """Return a tag of a group, nothing for a group that only has a name of matplotlib's."""
        if tag[0] == "</g>":
            return "</g>" if is_kept.pop() else ""
        is_kept.append(bool(tag[2]) or tag[0].count("=") > tag[0].count("id="))
        if not tag[2]:
            return tag[0] if is_kept[-1] else ""
        series, words = marks[int(tag[2])]
        label = f' class="point" tabindex="0" role="img" aria-label="{escape(words)}"'
        return f'<g data-series="{escape(series)}"{label if tag[1] == "point" else ""}>'

    svg = re.sub(r">\s+<", "><", re.sub(r"<[^>]+>", lambda tag: shorten(tag[0]), svg))
    svg = re.sub(r'<g\b(?: id="(point|part)-(\d+)")?[^>]*>|</g>', group, svg)
    svg = share_markers(svg)
    ids: dict[str, str] = {}
    svg = re.sub(
        r'(id="|url\(#|href="#)([^")]*)',
        lambda use: use[1] + ids.setdefault(use[2], f"{name}-{len(ids)}"),
        svg,
    )
    svg = re.sub(r'^<svg[^>]*?(viewBox="[^"]*")[^>]*>', r"<svg \1>", svg)
    width = figure.get_figwidth() * 72  # the units of the SVG
    return Markup(svg.replace("<svg", f'<svg style="--width:{width:g}px"', 1))  # noqa: S704 - made by matplotlib


def share_markers(svg: str) -> str:
    """Return an SVG that defines each marker once: matplotlib repeats it for every point that is drawn alone."""
    first: dict[str, str] = {}
    first_id: dict[str, str] = {}

    def define(marker: re.Match) -> str:
        first_id[marker[1]] = first.setdefault(marker[2], marker[1])
        return marker[0] if first_id[marker[1]] == marker[1] else ""

    svg = re.sub(r'<defs><path id="([^"]*)"([^>]*)></defs>', define, svg)
    return re.sub(r'(?<=href="#)[^"]*', lambda use: first_id.get(use[0], use[0]), svg)


def shorten(tag: str) -> str:
    """Return a tag of an SVG without what the style of the page says for all figures, numbers to a tenth of a point."""
    tag = re.sub(r"-?\d+\.\d{2,}", lambda number: f"{round(float(number[0]), 1):g}", " ".join(tag.split()))
    tag = re.sub(r"(?<=[:;]) | (?=[MLCQz] )|(?<=[MLCQ]) |xlink:", "", tag)
    if f"stroke:{GRID}" in tag:
        return re.sub(' (clip-path|style)="[^"]*"', "", tag).replace("<path", '<path class="grid"')
    if tag.startswith("<use"):
        return re.sub(r';?stroke[^;"]*| style="stroke[^"]*"', "", tag)  # the path that is used has it
    return re.sub(
        r'(font-size:10px|font-family|stroke-linecap:square)[^;"]*;?| transform="rotate\(-0 .*?\)"', "", tag
    )
