"""Attaches the device of a USB/IP server to a chosen port of the virtual host controller: HOST TCP-PORT HUB-PORT.

Debian's own `usbip attach` does the same and takes the first free port.
"""

import socket
import struct
import sys
from pathlib import Path

CONTROLLER = Path("/sys/devices/platform/vhci_hcd.0")
VERSION, IMPORT, BUS_ID = 0x0111, 0x8003, b"1-1"
RECORD = 312  # bytes that follow an import: path, bus id, then the numbers at 288


def receive(connection: socket.socket, size: int) -> bytes:
    data = connection.recv(size, socket.MSG_WAITALL)
    if len(data) < size:
        raise SystemExit("The server ended the connection.")
    return data


def main(host: str, tcp_port: str, hub_port: str) -> None:
    connection = socket.create_connection((host, int(tcp_port)), 60)
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(struct.pack(">HHI32s", VERSION, IMPORT, 0, BUS_ID))
    if struct.unpack(">HHI", receive(connection, 8))[2]:
        raise SystemExit("The server does not give its device.")
    bus, device, speed = struct.unpack(">III", receive(connection, RECORD)[288:300])
    asked = f"{hub_port} {connection.fileno()} {bus << 16 | device} {speed}"
    (CONTROLLER / "attach").write_text(asked)


main(*sys.argv[1:])
