"""Screens at the TCP port of a real daemon: who may look, who operates, and what a page of others cannot do."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator

import pytest

from controller.table import events
from tests.end_to_end.browser import DEALER, HTTP, SUPERVISOR, Browser, port_of
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.stage import Stage, short_folder


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder) as made:
            made.configure(law=HTTP)
            yield made


@pytest.fixture
async def screen(stage: Stage) -> AsyncIterator[Browser]:
    """Enrolled, at a daemon that runs."""
    await stage.start_daemon()
    async with Browser(port_of(stage)) as browser:
        assert (await browser.enrol()).json["accepted"]
        yield browser


@pytest.fixture
async def signed_on(screen: Browser) -> Browser:
    """By the dealer."""
    assert (await screen.operate("sign_on", DEALER)).json["accepted"]
    return screen


async def test_a_display_sees_the_table_and_the_page(stage: Stage) -> None:
    await stage.start_daemon()
    async with Browser(port_of(stage)) as display:
        assert (await display.state())["table"] == "T-1"
        for path, kind in (("/", "text/html"), ("/display", "text/html"), ("/console/index.html", "text/html")):
            page = await display.ask("GET", path)
            assert (page.status, page.headers["Content-Type"]) == (200, f"{kind}; charset=utf-8")
            assert "require-trusted-types-for 'script'" in page.headers["Content-Security-Policy"]
            again = await display.ask("GET", path, If_None_Match=page.headers["ETag"])
            assert (again.status, again.body) == (304, b"")
        assert (await display.ask("GET", "/healthz")).body == b"ok\n"


async def test_a_screen_is_enrolled_and_a_dealer_signs_on(stage: Stage, signed_on: Browser) -> None:
    assert (await signed_on.operate("pause_table", reason="lunch")).json["accepted"]
    assert (await signed_on.state())["paused"] == "lunch"
    assert await stage.daemon.end() == 0
    evidence = Evidence(stage)
    (enrolled,) = evidence.of(events.ScreenEnrolled)
    token = signed_on.cookie.partition("=")[2]
    assert (enrolled.name, enrolled.token_hash) == ("Left", hashlib.sha256(token.encode()).hexdigest())
    taken = [(one.operation, one.person, one.proven, one.screen) for one in evidence.of(events.OperationTaken)]
    assert taken == [
        ("enrol_screen", SUPERVISOR.id, "pin", ""),
        ("sign_on", DEALER.id, "pin", enrolled.screen),
        ("pause_table", DEALER.id, "screen", enrolled.screen),
    ]
