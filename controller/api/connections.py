"""The connections of a listener: accepted, passed to HTTP, and ended if the peer takes too long or sends too much.

A peer must send data in time: a head, then a body, then the next request within the idle time.
"""

from __future__ import annotations

import asyncio
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, cast

from controller.api.bodies import OperationAnswer, encode
from controller.api.callers import DISPLAY, Caller
from controller.api.refusals import Refusals
from controller.api.request_gate import ChunkedBodyError, HeadTooLongError, RequestGate
from firmware_bridge.messages import Message, message

BACKLOG: Final = 256  # clients in the kernel's queue; further ones wait until there is room, or fail to connect
AT_ONCE: Final = 4  # connections admitted before others have their turn
AFTER_REFUSAL: Final = 0.002  # seconds without accepting, because a refused client may retry immediately and forever
OF_ONE_REQUEST: Final = 128 * 1024  # bytes received until it is answered
LINGER: Final = 1.0  # seconds for a refused client to read why
PAUSE: Final = 1.0  # seconds without accepting after the system failed to
HEAD_WITHIN: Final = 5.0  # seconds for the head of a request, from its first byte or from the connection
IDLE: Final = 75.0  # seconds between two requests
WRITE_WITHIN: Final = 30.0  # seconds for a peer to read more of what is written to it
_REASONS: Final = {403: "Forbidden", 411: "Length Required", 503: "Service Unavailable"}

CHUNKED: Final = message("The table does not accept a body in chunks; send the request with Content-Length.")


class Connection(asyncio.Protocol):
    """One connection, which passes one request at a time to the server's own protocol (`RequestGate`).

    It ends the connection if the peer takes too long, or sends too much before it is answered.
    """

    def __init__(
        self, inner: asyncio.Protocol, caller: Caller, left: Callable[[], None], *, kept: bool = False
    ) -> None:
        self.caller = caller
        self._inner = inner
        self._left = left
        self.kept = kept  # never ended for being idle
        self.follows = False  # a stream, of which there are few
        self.on_lost: Callable[[], object] = lambda: None
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._waits = False  # whether it waits for the first byte of a request
        self._received = 0  # bytes of the request
        self._gate = RequestGate()
        self._given_up = False  # before the connection was made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._inner.connection_made(transport)
        self._end_after(HEAD_WITHIN)
        if self._given_up:  # the server's own protocol, which has begun, learns that the connection is lost
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._waits:
            self._waits = False
            self._end_after(HEAD_WITHIN)
        self._received += len(data)
        if self._received > OF_ONE_REQUEST:
            self.abort()
        else:
            try:
                passed = self._gate.take(data)
            except ChunkedBodyError:
                self._refuse(411, "chunked", CHUNKED)
            except HeadTooLongError:
                self.abort()
            else:
                self._pass_on(passed)

    def begin_request(self) -> None:
        """Note that the head is complete. The handler has its own time limits."""
        self._waits = False
        self._end_after(None)

    def end_request(self) -> None:
        self._waits = True
        self._received = 0
        self._end_after(IDLE)
        asyncio.get_running_loop().call_soon(self._next_request)

    def _next_request(self) -> None:
        """Pass on the part of the next request that came before the answer. A peer that does not wait is not given a
        reason.
        """
        if self._transport is None:
            return
        try:
            passed = self._gate.end_request()
        except (ChunkedBodyError, HeadTooLongError):
            self.abort()
            return
        if passed or self._gate.holds:
            self._waits = False
            self._end_after(HEAD_WITHIN)
        self._pass_on(passed)

    def _pass_on(self, data: bytes) -> None:
        if data:
            self._inner.data_received(data)

    def _refuse(self, status: int, code: str, said: Message) -> None:
        """Refuse, and give the peer time to read why. If closed immediately, a client may fail to write its request."""
        assert self._transport is not None
        self._transport.pause_reading()
        self._transport.write(refusal(status, code, said))
        self._transport.write_eof()
        self._end_after(LINGER)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Enclose a request that only waits: it is cancelled as soon as the peer hangs up."""
        task = asyncio.current_task()
        assert task is not None
        if self._transport is None:
            raise asyncio.CancelledError
        self.on_lost = task.cancel
        try:
            yield
        finally:
            self.on_lost = lambda: None

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
        else:
            self._given_up = True

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        self._end_after(None)
        self._transport = None
        self._left()
        self.on_lost()
        self._inner.connection_lost(error)

    def _end_after(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if seconds is not None and self._transport is not None and not self.kept:
            self._deadline = asyncio.get_running_loop().call_later(seconds, self.abort)


class Acceptor(ABC):
    """Accepts connections at listening sockets, and hands admitted ones to `make_protocol`."""

    refused_at_once = AT_ONCE

    def __init__(self, listening: Iterable[socket.socket], refusals: Refusals) -> None:
        self._listening = tuple(listening)
        self._refusals = refusals
        self._entering: set[asyncio.Task[Any]] = set()
        self._resume: asyncio.TimerHandle | None = None

    @abstractmethod
    def _receive(self, peer: socket.socket) -> bool:
        """Admit or refuse a peer. False gives others a turn before the next one is accepted."""

    def open(self, make_protocol: Callable[[], asyncio.Protocol]) -> None:
        self._make_protocol = make_protocol
        self._loop = asyncio.get_running_loop()
        self._accept_again()

    def close(self) -> None:
        for listening in self._listening:
            self._loop.remove_reader(listening)
        if self._resume is not None:
            self._resume.cancel()
        for task in self._entering:
            task.cancel()

    def _accept_again(self) -> None:
        for listening in self._listening:
            self._loop.add_reader(listening, self._accept, listening)

    def _accept(self, listening: socket.socket) -> None:
        let_in = refused = 0
        while let_in < AT_ONCE and refused < self.refused_at_once:
            try:
                peer, _ = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                break
            except OSError:
                # Usually no descriptors are left, and the error would be repeated for as long as a client waits.
                self._refusals.note("accept-failed", DISPLAY)
                self._pause_accepting(PAUSE)
                return
            peer.setblocking(False)
            if self._receive(peer):
                let_in += 1
            else:
                refused += 1
        if refused:
            self._pause_accepting(AFTER_REFUSAL)

    def _pause_accepting(self, seconds: float) -> None:
        for listening in self._listening:
            self._loop.remove_reader(listening)
        if self._resume is not None:
            self._resume.cancel()
        self._resume = self._loop.call_later(seconds, self._accept_again)

    def _enter(self, peer: socket.socket, connection: Connection) -> None:
        entering = self._loop.connect_accepted_socket(lambda: connection, peer)
        task = self._loop.create_task(entering)
        self._entering.add(task)
        task.add_done_callback(partial(self._entered, peer))

    def _entered(self, peer: socket.socket, task: asyncio.Task[Any]) -> None:
        """Close a connection that was not made: a task that is cancelled before it begins leaves the socket open."""
        self._entering.discard(task)
        if task.cancelled():
            peer.close()


def refusal(status: int, code: str, said: Message) -> bytes:
    """Return a whole HTTP answer to a request that is not read, in English."""
    body = encode(OperationAnswer(False, code=code, sentence=str(said)))
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
