"""Another user of the machine at a table's socket. Each line of standard input is a JSON value that says what to send.

    python -m tests.end_to_end.attacker SOCKET

An object is sent as `POST /v1/operations`, on one connection; its status and answer are printed. A string is a path for
`GET`. A number opens that many connections, holds them and prints how many it opened. `true` connects without a pause
until this process is ended.
"""

from __future__ import annotations

import errno
import json
import resource
import socket
import sys
from collections import deque
from typing import NoReturn

from controller.api.connections import BACKLOG
from tests.end_to_end.child import become_another_user


class Connection:
    """A connection that is opened again when the other end has closed it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._socket: socket.socket | None = None

    def ask(self, verb: str, path: str, body: bytes = b"") -> str:
        try:
            return self._ask(verb, path, body)
        except (OSError, IndexError):  # the daemon was restarted
            self._socket = None
            return self._ask(verb, path, body)

    def _ask(self, verb: str, path: str, body: bytes) -> str:
        sent = f"{verb} {path} HTTP/1.1\r\nHost: table\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        if self._socket is None:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(self._path)
        self._socket.sendall(sent)
        file = self._socket.makefile("rb")
        status = file.readline().split()[1].decode()
        head = b"".join(iter(file.readline, b"\r\n")).lower()
        length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        answer = file.read(length).decode()
        if b"connection: close" in head:
            self._socket.close()
            self._socket = None
        return f"{status} {answer}"


def dial(path: str) -> NoReturn:
    """Connect without a pause: after the first line the socket's queue is full."""
    held: deque[socket.socket] = deque(maxlen=2 * BACKLOG)  # a dropped one is closed
    full = False
    while True:
        held.append(socket.socket(socket.AF_UNIX))
        held[-1].setblocking(False)
        if held[-1].connect_ex(path) == errno.EAGAIN and not full:
            full = True
            sys.stdout.write("full\n")
            sys.stdout.flush()


def main() -> None:
    path = sys.argv[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    become_another_user()
    held: list[socket.socket] = []
    connection = Connection(path)
    for line in sys.stdin:
        said = json.loads(line)
        if said is True:
            dial(path)
        elif isinstance(said, int):
            for _ in range(said):
                held.append(socket.socket(socket.AF_UNIX))
                held[-1].connect(path)
            answer = str(len(held))
        elif isinstance(said, str):
            answer = connection.ask("GET", said)
        else:
            answer = connection.ask("POST", "/v1/operations", json.dumps(said).encode())
        sys.stdout.write(answer.strip() + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
