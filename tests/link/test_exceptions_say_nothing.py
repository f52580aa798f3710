"""An exception's text may name a card: log, screen and API get type and place only, the sealed journal everything."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import pytest
import structlog

from controller.table.inputs import DeviceGone
from firmware_bridge.commands import AnyCommand, HoldExit
from firmware_bridge.drivers.cardlink.host import CardlinkHost
from firmware_bridge.errors import LONGEST_TRACEBACK, place_of, sealed_traceback, type_and_place
from firmware_bridge.link_keeper import LinkState
from tests.support.journal_codec import table_codec

from .parts import KEY, SERIAL, Bench, Desk, HandClock, running

Logs = list[MutableMapping[str, Any]]
FACE = "4H of hearts"


@pytest.fixture(autouse=True)
def logs() -> Iterator[Logs]:
    with structlog.testing.capture_logs() as lines:
        yield lines


class Quoting(CardlinkHost):
    """A driver that fails as careless ones do: the error quotes its input."""

    def command(self, command_id: int, command: AnyCommand, now: float) -> None:
        int(FACE.encode())


async def test_a_drivers_error_that_names_a_card(logs: Logs) -> None:
    desk = Desk()
    clock = HandClock(desk.changes)
    bench = Bench(
        desk, clock, make_driver=lambda now: Quoting(nonce=bytes(16), key_of={SERIAL: KEY}.get, held=(0, 0), now=now)
    )
    async with running(bench.keeper):
        await desk.until_state(LinkState.READY)
        bench.keeper.command(1, HoldExit())
        await desk.changes.until(lambda: bool(desk.ends))
    (fault,) = [line for line in logs if line["event"] == "link.fault"]
    assert fault["error"] == "ValueError"
    assert fault["place"].startswith("firmware_bridge.link:")
    assert FACE not in repr(logs)
    assert "exc_info" not in repr(logs)
    assert FACE not in repr(desk.healths)
    end = desk.ends[0]
    assert "ValueError at firmware_bridge.link:" in str(end.sentence)
    assert end.evidence is not None
    assert FACE.encode() in end.evidence.open(), "an audit finds it"


def test_the_journal_seals_it_and_the_api_does_not_get_it() -> None:
    try:
        int(FACE)
    except ValueError as error:
        given = DeviceGone("link-fault", "The program failed.", evidence=sealed_traceback(error))
    codec = table_codec()
    written = codec.encode(1, given, (), 1)
    assert FACE.encode() not in written.input + written.sealed
    assert codec.decode_input(1, written.input, written.sealed) == given


def test_place_and_bounds() -> None:
    with pytest.raises(ValueError, match="invalid literal") as raised:
        int("x" * 3 * LONGEST_TRACEBACK)
    assert place_of(raised.value) == "unknown", "no line of this project raised it"
    assert type_and_place(raised.value) == "ValueError at unknown"
    assert len(sealed_traceback(raised.value).open()) <= LONGEST_TRACEBACK
