"""Frames are found in any bytes, and encoded, as an independent decoder does it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.drivers.cardlink.framing import (
    MAX_DECODED,
    MAX_ENCODED,
    SMALLEST,
    Frame,
    FrameReader,
    enclose,
    encode_frame,
)

from .independent_decoder import DecodedFrame, Receiver, crc32, decode_frames
from .page import golden_rows

BODY = MAX_DECODED - SMALLEST  # bytes, the most that a frame has room for
ESCAPED = b"\xc0\xdb\xdc\xdd"

golden = st.sampled_from([row.frame for row in golden_rows()])
special = st.lists(st.sampled_from(list(ESCAPED)), max_size=12).map(bytes)
noise = st.one_of(
    st.binary(max_size=40),
    special,
    golden,
    golden.flatmap(lambda frame: st.integers(0, len(frame)).map(lambda cut: frame[:cut])),
    golden.flatmap(
        lambda frame: st.tuples(st.integers(0, len(frame) - 1), st.integers(1, 255)).map(
            lambda hit: frame[: hit[0]] + bytes([frame[hit[0]] ^ hit[1]]) + frame[hit[0] + 1 :]
        )
    ),
    st.integers(500, 1100).map(lambda size: b"\x11" * size),
    st.integers(250, 600).map(lambda size: b"\xdb\xdc" * size),
)
streams = st.lists(noise, max_size=8).map(b"".join)


def cut_up(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


def seen(frames: list[Frame] | list[DecodedFrame]) -> list[tuple[int, int, int, int, int, bytes, bytes]]:
    return [
        (frame.version, frame.kind, frame.flags, frame.boot, frame.number, frame.body, frame.content)
        for frame in frames
    ]


@given(streams, st.lists(st.integers(0, 5000), max_size=30))
def test_any_bytes_decode_as_in_the_independent_decoder(data: bytes, cuts: list[int]) -> None:
    reader, other = FrameReader(), Receiver()
    found = [frame for piece in cut_up(data, cuts) for frame in reader.receive(piece)]
    assert seen(found) == seen(other.feed(data))
    assert reader.frames == len(found)
    # A piece counts as soon as it becomes too long; the other decoder counts at the end of the piece.
    assert reader.corrupt + reader.overlong - other.dropped in (0, 1)
    reader.receive(b"\xc0")
    other.feed(b"\xc0")
    assert reader.corrupt + reader.overlong == other.dropped


@given(streams, st.lists(st.integers(0, 5000), max_size=10), golden)
def test_after_any_bytes_the_next_good_frame_is_found(data: bytes, cuts: list[int], frame: bytes) -> None:
    reader = FrameReader()
    for piece in cut_up(data, cuts):
        reader.receive(piece)
    assert seen(reader.receive(frame))[-1] == seen(decode_frames(frame))[0]


@given(
    st.integers(0, 255),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
    st.one_of(st.binary(max_size=BODY), special),
    st.integers(0, 255),
)
def test_both_decoders_read_every_encoded_frame(kind: int, boot: int, number: int, body: bytes, flags: int) -> None:
    encoded = encode_frame(kind, boot, number, body, flags=flags)
    assert encoded[0] == encoded[-1] == 0xC0
    assert 0xC0 not in encoded[1:-1]
    (frame,) = FrameReader().receive(encoded)
    assert (frame.version, frame.kind, frame.flags, frame.boot, frame.number) == (1, kind, flags, boot, number)
    assert frame.body == body
    assert seen([frame]) == seen(decode_frames(encoded))


def test_a_frame_may_have_512_bytes_and_no_more() -> None:
    largest = encode_frame(0x20, 1, 1, b"\xc0" * BODY)
    assert len(FrameReader().receive(largest)) == 1
    with pytest.raises(ValueError, match="513 bytes exceeds 512"):
        encode_frame(0x20, 1, 1, bytes(BODY + 1))


@pytest.mark.parametrize("size", [1, 7, 64, 4096])
def test_an_over_long_frame_is_counted_once_and_not_kept(size: int) -> None:
    reader = FrameReader()
    data = b"\xc0" + b"\x55" * 5000
    for start in range(0, len(data), size):
        assert reader.receive(data[start : start + size]) == []
        assert len(reader._tail) <= MAX_ENCODED
    good = encode_frame(0x21, 2, 3)
    assert len(reader.receive(good)) == 1
    assert (reader.overlong, reader.corrupt, reader.frames) == (1, 0, 1)


def test_a_frame_too_long_after_unescaping_is_too_long() -> None:
    reader = FrameReader()
    assert reader.receive(b"\xc0" + b"\xdb\xdd" * 513 + b"\xc0") == []
    assert reader.receive(b"\xc0" + b"\x55" * 513 + b"\xc0") == []
    assert (reader.overlong, reader.corrupt) == (2, 0)


@pytest.mark.parametrize("size", [509, 600])
def test_an_over_long_frame_is_rejected_although_its_crc_is_right(size: int) -> None:
    content = b"\x01" * size
    data = b"\xc0" + content + crc32(content).to_bytes(4, "little") + b"\xc0"
    reader = FrameReader()
    assert reader.receive(data) == []
    assert decode_frames(data) == []
    assert (reader.overlong, reader.corrupt) == (1, 0)


@pytest.mark.parametrize("size", range(SMALLEST - 4))
def test_a_too_short_frame_is_corrupt_although_its_crc_is_right(size: int) -> None:
    reader = FrameReader()
    assert reader.receive(enclose(bytes(size))) == []
    assert (reader.overlong, reader.corrupt) == (0, 1)
