"""The listener of the API: it accepts connections, asks the kernel for their user, and refuses before HTTP.

A user who is not admitted, or who has too many connections, gets a short answer and is closed. Everyone else must send
data in time: a head, then a body, then the next request within the idle time (`Visitor`).
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import socket
import stat
import struct
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, cast

from controller.api.bodies import OperationAnswer, encode
from controller.api.callers import DISPLAY, Caller
from controller.api.refusals import Refusals
from controller.api.request_gate import ChunkedBodyError, HeadTooLongError, RequestGate
from firmware_bridge.messages import Message, message

LONGEST_PATH: Final = 107  # bytes of a socket's path, by the kernel's limit
BACKLOG: Final = 256  # clients in the kernel's queue; further ones wait until there is room, or fail to connect
AT_ONCE: Final = 4  # connections admitted before others have their turn
REFUSED_AT_ONCE: Final = 32  # connections refused before others have their turn: each takes a tenth of the time
AFTER_REFUSAL: Final = 0.002  # seconds without accepting, because a refused client may retry immediately and forever
OF_ONE_USER: Final = 32  # connections of one user
IN_ALL: Final = 256
KEPT_FOR_HEALTH: Final = 4  # places that only the daemon's own user takes
OF_ONE_REQUEST: Final = 128 * 1024  # bytes received until it is answered
LINGER: Final = 1.0  # seconds for a refused client to read why
LINGERING: Final = 32  # refused clients that get this time; others are closed immediately
PAUSE: Final = 1.0  # seconds without accepting after the system failed to
HEAD_WITHIN: Final = 5.0  # seconds for the head of a request, from its first byte or from the connection
IDLE: Final = 75.0  # seconds between two requests
WRITE_WITHIN: Final = 30.0  # seconds for a peer to read more of what is written to it
_PEER: Final = struct.Struct("iII")  # pid, uid, gid
_REASONS: Final = {403: "Forbidden", 411: "Length Required", 503: "Service Unavailable"}

NOT_ADMITTED: Final = message(
    "This user is not admitted to the table; add the uid to a person or a reader in the configuration."
)
TOO_MANY: Final = message("This user has too many connections to the table; end programs that use it, then try again.")
FULL: Final = message("The table has too many connections; end programs that use it, then try again.")
CHUNKED: Final = message("The table does not accept a body in chunks; send the request with Content-Length.")


class SocketRefusedError(Exception):
    """An unusable `[api] socket`. The sentence says why; `hint` is the next step."""

    def __init__(self, path: Path, why: str, hint: str = "Name another path under [api] socket.") -> None:
        super().__init__(f"[api] socket: {path} {why}.")
        self.hint = hint


def why_too_long(path: Path) -> str:
    """Return why the system cannot use that socket name; empty if it can."""
    length = len(os.fsencode(path))
    return f"is {length} bytes long, and the system allows at most {LONGEST_PATH}" if length > LONGEST_PATH else ""


def check_path(path: Path) -> None:
    """Check that nothing but a dead socket is at the path. Raises `SocketRefusedError`; removes nothing."""
    if why := why_too_long(path):
        raise SocketRefusedError(path, why)
    try:
        folder = _open_folder(path)
    except FileNotFoundError:
        return
    try:
        _check_in(folder, path)
    finally:
        os.close(folder)


def _open_folder(path: Path) -> int:
    """Open the folder, so that it stays the same even if it is moved or replaced by a link."""
    return os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def _check_in(folder: int, path: Path) -> tuple[int, int] | None:
    """Return device and inode of the dead socket that is there; None: nothing is. Raises `SocketRefusedError`."""
    try:
        found = os.lstat(path.name, dir_fd=folder)
    except FileNotFoundError:
        return None
    if not stat.S_ISSOCK(found.st_mode):
        raise SocketRefusedError(path, "exists and is not a socket; it was left untouched")
    with socket.socket(socket.AF_UNIX) as caller:
        caller.setblocking(False)
        answered = caller.connect_ex(f"/proc/self/fd/{folder}/{path.name}")
    if answered in (0, errno.EAGAIN):
        raise _in_use(path)
    if answered != errno.ECONNREFUSED:
        raise SocketRefusedError(path, f"is a socket that cannot be replaced: {os.strerror(answered)}")
    return found.st_dev, found.st_ino


def _in_use(path: Path) -> SocketRefusedError:
    return SocketRefusedError(
        path, "is the socket of a program that runs", "End that program, or name another path under [api] socket."
    )


def _put(folder: int, fresh: str, path: Path, dead: tuple[int, int] | None) -> None:
    """Give the listening socket `fresh` its name, in place of the dead one.

    Another program may do the same at this moment: only one of both gets the name. Raises `SocketRefusedError`.
    """
    aside = f"{fresh}-dead"
    if dead is not None:
        with suppress(FileNotFoundError):
            os.rename(path.name, aside, src_dir_fd=folder, dst_dir_fd=folder)
            found = os.lstat(aside, dir_fd=folder)
            if (found.st_dev, found.st_ino) != dead:
                os.rename(aside, path.name, src_dir_fd=folder, dst_dir_fd=folder)
                raise _in_use(path)
            os.unlink(aside, dir_fd=folder)
    try:
        os.link(fresh, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise _in_use(path) from None


class Listener:
    """The listening socket at its path. `close` removes the path if it is still this socket's.

    Another user may own the folder and replace a checked path with a link to any file. So the folder is held open, and
    only this socket is opened to all users.
    """

    def __init__(self, path: Path) -> None:
        check_path(path)
        self._name = path.name
        path.parent.mkdir(parents=True, exist_ok=True)
        self._folder = _open_folder(path)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.setblocking(False)
        try:
            dead = _check_in(self._folder, path)
            fresh = f".{secrets.token_hex(8)}"  # renamed once it listens: none takes it for dead
            self.socket.bind(f"/proc/self/fd/{self._folder}/{fresh}")
            try:
                self.socket.listen(BACKLOG)
                _put(self._folder, fresh, path, dead)
            finally:
                os.unlink(fresh, dir_fd=self._folder)
            self._node = _open_to_all(self._folder, path, self.socket)
        except BaseException:
            self.socket.close()
            os.close(self._folder)
            raise

    def close(self) -> None:
        self.socket.close()
        with suppress(FileNotFoundError):
            found = os.lstat(self._name, dir_fd=self._folder)
            if (found.st_dev, found.st_ino) == self._node:
                os.unlink(self._name, dir_fd=self._folder)
        os.close(self._folder)


def _open_to_all(folder: int, path: Path, listening: socket.socket) -> tuple[int, int]:
    """Let anyone connect; the listener admits only users of the configuration. Returns device and inode.

    The folder's owner can put another socket there, such as one of root's, so only a socket of this process is opened.
    """
    node = os.open(path.name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        found = os.fstat(node)
        if not (stat.S_ISSOCK(found.st_mode) and _leads_to(listening, node)):
            raise SocketRefusedError(path, "was replaced while it was created")
        Path(f"/proc/self/fd/{node}").chmod(0o666)  # chmod of the path would follow a link
    finally:
        os.close(node)
    return found.st_dev, found.st_ino


def _leads_to(listening: socket.socket, node: int) -> bool:
    """Return whether the socket that is open as `node` is this process's."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.setblocking(False)
        if caller.connect_ex(f"/proc/self/fd/{node}"):
            return False
        pid, *_ = _PEER.unpack(caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
        if pid != os.getpid():
            return False
        listening.accept()[0].close()
    return True


def peer_uid(peer: socket.socket) -> int:
    """Return the user id of the other end of a Unix socket, from the kernel."""
    return int(_PEER.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))[1])


class Visitor(asyncio.Protocol):
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
        self._waits = False  # for the first byte of a request
        self._received = 0  # bytes of the request
        self._gate = RequestGate()
        self._given_up = False  # before the connection was made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if self._given_up:
            self._transport.abort()
        self._inner.connection_made(transport)
        self._end_after(HEAD_WITHIN)

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
        """Pass on what came of the next request before the answer. A peer that does not wait gets no reasons."""
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
        self._transport.write(_refusal(status, code, said))
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


class Entrance(ABC):
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
                # The system usually lacks descriptors, and would repeat the error for as long as a client waits.
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

    def _enter(self, peer: socket.socket, visitor: Visitor) -> None:
        entering = self._loop.connect_accepted_socket(lambda: visitor, peer)
        task = self._loop.create_task(entering)
        self._entering.add(task)
        task.add_done_callback(self._entering.discard)


class Door(Entrance):
    """The connections of the Unix socket. `admits(uid)` is called for each one.

    A refusal costs little and is fast, because everybody else waits in the same queue.
    """

    refused_at_once = REFUSED_AT_ONCE

    def __init__(self, listener: Listener, admits: Callable[[int], bool], refusals: Refusals) -> None:
        super().__init__((listener.socket,), refusals)
        self._listener = listener
        self._admits = admits
        self._own = os.geteuid()
        self._inside: Counter[int] = Counter()
        self._visitors: set[Visitor] = set()
        self._lingering: dict[socket.socket, asyncio.TimerHandle] = {}

    async def own_connection(self) -> socket.socket:
        """Return the other end of a connection that takes no place, needs no listener and may be idle forever."""
        here, there = socket.socketpair(socket.AF_UNIX)
        here.setblocking(False)
        there.setblocking(False)
        visitor = Visitor(self._make_protocol(), Caller(self._own), lambda: None, kept=True)
        await self._loop.connect_accepted_socket(lambda: visitor, there)
        return here

    def close(self) -> None:
        super().close()
        for peer, timer in self._lingering.items():
            timer.cancel()
            peer.close()
        self._lingering.clear()
        self._listener.close()

    def admit_again(self) -> None:
        """End the connections of users who are no longer admitted."""
        for visitor in list(self._visitors):
            uid = visitor.caller.uid
            assert uid is not None, "the kernel names the user of each connection"
            if not self._admits(uid):
                visitor.abort()

    def _receive(self, peer: socket.socket) -> bool:
        uid = peer_uid(peer)
        places = IN_ALL if uid == self._own else IN_ALL - KEPT_FOR_HEALTH
        if not (self._admits(uid) or uid == self._own):
            self._refuse(peer, uid, 403, "not-admitted", NOT_ADMITTED)
        elif self._inside[uid] >= OF_ONE_USER:
            self._refuse(peer, uid, 503, "connections", TOO_MANY)
        elif self._inside.total() >= places:
            self._refuse(peer, uid, 503, "connections", FULL)
        else:
            self._let_in(peer, uid)
            return True
        return False

    def _let_in(self, peer: socket.socket, uid: int) -> None:
        self._inside[uid] += 1

        def left() -> None:
            self._visitors.discard(visitor)
            self._inside[uid] -= 1
            if not self._inside[uid]:
                del self._inside[uid]

        visitor = Visitor(self._make_protocol(), Caller(uid), left)
        self._visitors.add(visitor)
        self._enter(peer, visitor)

    def _refuse(self, peer: socket.socket, uid: int, status: int, code: str, said: Message) -> None:
        self._refusals.note(code, Caller(uid))
        if len(self._lingering) >= LINGERING:
            peer.close()
            return
        try:
            peer.send(_refusal(status, code, said))
            peer.shutdown(socket.SHUT_WR)
        except OSError:  # it has already gone
            peer.close()
        else:  # closed immediately, many clients would fail to write their request and never read why
            self._lingering[peer] = self._loop.call_later(LINGER, self._end_lingering, peer)

    def _end_lingering(self, peer: socket.socket) -> None:
        del self._lingering[peer]
        peer.close()


def _refusal(status: int, code: str, said: Message) -> bytes:
    """Return a whole HTTP answer to a request that is not read, in English."""
    body = encode(OperationAnswer(False, code=code, sentence=str(said)))
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
