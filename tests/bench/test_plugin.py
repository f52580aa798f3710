"""The plug-in is loaded by every pytest where cardshoe is installed, whatever it is run for."""

from __future__ import annotations

import runpy
import sys

import pytest_mock

from simulators.bench import plugin


def test_it_loads_where_the_extra_for_tests_is_not_installed(mocker: pytest_mock.MockerFixture) -> None:
    """Otherwise it would end every run of pytest there, of any project."""
    mocker.patch.dict(sys.modules, {"pytest_asyncio": None})
    assert "bench" in runpy.run_path(plugin.__file__)
