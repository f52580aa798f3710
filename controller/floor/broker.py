"""One connection to the broker. Each message is acknowledged by the broker (QoS 1), or an error says why not.

    python program ── paho-mqtt on its own thread, with limits (`bounded_client.py`) ── TLS ── broker

An acknowledgement may be a refusal: MQTT 5 gives a reason, and a refused message was not delivered. The program that
uses a received message acknowledges it, so that a message lost with a program is delivered again. The number of
messages that wait for a slow program is limited; the rest wait at the broker. A failed connection is not used again; a
new one is opened.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from paho.mqtt.client import MQTTMessage
from paho.mqtt.enums import MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from controller.floor import BrokerError
from controller.floor.address import Address, Broker
from controller.floor.bounded_client import LARGEST_ANSWER, BoundedClient
from controller.floor.certificate import context_of
from firmware_bridge.messages import AnyText, Message, message
from firmware_bridge.transports.blocking import call_on_loop, run_in_thread

ANSWERS_WITHIN: Final = 10.0  # seconds
CONNECTS_WITHIN: Final = 5.0  # seconds for TCP and TLS
KEEP_ALIVE: Final = 30  # seconds
UNACKNOWLEDGED: Final = 200  # messages that the broker sends before one is acknowledged
MOST_WAITING: Final = 16 * 1024 * 1024  # bytes of packets that wait to be taken
OF_A_MESSAGE: Final = 1024  # bytes that a message takes in addition to its packet
AROUND: Final = 40  # the most bytes of a packet in addition to topic, user properties and payload
_UNREAD: Final = 0x10  # "No matching subscribers"


class Will(NamedTuple):
    """A message that the broker publishes, retained, when the connection has been gone for `delay` seconds."""

    topic: str
    payload: bytes
    delay: int


# What a broker may lack: a property of CONNACK is 0 (MQTT 5.0, 3.2.2.3), or it refuses the will with this reason.
NEEDED: Final = (
    ("MaximumQoS", 0x9B, message("messages with QoS 1")),
    ("RetainAvailable", 0x9A, message("retained messages")),
)


class BrokerMessage(NamedTuple):
    """A received message.

    `about` holds the user properties. `number` identifies the message when it is acknowledged; with 0 it is not
    acknowledged. `expiry` is how many more seconds the broker keeps it, so that its age follows from the broker's clock
    alone; 0 means that it is kept forever.
    """

    topic: str
    payload: bytes
    about: dict[str, str]
    is_retained: bool
    number: int
    expiry: int = 0
    size: int = 0  # bytes of memory


class BrokerConnection:
    """A connection made by `connected`. `received` holds the messages that arrived and are to be acknowledged."""

    def __init__(self, client: BoundedClient, address: Address, gathered: float = 0.0) -> None:
        self.received: asyncio.Queue[BrokerMessage] = asyncio.Queue()
        self.leaves_will = False
        self._gathered = gathered
        self._waiting: deque[tuple[MQTTMessage, int]] = deque()  # filled by paho's thread, emptied by the loop
        self._is_woken = False
        self._came = 0  # bytes received, counted by paho's thread
        self._taken = 0  # bytes taken, counted by the loop
        self._has_room = threading.Event()
        # set when the buffer fills while a subscription is being made
        self._waits_for_room: asyncio.Future[Any] | None = None
        self._is_closing = False
        self._largest = 0  # bytes of the largest packet that the broker accepts; 0 if it gave no limit
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
        }
        for name, call in calls.items():
            setattr(client, name, self._from_thread(call))
        client.on_message = self._on_message

    async def publish(
        self,
        topic: str,
        payload: bytes,
        about: Sequence[tuple[str, str]] = (),
        *,
        retained: bool = False,
        expiry: int = 0,
    ) -> None:
        """Publish a message and wait for its acknowledgement. Raise `BrokerError` if none comes.

        `expiry` is in seconds; 0 means never. With the code floor-unread the broker has the message but no subscriber.
        """
        with_it = _properties(PacketTypes.PUBLISH, ContentType="application/json")
        self._check_size(topic, payload, about)
        if about:
            with_it.UserProperty = list(about)
        if expiry:
            with_it.MessageExpiryInterval = expiry
        sent = self._client.publish(topic, payload, 1, retained, with_it)
        (reason,) = await self._answered(sent.rc, sent.mid)
        if reason.is_failure:
            raise BrokerError(
                "floor-refused",
                message(
                    "The broker {address} refuses messages to {topic}: {reason}.",
                    address=str(self._address),
                    topic=topic,
                    reason=str(reason),
                ),
                message("Check which topics its access list allows for this certificate."),
            )
        if reason.value == _UNREAD and not retained:
            raise BrokerError(
                "floor-unread",
                message(
                    "No program of the floor has subscribed to {topic} at the broker {address}.",
                    topic=topic,
                    address=str(self._address),
                ),
                message("Start `cardshoe floor store`; the table keeps its records until then."),
            )

    def _check_size(self, topic: str, payload: bytes, about: Sequence[tuple[str, str]]) -> None:
        """Raise `BrokerError` for a packet that the broker would refuse by ending the connection, at every attempt."""
        with_it = sum(len(one.encode()) + 5 for pair in about for one in pair)
        size = len(topic.encode()) + len(payload) + with_it + AROUND
        if self._largest and size > self._largest:
            raise BrokerError(
                "floor-refused",
                message(
                    "The broker {address} accepts at most {largest} bytes, and the message to {topic} has {size}.",
                    address=str(self._address),
                    largest=format(self._largest, ","),
                    topic=topic,
                    size=format(size, ","),
                ),
                message("Raise its max_packet_size."),
            )

    async def subscribe(self, *filters: str, qos: int = 1) -> None:
        """Subscribe. Retained messages arrive immediately. With `qos` 0 nothing is acknowledged. Raise `BrokerError`.

        When a session is resumed, more messages may arrive before the answer than are read: then a refusal ends the
        connection later.
        """
        self._client.expect_subscription()
        result, number = self._client.subscribe([(one, qos) for one in filters])
        self._waits_for_room = self._loop.create_future()
        reasons = await self._answered(result, number or 0, self._waits_for_room)
        if (refused := self._refused(reasons)) is not None:
            raise refused

    def _refused(self, reasons: Sequence[ReasonCode]) -> BrokerError | None:
        for reason in reasons:
            if reason.is_failure:
                return BrokerError(
                    "floor-refused",
                    message(
                        "The broker {address} refuses a subscription: {reason}.",
                        address=str(self._address),
                        reason=str(reason),
                    ),
                    message("Check which topics its access list allows for this certificate."),
                )
        return None

    def _subscribed_late(self, answer: asyncio.Future[Any]) -> None:
        if not answer.cancelled() and (refused := self._refused(answer.result())) and not self._lost.done():
            self._lost.set_result(refused)

    def acknowledge(self, message: BrokerMessage) -> None:
        """Acknowledge a message that was used, so that the broker does not send it again."""
        if message.number:  # acknowledging a message sent with QoS 0 would end the connection
            self._client.ack(message.number, 1)

    async def next(self) -> BrokerMessage:
        """Return the next received message. Raise `BrokerError` when the connection has ended."""
        getting: asyncio.Future[Any] = asyncio.ensure_future(self.received.get())
        try:
            await asyncio.wait({getting, self._lost}, return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                message: BrokerMessage = getting.result()
                self._make_room(message)
                return message
        finally:
            getting.cancel()
        raise self._lost.result()

    def waiting(self, most: int, most_bytes: int = MOST_WAITING) -> list[BrokerMessage]:
        """Return the other messages that have arrived, without waiting, up to both limits."""
        found: list[BrokerMessage] = []
        while len(found) < most and most_bytes > 0 and not self.received.empty():
            message = self.received.get_nowait()
            most_bytes -= message.size
            self._make_room(message)
            found.append(message)
        return found

    @property
    def is_full(self) -> bool:
        """Return whether reading has stopped because too many bytes wait to be taken."""
        return self._came - self._taken > MOST_WAITING

    def _make_room(self, message: BrokerMessage) -> None:
        self._taken += message.size
        if not self._has_room.is_set():
            self._has_room.set()

    @property
    def ended(self) -> asyncio.Future[Any]:
        """Return a future that is done when the connection has ended."""
        return self._lost

    def check(self) -> None:
        """Raise `BrokerError` if the connection has ended."""
        if self._lost.done():
            raise self._lost.result()

    # -- inside

    async def open(self, *, clean: bool, properties: Properties) -> None:
        """Connect. Raise `BrokerError` if that fails."""
        host, port, _ = self._address

        def connect() -> BrokerError | None:
            """Connect and return the error: an error raised in the thread would keep the socket open, which paho has
            not closed.
            """
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
                message("The broker {address} ended the connection before it answered.", address=str(self._address)),
                message("Its log says why; it may not accept this certificate."),
            )
        else:
            raise self._silent()

    async def close(self) -> None:
        """Disconnect. Published messages are already on their way; do not wait for a broker that cannot be reached."""
        self._is_closing = True
        self._has_room.set()
        if self._has_thread:
            why = "Disconnect with will message" if self.leaves_will else "Normal disconnection"
            self._client.disconnect(ReasonCode(PacketTypes.DISCONNECT, why))
            await run_in_thread(self._end, name="floor close")
        for answer in (*self._answers.values(), self._up, self._lost):
            answer.cancel()
        self._waiting.clear()  # immediately, not when the garbage collector runs
        self.waiting(self.received.qsize(), self._came)

    def _end(self) -> None:
        """Wait for paho's thread, even if the caller of `close` does not wait."""
        self._client.loop_stop()
        self._client._reset_sockets()  # otherwise its descriptors stay open until the client is collected

    async def _answered(
        self, result: MQTTErrorCode, number: int, or_done: asyncio.Future[Any] | None = None
    ) -> Sequence[ReasonCode]:
        """Return the broker's answer. If `or_done` is done first, return without the answer."""
        if result != MQTTErrorCode.MQTT_ERR_SUCCESS:
            raise self._lost.result() if self._lost.done() else self._ended("")
        answer = self._answers[number] = self._loop.create_future()  # the thread's answers arrive through this loop
        awaited = {answer, self._lost} | ({or_done} if or_done is not None else set())
        goes_on = False
        try:
            await asyncio.wait(awaited, timeout=ANSWERS_WITHIN, return_when=asyncio.FIRST_COMPLETED)
            goes_on = or_done is not None and or_done.done() and not answer.done() and not self._lost.done()
        finally:
            if not goes_on:
                self._answers.pop(number, None)
        if goes_on:
            answer.add_done_callback(self._subscribed_late)
            return ()
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
        self._largest = getattr(properties, "MaximumPacketSize", 0)
        lacks = [what for name, refusal, what in NEEDED if reason.value == refusal or not getattr(properties, name, 1)]
        if lacks:
            said = message(
                "The broker {address} does not offer {lacks:list}, which the floor needs.",
                address=str(self._address),
                lacks=tuple(lacks),
            )
            hint = message("Allow them in the configuration of the broker.")
        elif reason.is_failure:
            said = message(
                "The broker {address} refuses this program: {reason}.", address=str(self._address), reason=str(reason)
            )
            hint = message("Check whether it knows this certificate, and whether another program uses the same one.")
        else:
            self._up.set_result(None)
            return
        self._up.set_exception(BrokerError("floor-refused", said, hint))

    def _on_disconnect(self, client: Any, data: Any, flags: Any, reason: ReasonCode, properties: Any) -> None:
        if not self._lost.done():
            lies = self._client.why
            self._lost.set_result(self._lies(lies) if lies else self._ended(str(reason)))

    def _on_message(self, client: Any, data: Any, found: MQTTMessage) -> None:
        """Take a message in paho's thread and wake the loop, once for all messages that arrive together, since that
        costs more than the message.

        If too many bytes wait, this thread waits too and reads nothing.
        """
        size = self._client.size + OF_A_MESSAGE
        self._came += size
        self._waiting.append((found, size))
        if not self._is_woken:
            self._is_woken = True
            call_on_loop(self._loop, self._wake)
        while self.is_full and not self._is_closing:
            self._has_room.clear()
            if self.is_full and not self._is_closing:  # check again: the event may have been set meanwhile
                self._has_room.wait()

    def _wake(self) -> None:
        if self._gathered:
            self._loop.call_later(self._gathered, self._hand_over)
        else:
            self._hand_over()

    def _hand_over(self) -> None:
        self._is_woken = False  # reset first, so that later messages wake the loop again
        while self._waiting:
            found, size = self._waiting.popleft()
            about = dict(getattr(found.properties, "UserProperty", ()))
            expiry = getattr(found.properties, "MessageExpiryInterval", 0)
            try:
                topic = found.topic
            except UnicodeDecodeError:  # not a topic that a broker sends
                self._client.disconnect()
                return
            self.received.put_nowait(
                BrokerMessage(topic, bytes(found.payload), about, found.retain, found.mid, expiry, size)
            )
        if self.is_full and self._waits_for_room is not None and not self._waits_for_room.done():
            self._waits_for_room.set_result(None)

    def _from_thread(self, call: Callable[..., None]) -> Callable[..., None]:
        """Return a callback for paho's thread that runs `call` on the loop, unless the loop has ended."""

        def later(*given: Any) -> None:
            call_on_loop(self._loop, call, *given)

        return later

    def _ended(self, why: str) -> BrokerError:
        """Return the error for a connection that ended. `why` is empty if the broker gave no reason."""
        address = str(self._address)
        said = message("The connection to the broker {address} ended.", address=address)
        if why:
            said = message("The connection to the broker {address} ended: {why}.", address=address, why=why)
        return BrokerError("floor-lost", said, message("The program reconnects automatically."))

    def _lies(self, why: Message) -> BrokerError:
        return BrokerError(
            "floor-lost",
            message("The connection to the broker {address} was ended: {why}.", address=str(self._address), why=why),
            message("Check which program answers there, and read its log."),
        )

    def _silent(self) -> BrokerError:
        return BrokerError(
            "floor-unreachable",
            message(
                "The broker {address} has not answered for {seconds} seconds.",
                address=str(self._address),
                seconds=round(ANSWERS_WITHIN),
            ),
            message("Check that it runs, and that it is a broker."),
        )


@asynccontextmanager
async def connected(
    broker: Broker,
    name: str,
    *,
    will: Will | None = None,
    keeps: int = 0,
    gathered: float = 0.0,
    unacknowledged: int = UNACKNOWLEDGED,
    takes: int = 0,
) -> AsyncIterator[BrokerConnection]:
    """Open a connection under a name that no other client uses. Raise `BrokerError` if that fails.

    `keeps` is how many seconds the broker keeps subscriptions and messages for this client; with 0 the session starts
    empty. Messages are gathered for `gathered` seconds and handed on together. `unacknowledged` is how many messages
    the broker sends before one is acknowledged. `takes` is the size in bytes of the largest message with its topic and
    properties; with 0 the client subscribes to nothing, and disconnects if the broker sends it a message.
    """
    client = BoundedClient(name, takes, unacknowledged)
    client.connect_timeout = CONNECTS_WITHIN
    if broker.credentials is not None:
        client.tls_set_context(context_of(broker.credentials))
    if will is not None:
        delayed = _properties(PacketTypes.WILLMESSAGE, ContentType="application/json", WillDelayInterval=will.delay)
        client.will_set(will.topic, will.payload, 1, True, delayed)
    session = keeps or (will.delay if will is not None else 0)
    properties = _properties(
        PacketTypes.CONNECT,
        SessionExpiryInterval=session,
        ReceiveMaximum=unacknowledged,
        MaximumPacketSize=max(takes, LARGEST_ANSWER),
    )
    connection = BrokerConnection(client, broker.address, gathered)
    try:
        await connection.open(clean=not session, properties=properties)  # the end of a session publishes its will
        yield connection
    except Exception:
        connection.leaves_will = True  # the client may not reconnect
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
            message(
                "The certificate of the broker {address} is not accepted: {why}.",
                address=str(address),
                why=error.verify_message,
            ),
            message("Check its name, its date, and that the right authority is named."),
        )
    if isinstance(error, ssl.SSLError):
        return BrokerError(
            "floor-certificate",
            message(
                "TLS with the broker {address} failed: {reason}.",
                address=str(address),
                reason=error.reason or str(error),
            ),
            message("Check its port, and both certificates."),
        )
    why: AnyText = message("there is no such host")
    if not isinstance(error, socket.gaierror | UnicodeError):
        why = (error.strerror or str(error)).lower()
    return BrokerError(
        "floor-unreachable",
        message("The broker {address} cannot be reached: {why}.", address=str(address), why=why),
        message("Check that it runs, and check the network."),
    )
