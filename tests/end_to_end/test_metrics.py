"""The metrics of a running daemon: who may read them, and that they count."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import aiohttp
import pytest

from tests.end_to_end.browser import DEALER, Browser, free_port, port_of
from tests.end_to_end.stage import Stage, short_folder
from tests.interfaces.test_metrics import samples


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder) as made:
            made.configure(law=f"[api.http]\nport = {free_port()}\n")
            await made.start_daemon()
            yield made


async def at_socket(stage: Stage) -> dict[str, float]:
    connector = aiohttp.UnixConnector(str(stage.socket))
    async with aiohttp.ClientSession(connector=connector) as session, session.get("http://table/metrics") as answered:
        assert answered.status == 200
        assert answered.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return samples(await answered.text())


async def test_a_screen_may_read_metrics_and_a_display_may_not(stage: Stage) -> None:
    async with Browser(await port_of(stage)) as browser:
        for verb in ("GET", "HEAD"):
            assert (await browser.ask(verb, "/metrics")).status == 403
        browser.cookie = f"cardshoe-T-1-{browser.port}={'0' * 64}"
        assert (await browser.ask("GET", "/metrics")).code == "display"
        browser.cookie = ""
        assert (await browser.enrol()).json["accepted"]
        answered = await browser.ask("GET", "/metrics")
        assert answered.status == 200
        assert b'cardshoe_build_info{game="NC"' in answered.body


async def test_acts_at_a_screen_are_counted(stage: Stage) -> None:
    async with Browser(await port_of(stage)) as browser:
        await browser.enrol()
        assert (await browser.operate("sign_on", DEALER)).json["accepted"]
        assert (await browser.operate("pause_table", reason="lunch")).json["accepted"]
        assert (await browser.operate("pause_table", DEALER, pin="000000", reason="x")).code == "pin"
        assert (await browser.operate("conclude_round")).json["code"]
        found = await at_socket(stage)
    assert found['cardshoe_operations_accepted_total{operation="pause_table"}'] == 1
    assert found["cardshoe_wrong_pins_total"] == 1
    assert any(name.startswith("cardshoe_operations_refused_total") for name in found)
    assert min(found["cardshoe_decision_seconds_count"], found["cardshoe_commit_seconds_count"]) >= 5
    assert found["cardshoe_journal_bytes"] > 0
    assert found["cardshoe_uptime_seconds"] > 0
    assert (found["cardshoe_ready"], found["cardshoe_device_silence_seconds"]) == (0, float("inf"))


# -- headers that a proxy would add


FORGED: Final = (
    {"X_Forwarded_For": "127.0.0.1", "X_Real_IP": "127.0.0.1", "X_Forwarded_User": "sam", "Remote_User": "sam"},
    {"Forwarded": "for=127.0.0.1;host=localhost;proto=https", "X_Forwarded_Proto": "https"},
    {"Authorization": "Basic c2FtOjUyNzE5MA==", "X_Forwarded_Host": "localhost"},
)


@pytest.mark.parametrize("headers", FORGED, ids=["user", "forwarded", "authorization"])
async def test_forged_headers_make_no_screen_of_a_display(stage: Stage, headers: dict[str, str]) -> None:
    async with Browser(await port_of(stage)) as display:
        assert (await display.operate("pause_table", DEALER, headers=headers, reason="x")).code == "not-enrolled"
        assert (await display.ask("GET", "/metrics", **headers)).code == "display"
        enrolled = await display.enrol(headers=headers)
        assert enrolled.json["accepted"]
        assert "Secure" not in enrolled.headers["Set-Cookie"], "by the name that it calls, no proxy is in front"
