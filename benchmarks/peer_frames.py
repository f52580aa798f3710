"""Frame readers of other serial protocols, compared with the floor of P1. Runs in a venv of the peers; prints JSON.

    PEERS/bin/python -m benchmarks.peer_frames STREAM FRAMES RUNS

STREAM is a file of cardlink frames end to end, for the floor. Each peer decodes as many frames of its own protocol, of
28 to 40 bytes if it has such frames, in reads of 4096, 64, 16 and 1 byte, without noise. The share of frames that each
finds is printed too. A peer that is missing, or has changed its interface, is left out and named.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.frame_floor import cut, floor

READS = (4096, 64, 16, 1)


class Peer(NamedTuple):
    """A peer. `stream` is what it reads; `take` decodes reads of it and returns how many frames it found."""

    name: str
    stream: bytes
    take: Callable[[list[bytes]], int]


def packetizer(count: int) -> Peer:
    """Return pyserial's: pieces between zero bytes, without check or type."""
    from serial.threaded import Packetizer

    class Counting(Packetizer):
        found = 0

        def handle_packet(self, packet: bytes) -> None:
            self.found += 1

    def take(reads: list[bytes]) -> int:
        reader = Counting()
        for read in reads:
            reader.data_received(read)
        return int(reader.found)

    frame = bytes(1 + place % 255 for place in range(33)) + b"\0"
    return Peer("pyserial Packetizer", frame * count, take)


def mavlink(count: int) -> Peer:
    from pymavlink.dialects.v20 import common

    sender = common.MAVLink(None)
    frames = b"".join(
        sender.attitude_encode(number, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6).pack(sender) for number in range(count)
    )

    def take(reads: list[bytes]) -> int:
        reader = common.MAVLink(None)
        reader.robust_parsing = True
        return sum(len(reader.parse_buffer(read) or ()) for read in reads)

    return Peer("pymavlink", frames, take)


def ubx(count: int) -> Peer:
    """Return pyubx2's, which reads from a stream without waiting: it needs all bytes in advance."""
    from pyubx2 import GET, UBXMessage, UBXReader

    frame = UBXMessage("NAV", "NAV-POSLLH", GET, iTOW=1, lon=2, lat=3, height=4, hMSL=5, hAcc=6, vAcc=7).serialize()

    def take(reads: list[bytes]) -> int:
        return sum(1 for _ in UBXReader(io.BufferedReader(io.BytesIO(b"".join(reads)))))

    return Peer("pyubx2 (one read)", frame * count, take)


def modbus(count: int) -> Peer:
    """Return pymodbus', whose reader keeps no bytes; the caller does, like its own transaction layer."""
    from pymodbus.framer import FramerRTU
    from pymodbus.pdu import DecodePDU
    from pymodbus.pdu.register_message import ReadHoldingRegistersResponse

    framer = FramerRTU(DecodePDU(False))
    frame = framer.buildFrame(ReadHoldingRegistersResponse(registers=list(range(12)), dev_id=1))

    def take(reads: list[bytes]) -> int:
        kept, found = b"", 0
        for read in reads:
            kept += read
            while True:
                used, message = framer.handleFrame(kept, 1, 0)
                kept = kept[used:]
                if message is None:
                    break
                found += 1
        return found

    return Peer("pymodbus RTU", frame * count, take)


def ash(count: int) -> Peer:
    from bellows.ash import AshProtocol, DataFrame, Reserved

    class Above:
        def __init__(self) -> None:
            self.found = 0

        def data_received(self, data: bytes) -> None:
            self.found += 1

        def connection_made(self, protocol: Any) -> None:
            """Do nothing."""

    class Silent:
        def write(self, data: bytes) -> None:
            """Drop the answer."""

        def is_closing(self) -> bool:
            return False

    def framed(number: int) -> bytes:
        data = DataFrame(frm_num=number % 8, re_tx=False, ack_num=0, ezsp_frame=bytes(range(26))).to_bytes()
        return bytes(AshProtocol._stuff_bytes(data)) + bytes([Reserved.FLAG])

    def take(reads: list[bytes]) -> int:
        async def run() -> int:
            above = Above()
            reader = AshProtocol(above)
            reader.connection_made(Silent())
            for read in reads:
                reader.data_received(read)
            return above.found

        return asyncio.run(run())

    return Peer("bellows ASH", b"".join(framed(number) for number in range(count)), take)


def peers(count: int) -> Iterator[Peer | str]:
    """Yield each peer, or why it is left out."""
    for make in (packetizer, mavlink, ubx, modbus, ash):
        try:
            peer = make(count)
            peer.take(cut(peer.stream, READS[1]))
        except Exception as error:  # whatever a peer's version raises, the others are measured
            yield f"{make.__name__}: {type(error).__name__}: {error}"
            continue
        yield peer


def micro(take: Callable[[list[bytes]], int], reads: list[bytes], runs: int, count: int) -> float:
    """Return microseconds a frame, the median."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        take(reads)
        times.append(time.perf_counter() - start)
    return statistics.median(times) / count * 1e6


def main() -> None:
    logging.disable(logging.CRITICAL)
    path, count, runs = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    stream = path.read_bytes()
    lines: list[dict[str, object]] = []
    left_out = []
    for peer in peers(count):
        if isinstance(peer, str):
            left_out.append(peer)
            continue
        ratios, found = {}, {}
        for size in READS:
            least = micro(floor, cut(stream, size), runs, count)
            reads = cut(peer.stream, size)
            found[str(size)] = peer.take(reads) / count
            ratios[str(size)] = micro(peer.take, reads, runs, count) / least
        lines.append({"peer": peer.name, "bytes": len(peer.stream) / count, "ratios": ratios, "found": found})
    print(json.dumps({"peers": lines, "left_out": left_out}))


if __name__ == "__main__":
    main()
