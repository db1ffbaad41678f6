"""A browser without a window, where one is installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((path for name in NAMES if (path := shutil.which(name))), None)
needs_browser = pytest.mark.skipif(not BROWSER, reason=f"no browser: none of {', '.join(NAMES)} is installed")


def open_page(address: str, folder: Path, *options: str) -> str:
    """Return the HTML of a page after its scripts have run; the console has to stay empty."""
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    command += [
        f"--user-data-dir={folder / 'profile'}",
        "--enable-logging=stderr",
        "--virtual-time-budget=5000",
    ]
    done = subprocess.run(
        [*command, *options, "--dump-dom", address], capture_output=True, text=True, timeout=300
    )
    assert "CONSOLE" not in done.stderr, done.stderr[-2000:]
    return done.stdout
