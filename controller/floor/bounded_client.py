"""paho's client, with limits that hold whatever the broker sends.

A broker may ignore the limits given in CONNECT. So each packet is checked by its kind and length before it is read, and
an unexpected packet ends the connection: the client holds one packet, besides those that its owner has not taken.
"""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from typing import Final

from paho.mqtt.client import Client, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes

from firmware_bridge.messages import Message, message

LARGEST_ANSWER: Final = 4096  # bytes of a packet that is not a message
# bytes of a message's properties; the time that paho takes grows with the square of their length
MOST_PROPERTIES: Final = 4096
MOST_SENT: Final = 100  # messages that wait to be sent
SLACK: Final = 2  # times `unacknowledged`; a loaded Mosquitto was seen to exceed the limit by one message
ENDS_WITHIN: Final = 2.0  # seconds in which sent messages go out at the end
_QOS: Final = 0b0110
_KIND: Final = 0xF0
_NAMES: Final = {value << 4: name for name, value in vars(PacketTypes).items() if isinstance(value, int)}


class BoundedClient(Client):
    """A client with limits.

    `largest` is the size in bytes of the largest packet with a message; with 0 the client takes no messages.
    `unacknowledged` is how many messages the broker may send before one is acknowledged. `why` is the end of a
    sentence, set when the broker has broken a limit.
    """

    def __init__(self, name: str, largest: int, unacknowledged: int) -> None:
        super().__init__(
            CallbackAPIVersion.VERSION2, name, protocol=MQTTv5, reconnect_on_failure=False, manual_ack=True
        )
        self.max_queued_messages = MOST_SENT
        self.why: Message | None = None
        self._largest = largest
        self._most_unacknowledged = unacknowledged
        self._is_answered = False
        self._subscribes = 0  # subscriptions sent, and those answered
        self._subscribed = 0
        self._came = 0  # messages to be acknowledged, and those acknowledged
        self._acknowledged = 0

    @property
    def size(self) -> int:
        """Return the size in bytes of the packet that is being handled."""
        return int(self._in_packet["remaining_length"])

    def expect_subscription(self) -> None:
        self._subscribes += 1

    def ack(self, mid: int, qos: int) -> MQTTErrorCode:
        """Acknowledge a message, unless too many packets wait. paho itself keeps any number that the broker does not
        read.
        """
        if len(self._out_packet) > self._most_unacknowledged + MOST_SENT:
            self.why = message("it does not read what is sent to it")
            self._cut()
            return MQTTErrorCode.MQTT_ERR_QUEUE_SIZE
        self._acknowledged += 1
        return super().ack(mid, qos)

    def loop_stop(self) -> MQTTErrorCode:
        """Stop the thread. paho's own method would wait forever for a broker that does not read."""
        if (thread := self._thread) is not None:
            self._thread_terminate = True
            thread.join(ENDS_WITHIN)
            if thread.is_alive():
                self._cut()
                thread.join()
        return MQTTErrorCode.MQTT_ERR_SUCCESS

    def _cut(self) -> None:
        """End the connection underneath paho's thread, which then finds it lost."""
        if isinstance(sock := self._sock, socket.socket):
            with suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # not the method of TLS, which would write

    # -- what paho calls

    def _sock_recv(self, bufsize: int) -> bytes:
        """Read at most `bufsize` bytes, the rest of the packet, after checking its length."""
        if self._in_packet["have_remaining"]:
            is_message = self._in_packet["command"] & _KIND == PacketTypes.PUBLISH << 4
            if self.size > (self._largest if is_message else LARGEST_ANSWER):
                self.why = message(
                    "it sends a packet of {size} bytes, which is more than this program accepts", size=f"{self.size:,}"
                )
                if is_message and not self._largest:
                    self.why = _UNASKED
                raise ConnectionAbortedError(str(self.why))
        return super()._sock_recv(bufsize)

    def _packet_handle(self) -> MQTTErrorCode:
        if self.why or (why := self._doubt()):
            self.why = self.why or why
            return MQTTErrorCode.MQTT_ERR_PROTOCOL
        try:
            return super()._packet_handle()
        except Exception as error:  # paho raises exceptions of any type for an invalid packet
            self.why = message("it sends something that is not an MQTT 5 packet ({name})", name=type(error).__name__)
            return MQTTErrorCode.MQTT_ERR_PROTOCOL

    def _doubt(self) -> Message | None:
        """Return what is wrong with the packet that arrived, or None."""
        command, packet = self._in_packet["command"], self._in_packet["packet"]
        kind = command >> 4
        if kind == PacketTypes.PUBLISH:
            return self._doubt_message(command & _QOS)
        if kind == PacketTypes.CONNACK:
            is_asked, self._is_answered = not self._is_answered, True
        elif kind == PacketTypes.PUBACK:
            is_asked = len(packet) >= 2 and struct.unpack_from("!H", packet)[0] in self._out_messages
        elif kind == PacketTypes.SUBACK:
            self._subscribed += 1
            is_asked = self._subscribed <= self._subscribes
        elif kind == PacketTypes.PINGRESP:
            is_asked = bool(self._ping_t)
        else:
            is_asked = kind == PacketTypes.DISCONNECT
        return (
            None
            if is_asked
            else message(
                "it sends {packet}, which this program did not ask for",
                packet=_NAMES.get(command & _KIND, message("a packet of an unknown kind")),
            )
        )

    def _doubt_message(self, qos: int) -> Message | None:
        if not self._largest:
            return _UNASKED
        if qos > 0b0010:
            return message("it sends a message with a QoS that this program did not ask for")
        if qos:
            self._came += 1
            if self._came - self._acknowledged > SLACK * self._most_unacknowledged:
                return message(
                    "it sends more than {most} messages before one is acknowledged",
                    most=f"{SLACK * self._most_unacknowledged:,}",
                )
        self._bound_properties(qos)
        return None

    def _bound_properties(self, qos: int) -> None:
        """Remove the message's properties if they are too long. Only the age of a report depends on them."""
        packet = self._in_packet["packet"]
        start = 2 + int.from_bytes(packet[:2]) + (2 if qos else 0)
        length = shift = 0
        for at in range(start, min(start + 4, len(packet))):
            length |= (packet[at] & 127) << shift
            shift += 7
            if packet[at] < 128:
                if length > MOST_PROPERTIES:
                    packet[start : at + 1 + length] = b"\0"
                return


_UNASKED: Final = message("it sends a message to a program that has subscribed to nothing")
