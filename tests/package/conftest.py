"""Shared fixtures of the package's tests: three builds and a bare Debian 12, all made in parallel."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.package.bare_root import BareRoot, build, debootstrap, may_enter

OLDER = "0.0.9"
"""The version before: the same sources under a lower number."""


class Making(NamedTuple):
    """A Debian in the making. `folder` gets `root.tar`, and `log` with the output."""

    folder: Path
    process: subprocess.Popen[bytes]


class Made(NamedTuple):
    """Built packages. `again`: the same as `package`, built in another folder by a process with other settings."""

    package: Path
    again: Path
    older: Path


@pytest.fixture(scope="session")
def making(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Making | None]:
    """Start making a Debian in the background, where one of the selected tests needs it."""
    entered = any("debian" in getattr(item, "fixturenames", ()) for item in request.session.items)
    if not entered or not may_enter() or shutil.which("mmdebstrap") is None:
        yield None
        return
    folder = tmp_path_factory.mktemp("debian")
    with debootstrap(folder / "root.tar", folder / "log") as process:
        yield Making(folder, process)
        process.terminate()  # where nobody waited for it


def _package(building: subprocess.Popen[str]) -> Path:
    said, errors = building.communicate(timeout=900)
    assert building.returncode == 0, errors
    return Path(said.strip())


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, making: Making | None) -> Made:
    folders = [tmp_path_factory.mktemp(name) for name in ("first", "second-with-a-longer-name", "older")]
    habits = {"TZ": "Asia/Macau", "LC_ALL": "C", "PYTHONHASHSEED": "7", "TMPDIR": str(folders[1])}
    before = os.umask(0o077)
    try:
        other = build(folders[1] / "below", **habits)
    finally:
        os.umask(before)
    running = [build(folders[0]), other, build(folders[2], "--version", OLDER)]
    return Made(*(_package(one) for one in running))


@pytest.fixture(scope="session")
def tree(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the content of the package."""
    folder = tmp_path_factory.mktemp("tree")
    subprocess.run(["dpkg-deb", "-R", str(made.package), str(folder)], check=True)
    return folder


@pytest.fixture(scope="session")
def debian(making: Making | None) -> BareRoot:
    assert making is not None, "mmdebstrap is required"
    folder = making.folder
    assert making.process.wait(900) == 0, (folder / "log").read_text("utf-8", errors="replace")[-4000:]
    root = BareRoot(folder / "root")
    root.path.mkdir()
    subprocess.run(["tar", "-xf", str(folder / "root.tar"), "-C", str(root.path)], check=True)
    (folder / "root.tar").unlink()
    return root


@pytest.fixture
def bare(debian: BareRoot, tmp_path: Path) -> BareRoot:
    return debian.copied(tmp_path / "root")


@pytest.fixture(scope="session")
def with_older(debian: BareRoot, made: Made, tmp_path_factory: pytest.TempPathFactory) -> BareRoot:
    root = debian.copied(tmp_path_factory.mktemp("older") / "root")
    root.run(f"dpkg -i {root.take(made.older)}")
    return root


@pytest.fixture
def installed(with_older: BareRoot, tmp_path: Path) -> BareRoot:
    """Return a Debian in which the previous version is installed."""
    return with_older.copied(tmp_path / "root")
