"""The plug-in is loaded by every pytest where cardshoe is installed, whatever its purpose."""

from __future__ import annotations

import runpy
import sys

import pytest_mock

from simulators.bench import plugin


def test_it_loads_without_the_extra_for_tests(mocker: pytest_mock.MockerFixture) -> None:
    """Otherwise it would stop every run of pytest in that environment, for any project."""
    mocker.patch.dict(sys.modules, {"pytest_asyncio": None})
    assert "bench" in runpy.run_path(plugin.__file__)
