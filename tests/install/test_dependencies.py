"""Everything that is installed is pinned by version and hash, and every dependency has its reason."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

import pytest

from tests.architecture.sources import ROOT

FILES: Final = ("requirements.txt", "requirements-floor.txt", "requirements-report.txt", "requirements-test.txt")
QR: Final = "requirements-qr.txt"  # that extra's packages alone
BUILD: Final = "requirements-build.txt"
OF_MATPLOTLIB: Final = {"packaging"}  # it needs one of the build requirements
EXTRAS: Final = {
    "requirements-floor.txt": ("floor",),
    "requirements-report.txt": ("audit", "report"),
    "requirements-test.txt": ("audit", "floor", "qr", "report", "test"),
}
PINNED: Final = re.compile(r"([a-z0-9-]+)==([0-9][0-9a-z.]*)((?: --hash=sha256:[0-9a-f]{64})+)", re.ASCII)


def pinned(name: str) -> dict[str, str]:
    """Return the versions in a file, which holds only names, versions and hashes: no address, no path, no option."""
    lines = (ROOT / name).read_text("utf-8").replace(" \\\n   ", "").splitlines()
    found = [PINNED.fullmatch(line) for line in lines]
    assert lines
    assert all(found), [line[:80] for line, match in zip(lines, found, strict=True) if not match]
    return {match[1]: match[2] for match in found if match}


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9_-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def test_the_test_requirements_include_those_of_the_program() -> None:
    runs, floor, reports, tests = map(pinned, FILES)
    assert runs.items() <= floor.items() <= tests.items()
    assert runs.items() <= reports.items() <= tests.items()
    assert pinned(BUILD).items() <= tests.items()
    assert pinned(QR).items() <= tests.items()


def test_the_programs_requirements_exclude_those_of_the_build() -> None:
    for name in FILES[:3]:
        assert pinned(name).keys() & pinned(BUILD).keys() <= (OF_MATPLOTLIB if "report" in name else set()), name


@pytest.mark.parametrize("name", FILES)
def test_every_dependency_is_pinned(name: str) -> None:
    of_project = project()["project"]
    wanted = list(of_project["dependencies"])
    for extra in EXTRAS.get(name, ()):
        wanted += of_project["optional-dependencies"][extra]
    assert {name_of(one) for one in wanted} <= pinned(name).keys()


def test_the_build_is_the_pinned_one() -> None:
    (build,) = project()["build-system"]["requires"]
    assert build == f"hatchling=={pinned(BUILD)['hatchling']}"


def test_every_dependency_has_its_reason_on_the_page() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    rows = {name.strip() for row in re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE) for name in row.split(",")}
    of_project = project()["project"]
    extras = [one for extra in of_project["optional-dependencies"].values() for one in extra]
    assert {name_of(one) for one in (*of_project["dependencies"], *extras)} <= rows
    for name in (*pinned("requirements.txt"), *pinned(BUILD)):
        assert re.search(rf"\b{name}\b", page), name
