"""The Unix socket of the API: its path, and the connections of users, whom the kernel names.

A user who is not admitted, or who has too many connections, gets a short answer and is closed, before HTTP.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import socket
import stat
import struct
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from controller.api.callers import Caller
from controller.api.connections import BACKLOG, LINGER, Acceptor, Connection, refusal
from controller.api.refusals import Refusals
from firmware_bridge.messages import Message, MessageError, message

LONGEST_PATH: Final = 107  # bytes of a socket's path, by the kernel's limit
REFUSED_AT_ONCE: Final = 32  # connections refused before others have their turn: each takes a tenth of the time
OF_ONE_USER: Final = 32  # connections of one user
IN_ALL: Final = 256
KEPT_FOR_HEALTH: Final = 4  # places that only the daemon's own user takes
LINGERING: Final = 32  # refused clients that have time to read why; others are closed immediately
_PEER: Final = struct.Struct("iII")  # pid, uid, gid

NOT_ADMITTED: Final = message(
    "This user is not admitted to the table; add the uid to a person or a reader in the configuration."
)
TOO_MANY: Final = message("This user has too many connections to the table; end programs that use it, then try again.")
FULL: Final = message("The table has too many connections; end programs that use it, then try again.")


OTHER_PATH: Final = message("Name another path under [api] socket.")


class SocketRefusedError(MessageError):
    """Reports an unusable `[api] socket`. The message says why."""

    def __init__(self, path: Path, why: Message, hint: Message = OTHER_PATH) -> None:
        super().__init__(message("[api] socket: {path} {why}.", path=str(path), why=why), hint)


def why_too_long(path: Path) -> Message | None:
    """Return why the system cannot use that socket name, or None if it can."""
    length = len(os.fsencode(path))
    if length <= LONGEST_PATH:
        return None
    return message(
        "is {length} bytes long, and the system allows at most {longest}", length=length, longest=LONGEST_PATH
    )


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
    """Return the device and inode of the dead socket at that path, or None if nothing is there. Raises
    `SocketRefusedError`.
    """
    try:
        found = os.lstat(path.name, dir_fd=folder)
    except FileNotFoundError:
        return None
    if not stat.S_ISSOCK(found.st_mode):
        raise _no_socket(path, found.st_mode)
    with socket.socket(socket.AF_UNIX) as caller:
        caller.setblocking(False)
        answered = caller.connect_ex(f"/proc/self/fd/{folder}/{path.name}")
    if answered in (0, errno.EAGAIN):
        raise _in_use(path)
    if answered != errno.ECONNREFUSED:
        raise SocketRefusedError(path, message("is a socket that cannot be replaced: {why}", why=os.strerror(answered)))
    return found.st_dev, found.st_ino


def _no_socket(path: Path, mode: int) -> SocketRefusedError:
    if stat.S_ISDIR(mode):
        hint = message("Name a path in that folder, such as {path}/api.sock.", path=str(path))
    else:
        hint = message(
            "Move it away (mv {path} {path}.old) if it does not belong there. Otherwise name another path under [api] "
            "socket.",
            path=str(path),
        )
    return SocketRefusedError(path, message("exists and is not a socket; it was left untouched"), hint)


def _in_use(path: Path) -> SocketRefusedError:
    return SocketRefusedError(
        path,
        message("belongs to a program that is running"),
        message("End that program, or name another path under [api] socket."),
    )


def _put(folder: int, fresh: str, path: Path, dead: tuple[int, int] | None) -> None:
    """Give the listening socket `fresh` its name, in place of the dead socket.

    Another program may do the same at this moment: only one of the two gets the name. Raises
    `SocketRefusedError`.
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
        self.path = path
        self._name = path.name
        path.parent.mkdir(parents=True, exist_ok=True)
        self._folder = _open_folder(path)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.setblocking(False)
        try:
            dead = _check_in(self._folder, path)
            fresh = f".{secrets.token_hex(8)}"  # renamed after it listens, or it would look dead
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

    @property
    def is_there(self) -> bool:
        """Return whether the path still leads to this socket."""
        try:
            found = self.path.lstat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._node

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
            raise SocketRefusedError(path, message("was replaced while it was created"))
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


class SocketAcceptor(Acceptor):
    """The connections of the Unix socket. `admits(uid)` is called for each connection.

    A refusal costs little and is fast, because everybody else waits in the same queue.
    """

    refused_at_once = REFUSED_AT_ONCE

    def __init__(self, listener: Listener, admits: Callable[[int], bool], refusals: Refusals) -> None:
        super().__init__((listener.socket,), refusals)
        self._listener = listener
        self._admits = admits
        self._own = os.geteuid()
        self._inside: Counter[int] = Counter()
        self._connections: set[Connection] = set()
        self._lingering: dict[socket.socket, asyncio.TimerHandle] = {}

    async def own_connection(self) -> socket.socket:
        """Return the other end of a connection that takes no place, needs no listener and may be idle forever."""
        here, there = socket.socketpair(socket.AF_UNIX)
        here.setblocking(False)
        there.setblocking(False)
        connection = Connection(self._make_protocol(), Caller(self._own), lambda: None, kept=True)
        await self._loop.connect_accepted_socket(lambda: connection, there)
        return here

    def renew(self) -> bool:
        """Create the socket again if something removed it. Return whether it was gone. Raise `SocketRefusedError` and
        OSError if that fails. Connections stay.
        """
        if self._listener.is_there:
            return False
        fresh = Listener(self._listener.path)
        self._accept(self._listener.socket)  # clients that connected before
        self._loop.remove_reader(self._listener.socket)
        self._listener.close()
        self._listener = fresh
        self._listening = (fresh.socket,)
        self._accept_again()
        return True

    def close(self) -> None:
        super().close()
        for peer, timer in self._lingering.items():
            timer.cancel()
            peer.close()
        self._lingering.clear()
        self._listener.close()

    def admit_again(self) -> None:
        """End the connections of users who are no longer admitted."""
        for connection in list(self._connections):
            uid = connection.caller.uid
            assert uid is not None, "the kernel names the user of each connection"
            if not self._admits(uid):
                connection.abort()

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
            self._connections.discard(connection)
            self._inside[uid] -= 1
            if not self._inside[uid]:
                del self._inside[uid]

        connection = Connection(self._make_protocol(), Caller(uid), left)
        self._connections.add(connection)
        self._enter(peer, connection)

    def _refuse(self, peer: socket.socket, uid: int, status: int, code: str, said: Message) -> None:
        self._refusals.note(code, Caller(uid))
        if len(self._lingering) >= LINGERING:
            peer.close()
            return
        try:
            peer.send(refusal(status, code, said))
            peer.shutdown(socket.SHUT_WR)
        except OSError:  # it has already gone
            peer.close()
        else:  # closed immediately, many clients would fail to write their request and never read why
            self._lingering[peer] = self._loop.call_later(LINGER, self._end_lingering, peer)

    def _end_lingering(self, peer: socket.socket) -> None:
        del self._lingering[peer]
        peer.close()
