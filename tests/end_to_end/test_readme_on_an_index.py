"""README as a package index shows it: no link is relative, with a URL of the source and without."""

import re
from importlib.util import module_from_spec, spec_from_file_location

from mlm_vs_clm.files import ROOT

SPEC = spec_from_file_location("setup_of_the_package", ROOT / "setup.py")
setup = module_from_spec(SPEC)
SPEC.loader.exec_module(setup)
README = (ROOT / "README.md").read_text(encoding="utf-8")


def list_targets(text):
    return re.findall(r"\]\(([^)\s]+)\)", text)


def test_without_a_url_a_link_is_its_words_and_its_path():
    shown = setup.describe(README)
    assert all(target.startswith("https://") for target in list_targets(shown))
    assert "[method](docs/method.md)" in README and "method (`docs/method.md`)" in shown
    assert "<!--" not in shown and "![" not in shown


def test_with_a_url_every_file_is_linked_there():
    shown = setup.describe(README, "https://example.org/a/")
    assert len(list_targets(shown)) == len(list_targets(README))
    assert "[method](https://example.org/a/blob/main/docs/method.md)" in shown
    assert "(https://example.org/a/raw/main/results/figures/answer.svg)" in shown


def test_what_is_no_link_stays():
    assert "\n```python\n" in setup.describe(README)
    assert setup.describe("[here](#there) and [b](https://b.org)") == "[here](#there) and [b](https://b.org)"
