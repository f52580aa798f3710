"""Whatever a broker sends, a client keeps little of it, and a connection on which it lies ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress

import pytest

from controller.floor import BrokerError
from controller.floor.broker import MOST_WAITING, BrokerConnection, BrokerMessage, connected
from tests.end_to_end.processes import PATIENCE
from tests.floor.lying_broker import (
    CONNACK,
    CONNECT,
    MOST,
    PINGREQ,
    PINGRESP,
    SUBSCRIBE,
    LyingBroker,
    forever,
    length,
    lying,
    once,
    packet,
    publish,
)
from tests.floor.many_tables import quiet
from tests.floor.page_reader import running_page

TOPIC = "cardshoe/1/vienna/p1/nc-07/table"
LOOKS_EVERY = 0.001  # seconds
IN_SOCKETS = 16 * 1024 * 1024  # bytes that the kernel may hold for one connection
REPORT = publish(TOPIC, bytes(2000))

Attack = Callable[[], Iterator[bytes]]

TO_ANYONE: dict[str, Attack] = {
    "a packet of 250 MB": lambda: once(b"\x30" + length(250_000_000)),
    "an answer of 250 MB": lambda: once(b"\x40" + length(250_000_000)),
    "questions whether it is there": lambda: forever(PINGREQ),
    "answers to no question": lambda: forever(PINGRESP),
    "connections that are made again": lambda: forever(CONNACK),
    "acknowledgements of nothing": lambda: forever(packet(0x40, b"\x00\x07\x00\x00")),
    "subscriptions of nothing": lambda: forever(packet(0x90, b"\x00\x07\x00\x01")),
    "the second step of QoS 2": lambda: forever(packet(0x50, b"\x00\x07\x00\x00")),
    "the third step of QoS 2": lambda: forever(packet(0x62, b"\x00\x07\x00\x00")),
    "messages with QoS 2": lambda: (publish(TOPIC, bytes(60_000), 2, number) for number in range(1, 65536)),
    "messages with QoS 3": lambda: forever(publish(TOPIC, b"{}", 3)),
    "packets of no kind": lambda: forever(packet(0x00, b"")),
}


@asynccontextmanager
async def flooded(
    attack: Attack, after: int, takes: int, unacknowledged: int = 20, *, deaf: bool = False, answers: bool = True
) -> AsyncIterator[tuple[BrokerConnection, LyingBroker]]:
    async with lying(attack(), after, deaf=deaf, answers=answers) as (broker, address):
        with suppress(BrokerError):
            async with connected(address, "one", takes=takes, unacknowledged=unacknowledged) as connection:
                yield connection, broker


async def lied(connection: BrokerConnection) -> BrokerError:
    """Check that the connection ends, with a sentence that gives the reason."""
    async with asyncio.timeout(PATIENCE):
        return await asyncio.shield(connection.ended)


@pytest.mark.parametrize("attack", TO_ANYONE)
@pytest.mark.parametrize("takes", [0, 1 << 20])
async def test_an_unrequested_packet_ends_the_connection(attack: str, takes: int) -> None:
    async with flooded(TO_ANYONE[attack], CONNECT, takes) as (connection, broker):
        error = await lied(connection)
        assert error.code == "floor-lost"
        assert "broker" in str(error)
        assert broker.sent < IN_SOCKETS


async def test_a_client_without_subscriptions_accepts_no_message() -> None:
    """A table is such a client: messages that it does not read cost it nothing."""
    async with flooded(lambda: forever(REPORT), CONNECT, 0) as (connection, broker):
        error = await lied(connection)
        assert "message" in str(error)
        assert broker.sent < IN_SOCKETS
        assert connection.waiting(1) == []


async def test_a_client_that_does_not_read_keeps_a_limited_part() -> None:
    """A page under a flood is such a client: the rest waits at the broker."""
    async with flooded(lambda: forever(REPORT), SUBSCRIBE, 1 << 20) as (connection, broker):
        await connection.subscribe("cardshoe/1/#", qos=0)
        for _ in range(3):  # each one taken makes room
            await until(lambda: connection.is_full)
            assert connection.received.qsize() * len(REPORT) < 2 * MOST_WAITING
            connection.waiting(MOST)
        assert broker.sent < 4 * MOST_WAITING + IN_SOCKETS


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  # a thread of another library
            await asyncio.sleep(LOOKS_EVERY)


async def test_more_than_may_be_unacknowledged_ends_the_connection() -> None:
    def attack() -> Iterator[bytes]:
        return (publish(TOPIC, bytes(1000), 1, number) for number in range(1, 65536))

    async with flooded(attack, SUBSCRIBE, 1 << 20) as (connection, _):
        await connection.subscribe("cardshoe/1/#")
        error = await lied(connection)
        assert "40" in str(error)


async def test_a_broker_that_reads_no_acknowledgements_is_dropped() -> None:
    """The send queue is also limited, and closing does not wait for it."""

    def silence() -> Iterator[bytes]:
        return iter(())

    async with flooded(silence, CONNECT, 1 << 20, deaf=True) as (connection, _):
        for number in range(MOST):
            connection.acknowledge(BrokerMessage(TOPIC, b"", {}, False, number % 65535 + 1))
            await asyncio.sleep(0)
            if connection.ended.done():
                break
        assert "does not read" in str(connection.ended.result())


async def test_a_resumed_session_accepts_messages_before_the_answer() -> None:
    """A broker sends what it kept before it answers a subscription: more than is read at a time."""

    def kept() -> Iterator[bytes]:
        yield from (publish(TOPIC, bytes(1 << 20), 1, number) for number in range(1, 41))
        yield packet(0x90, b"\x00\x01\x00\x87")  # not authorised

    async with flooded(kept, CONNECT, 2 << 20, 50, answers=False) as (connection, _):
        await connection.subscribe("cardshoe/1/#")
        assert connection.is_full
        for _ in range(40):
            await connection.next()
        with pytest.raises(BrokerError, match="refuses a subscription"):
            await connection.next()


async def test_a_page_survives_messages_to_which_it_has_not_subscribed() -> None:
    """The question for a keeper, which nothing shows, and invalid topics."""
    odd = [publish(topic, b"{}") for topic in ("cardshoe/1/vienna/p1/nc-07/keeper", "cardshoe/1/a", "#", "x" * 60_000)]
    good = [publish(topic, payload) for topic, payload, _ in quiet(0).messages()]
    async with (
        lying(iter([*odd, *good]), SUBSCRIBE) as (_, address),
        running_page(address) as served,
        served.reader() as reader,
    ):
        await reader.until(lambda: len(reader.rows) == 1 and reader.contact["unread"] == len(odd))
        assert reader.contact["unread_first"].startswith("cardshoe/1/vienna/p1/nc-07/keeper: ")
        assert reader.contact["away_since"] == 0
