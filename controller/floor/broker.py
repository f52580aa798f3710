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
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from paho.mqtt.client import Client, MQTTMessage, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from controller.floor import BrokerError
from controller.floor.address import Address, Broker
from controller.floor.certificate import context_of
from firmware_bridge.transports.blocking import call_on_loop, run_in_thread

ANSWERS_WITHIN: Final = 10.0  # seconds
CONNECTS_WITHIN: Final = 5.0  # seconds for TCP and TLS
KEEP_ALIVE: Final = 30  # seconds
UNACKNOWLEDGED: Final = 200  # messages that the broker sends before one is acknowledged
_UNREAD: Final = 0x10  # "No matching subscribers"


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


class Connection:
    """Made by `connected`. `received`: what was received and is to be acknowledged."""

    def __init__(self, client: Client, address: Address) -> None:
        self.received: asyncio.Queue[Message] = asyncio.Queue()
        self.leaves_will = False
        self._client = client
        self._address = address
        self._loop = asyncio.get_running_loop()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._has_thread = False
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
            except (OSError, UnicodeError) as error:
                return _not_connected(error, self._address)
            return None

        def end(failed: BrokerError | None) -> None:
            if failed is None:
                self._client.disconnect()
                self._end()

        if (failed := await run_in_thread(connect, end, name="floor connect")) is not None:
            raise failed
        self._has_thread = True
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
        if self._has_thread:
            why = "Disconnect with will message" if self.leaves_will else "Normal disconnection"
            self._client.disconnect(ReasonCode(PacketTypes.DISCONNECT, why))
            await run_in_thread(self._end, name="floor close")
        for answer in (*self._answers.values(), self._up, self._lost):
            answer.cancel()

    def _end(self) -> None:
        """Wait for paho's thread; also where who closes it does not wait."""
        self._client.loop_stop()
        self._client._reset_sockets()  # else its descriptors stay open until the client is collected

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
        given = dict(getattr(found.properties, "UserProperty", ()))
        try:
            message = Message(found.topic, bytes(found.payload), given, found.retain, found.mid)
        except UnicodeDecodeError:  # no broker sends such a topic
            self._client.disconnect()
            return
        self.received.put_nowait(message)

    def _from_thread(self, call: Callable[..., None]) -> Callable[..., None]:
        """What paho's thread calls is done by the loop; not where that has ended."""

        def later(*given: Any) -> None:
            call_on_loop(self._loop, call, *given)

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
        client.tls_set_context(context_of(broker.credentials))
    if will is not None:
        delayed = _properties(PacketTypes.WILLMESSAGE, ContentType="application/json", WillDelayInterval=will.delay)
        client.will_set(will.topic, will.payload, 1, True, delayed)
    session = keeps or (will.delay if will is not None else 0)
    properties = _properties(PacketTypes.CONNECT, SessionExpiryInterval=session, ReceiveMaximum=unacknowledged)
    connection = Connection(client, broker.address)
    try:
        await connection.open(clean=not session, properties=properties)  # the end of a session publishes its will
        yield connection
    except Exception:
        connection.leaves_will = True  # it may not come back
        raise
    finally:
        await connection.close()


def _properties(packet: int, **values: Any) -> Properties:
    found = Properties(packet)  # type: ignore[no-untyped-call]  # paho has types for what it returns alone
    for name, value in values.items():
        setattr(found, name, value)
    return found


def _not_connected(error: OSError | UnicodeError, address: Address) -> BrokerError:
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
    if isinstance(error, socket.gaierror | UnicodeError):
        why = "there is no such host"
    else:
        why = (error.strerror or str(error)).lower()
    return BrokerError(
        "floor-unreachable", f"The broker {address} cannot be reached: {why}.", "Check that it runs, and the network."
    )
