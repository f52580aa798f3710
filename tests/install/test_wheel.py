"""The wheel contains everything that the daemon and the floor's page serve."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from controller.api.pages import ServedFiles
from controller.floor.page_server import page_files
from tests.architecture.sources import ROOT

SERVED = """
import controller
from controller.api.pages import ServedFiles
from controller.floor.page_server import page_files
print(controller.__file__, *ServedFiles().addresses, *page_files().addresses)
"""


def test_the_files_of_both_pages_are_in_the_wheel_and_served_from_it(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "installed")
    environment = {"PYTHONPATH": str(tmp_path / "installed")}
    asked = [sys.executable, "-c", SERVED]
    said = subprocess.run(asked, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True).stdout
    module, *served = said.split()
    assert module.startswith(str(tmp_path))
    assert served == [*ServedFiles().addresses, *page_files().addresses]
    assert {"/", "/display", "/console/index.html", "/floor/index.html"} <= set(served)
