"""Another user of the machine at a table's socket: prints status and body of the answer to `GET /v1/state`."""

from __future__ import annotations

import socket
import sys

from tests.end_to_end.child import become_another_user


def main() -> None:
    become_another_user()
    with socket.socket(socket.AF_UNIX) as table:
        table.connect(sys.argv[1])
        table.sendall(b"GET /v1/state HTTP/1.0\r\nHost: table\r\n\r\n")
        answer = b"".join(iter(lambda: table.recv(4096), b""))
    head, _, body = answer.decode().partition("\r\n\r\n")
    sys.stdout.write(f"{head.split()[1]}\n{body}\n")


if __name__ == "__main__":
    main()
