"""P1: opens sealed cardlink frames and decodes them into typed messages, compared with a floor of bare operations.

    python -m benchmarks.p1_frames [--frames 20000] [--runs 7] [--peers PEERS/bin/python]

`--peers` names the Python of a venv with `benchmarks/peers.txt`; frame readers of other serial protocols are then
measured in the same run, with the same floor. Floor: split on the delimiter, two `replace`, `zlib.crc32`,
`struct.unpack`, the cipher's own `decrypt`, in one loop without function calls and without counters. Ours:
`FrameReader.receive` for each read, then each frame is opened and its body decoded by kind. Both see the same reads.

In the noisy stream one byte of a hundred is changed at random. A frame is hit if one of its bytes, including both
delimiters, was changed. A frame that was lost without being hit, or found without being sent, is a mistake, and the
program then exits with 1.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from benchmarks.frame_floor import cut, floor
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import FrameReader, enclose
from firmware_bridge.drivers.cardlink.messages import FrameKind, encode_body
from firmware_bridge.drivers.cardlink.sealing import FrameOpener, FrameSealer

READS: Final = (4096, 64, 16, 1)
NOISE: Final = 0.01  # the share of bytes that are damaged
GOAL: Final = 1.6
KEY: Final = bytes(range(1, 33))
DECODERS: Final = {FrameKind.REPORT.value: messages.decode_report, FrameKind.STATUS.value: messages.decode_status}

Take = Callable[[list[bytes]], int]


class FrameStream(NamedTuple):
    """Frames end to end, and the places of those that no noise has hit."""

    frames: list[bytes]
    data: bytes
    unhurt: set[int]


def make_frames(count: int, random: Random) -> list[bytes]:
    """Return sealed frames of a round: sets, single cards, statuses; 48 to 64 bytes each."""
    frames: list[bytes] = []
    sealer = FrameSealer(KEY)
    boot, shuffle = random.getrandbits(32), random.getrandbits(16)
    while len(frames) < count:
        number = len(frames) + 1
        uptime, ordinal = 1000 * number % 2**32, random.randrange(1, 50)
        body: messages.ReportBody | messages.StatusBody
        match number % 3:
            case 0:
                cards = [random.randrange(1, 53) for _ in range(3)]
                body = messages.SetDispensedReport(uptime, shuffle, ordinal, 52 - ordinal, 2, cards)
            case 1:
                body = messages.CardDrawnReport(uptime, shuffle, ordinal, 52 - ordinal, 2, random.randrange(1, 53))
            case _:
                body = messages.StatusBody(
                    number, uptime, shuffle, 52, ordinal, 52 - ordinal, 3, False, False, False, 0, number
                )
        kind = FrameKind.STATUS if isinstance(body, messages.StatusBody) else FrameKind.REPORT
        frame = enclose(sealer.seal(kind, boot, number, encode_body(body)))
        if 48 <= len(frame) <= 64:
            frames.append(frame)
        else:
            boot = random.getrandbits(32)
    return frames


def clean(frames: list[bytes]) -> FrameStream:
    return FrameStream(frames, b"".join(frames), set(range(len(frames))))


def noisy(frames: list[bytes], random: Random) -> FrameStream:
    """Change one byte of a hundred."""
    data = bytearray(b"".join(frames))
    hit = {place for place in range(len(data)) if random.random() < NOISE}
    for place in hit:
        data[place] ^= random.randrange(1, 256)
    starts = [0]
    for frame in frames:
        starts.append(starts[-1] + len(frame))
    unhurt = {
        index
        for index, (start, end) in enumerate(pairwise(starts))
        if not any(place in hit for place in range(start, end))
    }
    return FrameStream(frames, bytes(data), unhurt)


def framing_only(reads: list[bytes]) -> int:
    receive = FrameReader().receive
    return sum(len(receive(read)) for read in reads)


def ours(reads: list[bytes]) -> int:
    receive = FrameReader().receive
    opened = FrameOpener(KEY).open
    decoders = DECODERS
    found = 0
    for read in reads:
        for frame in receive(read):
            if (content := opened(frame)) is not None:
                decoders[content.kind](content.body)
                found += 1
    return found


def opening_floor(reads: list[bytes]) -> int:
    """Run `floor` with the cipher."""
    return floor(reads, ChaCha20Poly1305(KEY).decrypt)


def calls_only(reads: list[bytes]) -> int:
    """Make a method call for each read that does nothing: the least cost of any reader that is an object."""

    class Idle:
        def receive(self, data: bytes) -> tuple[bytes, ...]:
            return ()

    receive = Idle().receive
    for read in reads:
        for _ in receive(read):
            pass
    return 0


def seconds(take: Take, reads: list[bytes]) -> float:
    start = time.perf_counter()
    take(reads)
    return time.perf_counter() - start


def mistakes(stream: FrameStream, reads: list[bytes]) -> tuple[int, int]:
    """Count frames that were lost without being hit, and frames that were not sent."""
    reader = FrameReader()
    found = [frame.decoded for read in reads for frame in reader.receive(read)]
    sent = [FrameReader().receive(frame)[0].decoded for frame in stream.frames]
    lost = len({sent[place] for place in stream.unhurt} - set(found))
    return lost, len(set(found) - set(sent)) + len(found) - len(set(found))


def measure(name: str, stream: FrameStream, runs: int) -> list[dict[str, float]]:
    """Print a line for each size of read, and return the times in microseconds a frame."""
    rows: list[dict[str, float]] = []
    for size in READS:
        reads = cut(stream.data, size)
        times: dict[str, list[float]] = {}
        for _ in range(runs):
            for take in (floor, opening_floor, calls_only, framing_only, ours):
                times.setdefault(take.__name__, []).append(seconds(take, reads))
        micro = {what: statistics.median(found) / len(stream.frames) * 1e6 for what, found in times.items()}
        lost, false = mistakes(stream, reads)
        ratio, framing = micro["ours"] / micro["opening_floor"], micro["framing_only"] / micro["floor"]
        print(
            f"{name:<6} {size:>5} {micro['floor']:>9.2f} {micro['opening_floor']:>9.2f}"
            f" {micro['framing_only']:>9.2f} {micro['ours']:>9.2f}"
            f" {framing:>9.2f} {ratio:>7.2f} {len(stream.frames) - len(stream.unhurt):>6} {lost:>6} {false:>6}"
        )
        rows.append({**micro, "lost": lost, "false": false})
    return rows


def explain(rows: list[dict[str, float]]) -> str:
    """Return how the time is spent, from the first and the last row of the clean stream."""
    large, single = rows[0], rows[-1]
    typed = large["ours"] - large["framing_only"]
    return (
        f"4096-byte reads: framing {large['framing_only']:.2f} us a frame (split, CRC, header, one object), "
        f"opened and typed {typed:.2f} us ({typed / large['ours']:.0%}).\n"
        f"1-byte reads: the calls themselves, one a byte, are {single['calls_only']:.2f} of {single['ours']:.2f} us "
        f"({single['calls_only'] / single['ours']:.0%}); most of the rest is the tail, joined once a byte."
    )


def measure_peers(python: Path, frames: list[bytes], runs: int) -> None:
    """Print a line for each peer: its time relative to the floor, for each size of read."""
    with tempfile.TemporaryDirectory() as folder:
        stream = Path(folder) / "stream"
        stream.write_bytes(b"".join(frames))
        words = [str(python), "-m", "benchmarks.peer_frames", str(stream), str(len(frames)), str(runs)]
        done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    answer = json.loads(done.stdout)
    print("\npeers, their frames without noise: peer / floor for reads of " + ", ".join(map(str, READS)))
    for line in answer["peers"]:
        ratios = "  ".join(_peer_cell(line["ratios"][str(size)], line["found"][str(size)]) for size in READS)
        print(f"{line['peer']:<22}{line['bytes']:>5.0f} bytes  {ratios}")
    for why in answer["left_out"]:
        print(f"left out: {why}")


def _peer_cell(ratio: float, found: float) -> str:
    """Return a peer's ratio, or how many frames it finds if not all."""
    return f"{ratio:>12.1f}" if found == 1 else f"{f'finds {found:.0%}':>12}"


def main() -> int:
    parser = argparse.ArgumentParser(description="P1: cardlink frames decoded into typed messages")
    parser.add_argument("--frames", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--peers", type=Path, help="the Python of a venv with benchmarks/peers.txt")
    given = parser.parse_args()
    random = Random(1)
    frames = make_frames(given.frames, random)
    sizes = [len(frame) for frame in frames]
    print(f"{len(frames)} frames of {min(sizes)} to {max(sizes)} bytes, median of {given.runs}; us a frame")
    print("stream  read     floor   opening   framing      ours framing/   ours/    hit   lost  false")
    print("                           floor                        floor opening        unhit       ")
    rows = measure("clean", clean(frames), given.runs)
    noise = measure("noisy", noisy(frames, random), given.runs)
    print(explain(rows))
    if given.peers is not None:
        measure_peers(given.peers, frames[: given.frames // 4], max(3, given.runs // 2))
    worst = max(row["ours"] / row["opening_floor"] for row in (*rows, *noise))
    print(f"goal: at most {GOAL}x the floor that opens; the worst row here is {worst:.2f}x")
    return 1 if any(row["lost"] or row["false"] for row in (*rows, *noise)) else 0


if __name__ == "__main__":
    sys.exit(main())
