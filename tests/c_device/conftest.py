"""Fixtures: the device in C, compiled once in a session, and one device of each kind, whose time `tick` advances."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.c_device.conversation import CDevice, build
from tests.c_device.small_host import KEY


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory)


@pytest.fixture
def shuffler(program: Path) -> Iterator[CDevice]:
    with CDevice(program, "shuffler", "C-1", KEY, virtual=True) as device:
        yield device


@pytest.fixture
def shoe(program: Path) -> Iterator[CDevice]:
    with CDevice(program, "shoe", "C-2", KEY, virtual=True) as device:
        yield device
