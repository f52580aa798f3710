"""A browser for the tests of the console: Debian's, so that nothing is downloaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.console.page_server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import (
        sync_playwright,
    )  # starts a process, so it is imported only where a browser is needed

    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer() as serving:
        yield serving
