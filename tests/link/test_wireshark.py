"""The Wireshark dissector, docs/cardlink.lua, reads the golden captures as the independent decoder does."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from firmware_bridge.captures.capture_format import FromDevice, ToDevice
from firmware_bridge.captures.reader import read_capture
from tests.architecture.sources import ROOT
from tests.captures.make import FOLDER
from tests.protocol.independent_decoder import DecodedFrame, Receiver, Value, decode_body, little_endian
from tests.protocol.page import rows_of, section

pytestmark = pytest.mark.tool("tshark")

CAPTURES: Final = sorted(FOLDER.glob("cardlink-*.capture"))
# Damaged frames of the device; noise between frames is no frame. Wireshark shows the one that was cut off by a hang-up
# again with each packet until the frame after it is whole.
DAMAGED: Final = {"cardlink-noise": 10, "cardlink-hang-up": 7}
PIECE: Final = 40  # bytes of one packet, so that most frames lie across several
RAW_IP: Final = 101  # pcap's number for packets that begin with the IP header
DISSECT: Final = ("tshark", "-X", f"lua_script:{ROOT / 'docs/cardlink.lua'}", "-r")


class Address(NamedTuple):
    name: str
    number: bytes
    port: int


HOST: Final = Address("192.0.2.1", bytes([192, 0, 2, 1]), 50000)
DEVICE: Final = Address("192.0.2.7", bytes([192, 0, 2, 7]), 4001)


def pieces(path: Path) -> Iterator[tuple[int, Address, Address, bytes]]:
    """Yield time, sender, receiver and bytes of each packet."""
    for recording in read_capture([path]).recordings:
        for record in recording.records:
            if isinstance(record, (FromDevice, ToDevice)):
                ends = (DEVICE, HOST) if isinstance(record, FromDevice) else (HOST, DEVICE)
                for at in range(0, len(record.data), PIECE):
                    yield record.ms, *ends, record.data[at : at + PIECE]


def write_pcap(path: Path, packets: Sequence[tuple[int, Address, Address, bytes]]) -> None:
    """Write a capture as of a serial server that carries the line over TCP."""
    sent = {HOST: 1, DEVICE: 1}
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 0xFFFF, RAW_IP))
        for ms, sender, to, data in packets:
            tcp = struct.pack(">HHIIHHHH", sender.port, to.port, sent[sender], sent[to], 0x5018, 0xFFFF, 0, 0) + data
            ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0, sender.number, to.number) + tcp
            sent[sender] += len(data)
            file.write(struct.pack("<IIII", ms // 1000, ms % 1000 * 1000, len(ip), len(ip)) + ip)


def dissected(pcap: Path, *options: str) -> list[str]:
    """Return tshark's lines."""
    done = subprocess.run([*DISSECT, pcap, *options], check=True, capture_output=True, text=True)
    assert "Lua" not in done.stderr, done.stderr
    return done.stdout.splitlines()


def clear_kinds() -> dict[int, list[str]]:
    """Return the names of the fields of each kind that is sent in the clear."""
    rows = rows_of(section("Kinds"), "kind")
    return {
        int(number, 16): [name for name, *_ in rows_of(section(body), "field")]
        for number, _, _, body, how in rows
        if how == "clear"
    }


def shown(value: Value) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case bytes():
            return value.hex()
        case list():
            return f"[{', '.join(map(shown, value))}]"
    return str(value)


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.stem)
def test_a_capture_is_dissected(capture: Path, tmp_path: Path) -> None:
    """Kinds, headers and counters of each direction, damaged frames, and the fields of the clear bodies in order."""
    packets, clear = list(pieces(capture)), clear_kinds()
    write_pcap(tmp_path / "line.pcap", packets)
    receivers, clear_frames = {HOST: Receiver(), DEVICE: Receiver()}, list[DecodedFrame]()
    for _, sender, _, data in packets:
        clear_frames += [frame for frame in receivers[sender].feed(data) if frame.kind in clear]

    columns = [f"cardlink.{name}" for name in ("kind", "flags", "boot", "number", "counter", "damaged")]
    fields = [option for name in columns for option in ("-e", name)]
    for sender, receiver in receivers.items():
        lines = dissected(
            tmp_path / "line.pcap", "-Y", f"cardlink && ip.src == {sender.name}", "-T", "fields", "-E", "occurrence=a",
            *fields,
        )  # fmt: skip
        read = [[column.split(",") if column else [] for column in line.split("\t")] for line in lines]
        headers = [tuple(int(one, 0) for one in row) for line in read for row in zip(*line[:4], strict=True)]
        assert headers == [(frame.kind, frame.flags, frame.boot, frame.number) for frame in receiver.frames]
        counters = [int(counter) for line in read for counter in line[4]]
        assert counters == [little_endian(frame.body[:4]) for frame in receiver.frames if frame.kind not in clear]
        assert sum(len(line[5]) for line in read) == (DAMAGED.get(capture.stem, 0) if sender is DEVICE else 0)

    expected = []
    for frame in clear_frames:
        values = decode_body(frame.body)
        assert isinstance(values, list)
        expected += [f"{name}: {shown(value)}" for name, value in zip(clear[frame.kind], values, strict=False)]
    names = tuple(f"        {name}: " for fields_of in clear.values() for name in fields_of)
    lines = [line.strip() for line in dissected(tmp_path / "line.pcap", "-O", "cardlink") if line.startswith(names)]
    assert lines == expected
