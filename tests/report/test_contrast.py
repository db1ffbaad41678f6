"""The two pages can be read by people who see little contrast: WCAG 2.2, success criterion 1.4.3 (4.5 to 1 for text)."""

import re
from pathlib import Path

import pytest

import mlm_vs_clm

PACKAGE = Path(mlm_vs_clm.__file__).parent
STYLES = {
    "report.html": PACKAGE / "report/templates/style.css",
    "rating sheet": PACKAGE / "ratings/templates/sheet.css",
}
ENOUGH = 4.5


def luminance(colour: str) -> float:
    """Return the relative luminance (0-1) of #rgb or #rrggbb."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio (1-21) of two colours."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def read_colours(css: str, scheme: str = "light") -> tuple[set[str], set[str]]:
    """Return the colours of text and of backgrounds of a style sheet in a colour scheme."""
    dark = re.search(r"@media \(prefers-color-scheme: dark\) \{.*?\n\}\n", css, re.DOTALL)
    css = css.replace(dark[0], "") + (dark[0] if scheme == "dark" else "") if dark else css
    named = dict(re.findall(r"(--[a-z]+):\s*(#[0-9a-fA-F]{3,6})\b", css))

    def find(what: str) -> set[str]:
        used = re.findall(rf"(?<![-\w]){what}:\s*(var\((--[a-z]+)\)|#[0-9a-fA-F]{{3,6}}\b)", css)
        return {named[name] if name else colour for colour, name in used}

    return find("color"), find("background") | ({"#fff"} if scheme == "light" else set())


def test_the_ratios_of_the_standard():
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.01)  # the well-known grey that just fails


@pytest.mark.parametrize("page", STYLES)
def test_text_stands_out_from_every_background_it_can_have(page):
    texts, backgrounds = read_colours(STYLES[page].read_text())
    light = {colour for colour in backgrounds if luminance(colour) > 0.5}
    dark_text = {colour for colour in texts if luminance(colour) < 0.5}
    assert len(dark_text) >= 2 and len(light) >= 2
    weak = {(t, b): contrast(t, b) for t in dark_text for b in light if contrast(t, b) < ENOUGH}
    assert not weak
    for colour in texts - dark_text:
        assert max(contrast(colour, dark) for dark in backgrounds - light) >= ENOUGH


def test_text_stands_out_in_the_dark_too():
    texts, backgrounds = read_colours(STYLES["report.html"].read_text(), "dark")
    dark = {colour for colour in backgrounds if luminance(colour) < 0.1}
    light_text = {colour for colour in texts if luminance(colour) > 0.2}
    assert len(light_text) >= 3 and len(dark) >= 4
    assert not {(t, b) for t in light_text for b in dark if contrast(t, b) < ENOUGH}
    for colour in texts - light_text:
        assert max(contrast(colour, light) for light in backgrounds - dark) >= ENOUGH
