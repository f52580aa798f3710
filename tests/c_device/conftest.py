"""The device in C, compiled once a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.c_device.conversation import build


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory)
