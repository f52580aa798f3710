"""One connection to the broker. What is sent is acknowledged by it (QoS 1), or an error says why not.

    python program ── paho-mqtt, a thread of its own ── TLS ── broker

An acknowledgement may be a refusal: MQTT 5 gives a reason, and a message that was refused was not delivered. What is
received is acknowledged by who used it, so that what is lost with a program comes again. A connection that has failed
is not used again: another one is made.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from cryptography import x509
from paho.mqtt.client import Client, MQTTMessage, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

BrokerCode: TypeAlias = Literal["floor-unreachable", "floor-certificate", "floor-refused", "floor-lost", "floor-unread"]
PLAIN: Final = "mqtt"
ENCRYPTED: Final = "mqtts"
PORTS: Final = {PLAIN: 1883, ENCRYPTED: 8883}
ANSWERS_WITHIN: Final = 10.0  # seconds
CONNECTS_WITHIN: Final = 5.0  # seconds for TCP and TLS
KEEP_ALIVE: Final = 30  # seconds
UNACKNOWLEDGED: Final = 200  # messages that the broker sends before one is acknowledged
_UNREAD: Final = 0x10  # "No matching subscribers"
_OWN_HOSTS: Final = ("localhost", "ip6-localhost")


class BrokerError(Exception):
    """A sentence for people (`str`), a `hint` what to do next, and a `code` for machines."""

    def __init__(self, code: BrokerCode, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.code: BrokerCode = code
        self.hint = hint


class BadBrokerError(ValueError):
    """An address that cannot be used. `hint`: what to do next."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


class Address(NamedTuple):
    """Where the broker is. `encrypted`: by TLS, with a certificate of each side."""

    host: str
    port: int
    encrypted: bool

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{ENCRYPTED if self.encrypted else PLAIN}://{host}:{self.port}"


class Credentials(NamedTuple):
    """Files for TLS: who signs the broker's certificate, this program's certificate, and its key."""

    ca: Path
    certificate: Path
    key: Path


class Broker(NamedTuple):
    """`credentials` None: of an address that is not encrypted."""

    address: Address
    credentials: Credentials | None


class Will(NamedTuple):
    """What the broker publishes, retained, when the connection has been gone for `delay` seconds."""

    topic: str
    payload: bytes
    delay: int


class Message(NamedTuple):
    """What was received. `about`: the user properties. `number`: with which it is acknowledged."""

    topic: str
    payload: bytes
    about: dict[str, str]
    is_retained: bool
    number: int


def parse_broker(url: str) -> Address:
    """`mqtts://HOST[:PORT]`; `mqtt://` for a broker on this machine alone. Raises `BadBrokerError`.

    >>> parse_broker("mqtts://broker.casino:8884")
    Address(host='broker.casino', port=8884, encrypted=True)
    """
    try:
        found = urlsplit(url)
        host, port = found.hostname or "", found.port
    except ValueError as error:
        raise BadBrokerError(f"{url!r} is no address of a broker.", _WRITE) from error
    if found.scheme not in PORTS or not host or found.path.strip("/") or found.query or found.fragment:
        raise BadBrokerError(f"{url!r} is no address of a broker.", _WRITE)
    if found.username is not None or found.password is not None:
        raise BadBrokerError("a broker knows a table by its certificate, not by a name and a password.", _WRITE)
    if found.scheme == PLAIN and not _is_own(host):
        raise BadBrokerError(
            f"{host} is another machine, and mqtt:// is not encrypted.",
            f"Write {ENCRYPTED}://{host} and name the files.",
        )
    return Address(host, port or PORTS[found.scheme], found.scheme == ENCRYPTED)


def _is_own(host: str) -> bool:
    if host in _OWN_HOSTS:
        return True
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return False


_WRITE: Final = "Write mqtts://HOST:8883, or mqtt://localhost:1883 for a broker on this machine."


class Connection:
    """Made by `connected`. `received`: what was received and is to be acknowledged."""

    def __init__(self, client: Client, address: Address) -> None:
        self.received: asyncio.Queue[Message] = asyncio.Queue()
        self._client = client
        self._address = address
        self._loop = asyncio.get_running_loop()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._connecting: asyncio.Future[BrokerError | None] = self._loop.create_future()
        self._up: asyncio.Future[Any] = self._loop.create_future()
        self._lost: asyncio.Future[Any] = self._loop.create_future()
        calls: dict[str, Callable[..., None]] = {
            "on_connect": self._on_connect,
            "on_disconnect": self._on_disconnect,
            "on_publish": lambda _, __, number, reason, ___: self._answer(number, [reason]),
            "on_subscribe": lambda _, __, number, reasons, ___: self._answer(number, reasons),
            "on_message": self._on_message,
        }
        for name, call in calls.items():
            setattr(client, name, self._from_thread(call))

    async def publish(
        self,
        topic: str,
        payload: bytes,
        about: Sequence[tuple[str, str]] = (),
        *,
        retained: bool = False,
        expiry: int = 0,
    ) -> None:
        """Until the broker has acknowledged it. `expiry`: seconds, 0: never. Raises `BrokerError`.

        floor-unread: it has it, and passes it to nobody.
        """
        with_it = _properties(PacketTypes.PUBLISH, ContentType="application/json")
        if about:
            with_it.UserProperty = list(about)
        if expiry:
            with_it.MessageExpiryInterval = expiry
        sent = self._client.publish(topic, payload, 1, retained, with_it)
        (reason,) = await self._answered(sent.rc, sent.mid)
        if reason.is_failure:
            raise BrokerError(
                "floor-refused",
                f"The broker {self._address} refuses what is sent to {topic}: {reason}.",
                "See which topics its access list gives to this certificate.",
            )
        if reason.value == _UNREAD and not retained:
            raise BrokerError(
                "floor-unread",
                f"No program of the floor has subscribed to {topic} at the broker {self._address}.",
                "Start `cardshoe floor store`; the table keeps what it has to say.",
            )

    async def subscribe(self, *filters: str) -> None:
        """With QoS 1; retained messages come at once. Raises `BrokerError`."""
        result, number = self._client.subscribe([(one, 1) for one in filters])
        for reason in await self._answered(result, number or 0):
            if reason.is_failure:
                raise BrokerError(
                    "floor-refused",
                    f"The broker {self._address} refuses a subscription: {reason}.",
                    "See which topics its access list gives to this certificate.",
                )

    def acknowledge(self, message: Message) -> None:
        """It was used: the broker need not send it again."""
        self._client.ack(message.number, 1)

    async def next(self) -> Message:
        """What was received next. Raises `BrokerError` when the connection has ended."""
        getting: asyncio.Future[Any] = asyncio.ensure_future(self.received.get())
        try:
            await asyncio.wait({getting, self._lost}, return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                message: Message = getting.result()
                return message
        finally:
            getting.cancel()
        raise self._lost.result()

    def waiting(self, most: int) -> list[Message]:
        """What was received besides and waits, without waiting for more."""
        return [self.received.get_nowait() for _ in range(min(most, self.received.qsize()))]

    @property
    def ended(self) -> asyncio.Future[Any]:
        """Done when the connection has ended."""
        return self._lost

    def check(self) -> None:
        """Raises `BrokerError` when the connection has ended."""
        if self._lost.done():
            raise self._lost.result()

    # -- inside

    async def open(self, *, clean: bool, properties: Properties) -> None:
        """Connect. Raises `BrokerError`."""
        host, port, _ = self._address

        def connect() -> BrokerError | None:
            """An error that left the thread would keep the socket open, which paho has not closed."""
            try:
                self._client.connect(host, port, KEEP_ALIVE, clean_start=clean, properties=properties)
            except OSError as error:
                return _not_connected(error, self._address)
            return None

        self._connecting = asyncio.ensure_future(asyncio.to_thread(connect))
        if (failed := await asyncio.shield(self._connecting)) is not None:
            raise failed
        self._client.loop_start()
        await asyncio.wait({self._up, self._lost}, timeout=ANSWERS_WITHIN, return_when=asyncio.FIRST_COMPLETED)
        if self._up.done():
            self._up.result()
        elif self._lost.done():
            raise BrokerError(
                "floor-refused",
                f"The broker {self._address} ended the connection before it answered.",
                "Its log says why; it may not accept this certificate.",
            )
        else:
            raise self._silent()

    async def close(self) -> None:
        """What was published is on its way; nothing waits for a broker that is gone."""
        if self._connecting.done():
            self._client.disconnect()
        else:  # it cannot be interrupted
            self._connecting.add_done_callback(self._end_late)
        await asyncio.to_thread(self._client.loop_stop)
        self._client._reset_sockets()  # else its descriptors stay open until the client is collected
        for answer in (*self._answers.values(), self._up, self._lost):
            answer.cancel()

    def _end_late(self, connecting: asyncio.Future[BrokerError | None]) -> None:
        if connecting.result() is None:
            self._client.disconnect()

    async def _answered(self, result: MQTTErrorCode, number: int) -> Sequence[ReasonCode]:
        if result != MQTTErrorCode.MQTT_ERR_SUCCESS:
            raise self._lost.result() if self._lost.done() else self._ended("")
        answer = self._answers[number] = self._loop.create_future()  # the thread's answers come by this loop
        try:
            await asyncio.wait({answer, self._lost}, timeout=ANSWERS_WITHIN, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._answers.pop(number, None)
        if answer.done():
            reasons: Sequence[ReasonCode] = answer.result()
            return reasons
        raise self._lost.result() if self._lost.done() else self._silent()

    def _answer(self, number: int, reasons: Sequence[ReasonCode]) -> None:
        answer = self._answers.get(number)
        if answer is not None and not answer.done():
            answer.set_result(reasons)

    def _on_connect(self, client: Any, data: Any, flags: Any, reason: ReasonCode, properties: Any) -> None:
        if self._up.done():
            return
        if reason.is_failure:
            self._up.set_exception(
                BrokerError(
                    "floor-refused",
                    f"The broker {self._address} refuses this program: {reason}.",
                    "See whether it knows this certificate, and whether another program uses it.",
                )
            )
        else:
            self._up.set_result(None)

    def _on_disconnect(self, client: Any, data: Any, flags: Any, reason: ReasonCode, properties: Any) -> None:
        if not self._lost.done():
            self._lost.set_result(self._ended(f": {reason}"))

    def _on_message(self, client: Any, data: Any, found: MQTTMessage) -> None:
        given = getattr(found.properties, "UserProperty", ())
        self.received.put_nowait(Message(found.topic, bytes(found.payload), dict(given), found.retain, found.mid))

    def _from_thread(self, call: Callable[..., None]) -> Callable[..., None]:
        """What paho's thread calls is done by the loop; not where that has ended."""

        def later(*given: Any) -> None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(call, *given)

        return later

    def _ended(self, why: str) -> BrokerError:
        return BrokerError(
            "floor-lost", f"The connection to the broker {self._address} ended{why}.", "It is made again by itself."
        )

    def _silent(self) -> BrokerError:
        return BrokerError(
            "floor-unreachable",
            f"The broker {self._address} has not answered for {ANSWERS_WITHIN:.0f} seconds.",
            "See whether it runs, and whether it is a broker.",
        )


@asynccontextmanager
async def connected(
    broker: Broker, name: str, *, will: Will | None = None, keeps: int = 0, unacknowledged: int = UNACKNOWLEDGED
) -> AsyncIterator[Connection]:
    """A connection under that name, which no other has. Raises `BrokerError`.

    `keeps`: seconds for which the broker keeps subscriptions and messages for it; 0: it begins without.
    `unacknowledged`: messages that the broker sends before one is acknowledged.
    """
    client = Client(CallbackAPIVersion.VERSION2, name, protocol=MQTTv5, reconnect_on_failure=False, manual_ack=True)
    client.connect_timeout = CONNECTS_WITHIN
    if broker.credentials is not None:
        client.tls_set_context(_context(broker.credentials))
    if will is not None:
        delayed = _properties(PacketTypes.WILLMESSAGE, ContentType="application/json", WillDelayInterval=will.delay)
        client.will_set(will.topic, will.payload, 1, True, delayed)
    session = keeps or (will.delay if will is not None else 0)
    properties = _properties(PacketTypes.CONNECT, SessionExpiryInterval=session, ReceiveMaximum=unacknowledged)
    connection = Connection(client, broker.address)
    try:
        await connection.open(clean=not keeps, properties=properties)
        yield connection
    finally:
        await connection.close()


def _properties(packet: int, **values: Any) -> Properties:
    found = Properties(packet)  # type: ignore[no-untyped-call]  # paho has types for what it returns alone
    for name, value in values.items():
        setattr(found, name, value)
    return found


def _context(credentials: Credentials) -> ssl.SSLContext:
    """Raises `BrokerError`: also for a certificate that has expired, of which a broker says nothing."""
    ca, certificate, key = credentials
    try:
        context = ssl.create_default_context(cafile=str(ca))
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(certificate, key)
        ends = x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BrokerError(
            "floor-certificate",
            f"The files for TLS cannot be used ({ca}, {certificate}, {key}): {why}.",
            "Check that they are there, readable for this program, and belong to each other.",
        ) from error
    if ends < datetime.now(UTC):
        raise BrokerError(
            "floor-certificate",
            f"The certificate {certificate} expired on {ends:%Y-%m-%d}.",
            "Have another one signed.",
        )
    return context


def _not_connected(error: OSError, address: Address) -> BrokerError:
    if isinstance(error, ssl.SSLCertVerificationError):
        return BrokerError(
            "floor-certificate",
            f"The certificate of the broker {address} is not good: {error.verify_message}.",
            "Check its name, its date, and that the right authority is named.",
        )
    if isinstance(error, ssl.SSLError):
        return BrokerError(
            "floor-certificate",
            f"No TLS with the broker {address}: {error.reason or error}.",
            "Check its port, and both certificates.",
        )
    why = "there is no such host" if isinstance(error, socket.gaierror) else (error.strerror or str(error)).lower()
    return BrokerError(
        "floor-unreachable", f"The broker {address} cannot be reached: {why}.", "Check that it runs, and the network."
    )
