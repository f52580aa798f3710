"""The skeleton of docs/a_new_driver.md passes its own tests with only the installed packages at hand."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

SKELETON = ("skeleton_driver.py", "skeleton_device.py", "test_skeleton_driver.py")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the three packages that the wheel installs."""
    folder = tmp_path_factory.mktemp("installed")
    for name in ("firmware_bridge", "controller", "simulators"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


@pytest.fixture
def package(tmp_path: Path, installed: Path) -> Path:
    """Return a driver's own folder."""
    for name in SKELETON:
        shutil.copy(ROOT / "docs" / name, tmp_path)
    (tmp_path / "installed").symlink_to(installed)
    return tmp_path


def run(package: Path) -> subprocess.CompletedProcess[str]:
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "test_skeleton_driver.py"]
    environment = {"PYTHONPATH": "installed:.", "PATH": "/usr/bin:/bin"}
    return subprocess.run(tests, cwd=package, env=environment, capture_output=True, text=True)


def test_the_skeleton_passes_the_conformance_tests(package: Path) -> None:
    ended = run(package)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert " passed" in ended.stdout


@pytest.mark.parametrize(
    ("right", "wrong", "found_by"),
    [
        ("self._line + data", "data", "in_any_pieces"),
        ('yield not_understood("a line that is damaged, or none of this device", line)', "yield from ()", "damage"),
        ("yield Decoded(GapSuspected", "Decoded(GapSuspected", "lines_mean"),
        ("if word in _SAYS", "if False", "lines_mean"),
        ("self._give_up_at = now + ENDS_WITHIN if self._line else math.inf", "pass", "does_not_end"),
    ],
)
def test_its_tests_find_a_mistake_in_it(package: Path, right: str, wrong: str, found_by: str) -> None:
    driver = package / "skeleton_driver.py"
    text = driver.read_text("utf-8")
    assert text.count(right) == 1
    driver.write_text(text.replace(right, wrong), "utf-8")
    ended = run(package)
    failed = [line for line in ended.stdout.splitlines() if line.startswith("FAILED")]
    assert ended.returncode == 1
    assert any(found_by in line for line in failed), ended.stdout
