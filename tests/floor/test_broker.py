"""A connection to a real broker: what is acknowledged was delivered, and a refusal has a reason."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random

import pytest

from controller.floor import BrokerError
from controller.floor.address import Address, BadBrokerError, Broker, parse_broker
from controller.floor.broker import BrokerConnection, BrokerMessage, Will, connected
from simulators.ports.tcp import close
from tests.end_to_end.browser import free_port
from tests.end_to_end.processes import PATIENCE
from tests.floor.certificates import Authority
from tests.floor.mosquitto import Mosquitto, mosquitto

TAKES = 1 << 20  # bytes
pytestmark = pytest.mark.tool("mosquitto")


@asynccontextmanager
async def reading(
    broker: Broker, *filters: str, name: str = "reader", keeps: int = 0
) -> AsyncIterator[BrokerConnection]:
    async with connected(broker, name, keeps=keeps, takes=TAKES) as connection:
        await connection.subscribe(*filters)
        yield connection


async def received(connection: BrokerConnection, count: int) -> list[BrokerMessage]:
    async with asyncio.timeout(PATIENCE):
        return [await connection.next() for _ in range(count)]


async def refusal(broker: Broker, topic: str = "a/b", will: Will | None = None) -> BrokerError:
    """Return the code and sentence with which a connection is refused."""
    with pytest.raises(BrokerError) as found:
        async with connected(broker, "writer", will=will) as connection:
            await connection.publish(topic, b"{}")
    assert found.value.hint
    return found.value


async def test_messages_arrive_in_order_with_their_properties(tmp_path: Path) -> None:
    async with mosquitto(tmp_path) as found, reading(found.broker, "a/+") as reader:
        async with connected(found.broker, "writer") as writer:
            for number in range(300):  # more than may wait for an acknowledgement
                await writer.publish("a/b", b"%d" % number, [("hash", "1f"), ("record", "head")])
        for number in range(300):
            (one,) = await received(reader, 1)
            assert (one.topic, one.payload, one.about) == ("a/b", b"%d" % number, {"hash": "1f", "record": "head"})
            reader.acknowledge(one)


async def test_unread_messages_count_as_undelivered(tmp_path: Path) -> None:
    async with mosquitto(tmp_path) as found:
        assert (await refusal(found.broker)).code == "floor-unread"
        async with connected(found.broker, "writer") as writer:
            await writer.publish("a/state", b"{}", retained=True)  # it waits for a subscriber
        async with reading(found.broker, "a/state") as reader:
            (one,) = await received(reader, 1)
            assert one.is_retained


async def test_unacknowledged_messages_are_repeated(tmp_path: Path) -> None:
    async with mosquitto(tmp_path) as found, connected(found.broker, "writer") as writer:
        async with reading(found.broker, "a/b", keeps=60) as reader:
            for number in range(3):
                await writer.publish("a/b", b"%d" % number)
            first, *_ = await received(reader, 3)
            reader.acknowledge(first)
            await writer.publish("a/c", b"", retained=True)
        await writer.publish("a/b", b"3")  # while the reader is away
        async with reading(found.broker, "a/b", keeps=60) as reader:
            assert [one.payload for one in await received(reader, 3)] == [b"1", b"2", b"3"]


async def test_the_broker_reports_a_client_that_vanished(tmp_path: Path) -> None:
    async with mosquitto(tmp_path) as found, reading(found.broker, "a/will") as reader:
        async with connected(found.broker, "writer", will=Will("a/will", b"gone", 0)) as writer:
            async with connected(found.broker, "writer"):  # a client with the same name replaces it
                (one,) = await received(reader, 1)
                assert one.payload == b"gone"
            await asyncio.wait({writer.ended})
            with pytest.raises(BrokerError):
                writer.check()
        async with connected(found.broker, "writer", will=Will("a/will", b"gone", 0)) as writer:
            await writer.publish("a/will", b"stopped")
        (one,) = await received(reader, 1)
        assert one.payload == b"stopped"
        assert reader.received.empty()


async def test_a_failing_client_is_reported_unless_it_returns_in_time(tmp_path: Path) -> None:
    async with mosquitto(tmp_path) as found, reading(found.broker, "a/will") as reader:
        with suppress(ZeroDivisionError):
            async with connected(found.broker, "writer", will=Will("a/will", b"gone", 0)):
                raise ZeroDivisionError
        (one,) = await received(reader, 1)
        assert one.payload == b"gone"
        reader.acknowledge(one)
        with suppress(ZeroDivisionError):
            async with connected(found.broker, "writer", will=Will("a/will", b"late", 3600)):
                raise ZeroDivisionError
        async with connected(found.broker, "writer", will=Will("a/will", b"late", 3600)) as writer:
            await writer.publish("a/will", b"back")
        (one,) = await received(reader, 1)
        assert one.payload == b"back"


async def test_a_broker_that_is_killed_ends_the_connection(tmp_path: Path) -> None:
    async with mosquitto(tmp_path) as found:
        async with reading(found.broker, "a/b") as reader:
            await found.kill()
            with pytest.raises(BrokerError) as lost:
                await reader.next()
        assert lost.value.code == "floor-lost"
        assert (await refusal(found.broker)).code == "floor-unreachable"
        await found.start()
        async with reading(found.broker, "a/b"):
            pass


async def test_a_message_refused_by_the_access_list_is_undelivered(tmp_path: Path) -> None:
    (tmp_path / "acl").write_text("topic read a/#\ntopic write a/own\n")
    async with mosquitto(tmp_path, f"acl_file {tmp_path / 'acl'}") as found, reading(found.broker, "a/#") as reader:
        assert (await refusal(found.broker, "a/other")).code == "floor-refused"
        async with connected(found.broker, "writer") as writer:
            await writer.publish("a/own", b"{}")
        (one,) = await received(reader, 1)
        assert one.topic == "a/own"


class Nobody:
    """A server that never answers, or answers what no broker would."""

    def __init__(self, answer: bytes = b"") -> None:
        self.port = free_port()
        self._answer = answer

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Broker]:
        ended = asyncio.Event()

        async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(self._answer)
            await ended.wait()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", self.port)
        try:
            yield Broker(Address("127.0.0.1", self.port, False), None)
        finally:
            ended.set()
            await close(server)


async def test_a_listening_program_that_is_not_a_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.floor.broker.ANSWERS_WITHIN", 0.2)
    async with Nobody().open() as silent:
        assert (await refusal(silent)).code == "floor-unreachable"
    async with Nobody(b"HTTP/1.1 400 Bad Request\r\n\r\n").open() as other:
        assert (await refusal(other)).code in ("floor-refused", "floor-unreachable")


@pytest.mark.parametrize("seed", range(20))
async def test_an_invalid_packet_ends_the_connection_with_a_sentence(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a valid answer come invalid packets: the thread ends without an exception."""
    monkeypatch.setattr("controller.floor.broker.ANSWERS_WITHIN", 0.2)
    random = Random(seed)
    kind = random.choice((0x30, 0x32, 0x40, 0x50, 0x90, 0xB0, 0xD0, 0xE0, 0xF0))
    rest = random.randbytes(random.randint(0, 40))
    async with Nobody(b"\x20\x03\x00\x00\x00" + bytes((kind | random.randrange(16), len(rest))) + rest).open() as other:
        error = await refusal(other)
        assert error.code in ("floor-lost", "floor-refused", "floor-unreachable", "floor-unread")


async def test_hosts_that_are_not_there() -> None:
    assert (await refusal(Broker(Address("a..b", 1, False), None))).code == "floor-unreachable"
    assert (await refusal(Broker(Address("127.0.0.1", free_port(), False), None))).code == "floor-unreachable"
    assert (await refusal(Broker(Address("no-such-host.invalid", 1, False), None))).code == "floor-unreachable"


# -- certificates


def encrypted(folder: Path, authority: Authority, name: str = "broker", *, days: float = 5) -> Mosquitto:
    own = authority.sign(name, days=days)
    lines = [
        f"cafile {own.ca}",
        f"certfile {own.certificate}",
        f"keyfile {own.key}",
        "require_certificate true",
        "use_identity_as_username true",
        f"crlfile {authority.revoked_file()}",
        f"acl_file {folder / 'acl'}",
    ]
    (folder / "acl").write_text("pattern write cardshoe/1/+/+/%u/#\nuser reader\ntopic read #\n")
    return Mosquitto(folder, lines, own)


async def test_each_table_has_its_certificate_and_its_topics(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    found = encrypted(tmp_path, authority)
    await found.start()
    try:
        own = Broker(found.broker.address, authority.sign("nc-07"))
        async with reading(Broker(found.broker.address, authority.sign("reader")), "#") as reader:
            async with connected(own, "writer") as writer:
                await writer.publish("cardshoe/1/vienna/p1/nc-07/journal", b"{}")
            (one,) = await received(reader, 1)
            assert one.payload == b"{}"
            assert (await refusal(own, "cardshoe/1/vienna/p1/nc-08/journal")).code == "floor-refused"
    finally:
        await found.kill()


# paho leaves the socket of a failed handshake to the garbage collector, which closes it immediately.
leaves_a_socket = pytest.mark.filterwarnings(
    "ignore:unclosed <ssl.SSLSocket:ResourceWarning",
    "ignore:Exception ignored in.*SSLSocket:pytest.PytestUnraisableExceptionWarning",
)


@leaves_a_socket
@pytest.mark.parametrize(
    ("what", "code", "says"),
    [
        ("expired", "floor-certificate", "expired on"),
        ("revoked", "floor-refused", "ended the connection"),
        ("of another authority", "floor-refused", "ended the connection"),
        ("wrong authority named", "floor-certificate", "self-signed|issuer"),
        ("no file", "floor-certificate", "No such file"),
        ("another key", "floor-certificate", "mismatch|MISMATCH"),
        ("key open to others", "floor-certificate", "Others may read"),
        ("none", "floor-refused", "ended the connection"),
    ],
)
async def test_an_invalid_certificate(tmp_path: Path, what: str, code: str, says: str) -> None:
    authority, other = Authority(tmp_path), Authority(tmp_path, "other")
    good = authority.sign("nc-07")
    given = {
        "expired": authority.sign("nc-08", days=-1),
        "revoked": good,
        "of another authority": other.sign("nc-09")._replace(ca=authority.file),
        "wrong authority named": good._replace(ca=other.file),
        "no file": good._replace(certificate=tmp_path / "none.crt"),
        "another key": good._replace(key=authority.sign("nc-10").key),
    }
    if what == "key open to others":
        open_key = authority.sign("nc-11")
        open_key.key.chmod(0o644)
        given[what] = open_key
    if what == "revoked":
        authority.revoke(good)
    found = encrypted(tmp_path, authority)
    await found.start()
    try:
        broker = Broker(found.broker.address, given.get(what))
        error = await refusal(broker)
        assert error.code == code
        assert re.search(says, str(error)), error
    finally:
        await found.kill()


@leaves_a_socket
async def test_a_broker_with_an_invalid_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    found = encrypted(tmp_path, authority, days=-1)
    await found.start()
    try:
        error = await refusal(Broker(found.broker.address, authority.sign("nc-07")))
        assert (error.code, "expired" in str(error)) == ("floor-certificate", True), error
    finally:
        await found.kill()


# -- addresses


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("mqtts://broker.example", Address("broker.example", 8883, True)),
        ("mqtts://10.0.0.7:1234/", Address("10.0.0.7", 1234, True)),
        ("mqtt://localhost", Address("localhost", 1883, False)),
        ("mqtt://[::1]:1", Address("::1", 1, False)),
        ("mqtt://127.0.0.2", Address("127.0.0.2", 1883, False)),
    ],
)
def test_addresses(url: str, address: Address) -> None:
    assert parse_broker(url) == address
    assert parse_broker(str(address)) == address


@pytest.mark.parametrize(
    "url",
    ["", "broker", "http://broker", "mqtt://broker", "mqtts://", "mqtts://a:b@c", "mqtts://a:99999", "mqtts://a/b",
     "mqtts://a?x=1", "mqtt://10.0.0.1", "mqtts://[::"],
)  # fmt: skip
def test_invalid_addresses(url: str) -> None:
    with pytest.raises(BadBrokerError) as found:
        parse_broker(url)
    assert found.value.hint


@pytest.mark.parametrize(
    ("line", "lack"), [("max_qos 0", "messages with QoS 1"), ("retain_available false", "retained messages")]
)
async def test_a_broker_that_lacks_what_the_floor_needs_is_named(tmp_path: Path, line: str, lack: str) -> None:
    async with mosquitto(tmp_path, line) as found:
        for will in (None, Will("a/will", b"gone", 0)):  # the broker itself refuses a will, with its reason
            refused = await refusal(found.broker, will=will)
            assert refused.code == "floor-refused"
            assert f"does not offer {lack}, which the floor needs" in str(refused)


async def test_a_message_that_exceeds_the_brokers_limit_is_named_with_both_sizes(tmp_path: Path) -> None:
    async with mosquitto(tmp_path, "max_packet_size 2000") as found, connected(found.broker, "writer") as writer:
        with pytest.raises(BrokerError, match=r"accepts at most 2,000 bytes, and the message to a/b has 2,003"):
            await writer.publish("a/b", bytes(1960))
        await writer.publish("a/b", bytes(1957), retained=True)
        await writer.publish("a/b", b"{}", retained=True)  # the connection stays
