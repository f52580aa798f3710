"""Input that a line may bring: bytes that are not frames, invalid messages in valid frames, and misplaced messages."""

from __future__ import annotations

from typing import Final, NamedTuple

from hypothesis import strategies as st

from firmware_bridge.drivers.cardlink.framing import HEADER, enclose
from firmware_bridge.drivers.cardlink.host import CardlinkHost
from firmware_bridge.drivers.cardlink.messages import FrameKind, encode_body
from firmware_bridge.drivers.cardlink.sealing import LONGEST_BODY

from .independent_decoder import decode_frames
from .page import golden_rows
from .parts import BOOT, BenchDevice, sealed

_BODIES: Final = sorted({encode_body(row.body) for row in golden_rows()})
_PAYLOADS: Final = sorted({decode_frames(row.frame)[0].body for row in golden_rows()})

values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**64 - 1),
        st.integers(0, 60),
        st.floats(),
        st.text(max_size=8),
        st.binary(max_size=20),
    ),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=12,
)


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    """Draw a right body with some bytes changed, cut or added."""
    body = bytearray(draw(st.sampled_from(_BODIES)))
    for _ in range(draw(st.integers(0, 3))):
        if body:
            body[draw(st.integers(0, len(body) - 1))] = draw(st.integers(0, 255))
    cut = draw(st.integers(0, len(body)))
    return bytes(body[:cut] if draw(st.booleans()) else body) + draw(st.binary(max_size=3))


bodies = st.one_of(
    st.sampled_from(_BODIES),
    spoilt(),
    values.map(encode_body).filter(lambda body: len(body) <= 497),
    st.just(b"\x91" * 497),
    st.just(b"\xdd\xff\xff\xff\xff"),
)


kinds = st.one_of(st.sampled_from(list(FrameKind)), st.integers(0, 255))
boots = st.one_of(st.just(BOOT), st.just(BOOT), st.just(BOOT), st.integers(0, 2**32 - 1))
numbers = st.one_of(st.integers(0, 10), st.integers(0, 2**32 - 1))


@st.composite
def whole_frames(draw: st.DrawFn) -> bytes:
    """Draw an undamaged frame of any kind with any payload, not sealed, often with the right boot."""
    version = draw(st.sampled_from([1, 1, 1, 1, 1, 1, 1, 0, 2, 255]))
    header = HEADER.pack(version, draw(kinds), draw(st.integers(0, 255)), draw(boots), draw(numbers))
    return enclose(header + draw(st.one_of(bodies, st.sampled_from(_PAYLOADS))))


class SealedFrame(NamedTuple):
    """A frame that a side of a link may seal, whatever it means."""

    kind: int
    boot: int
    number: int
    body: bytes
    flags: int

    def by(self, side: CardlinkHost | BenchDevice) -> bytes:
        return sealed(side, self.kind, self.body, boot=self.boot, number=self.number, flags=self.flags)


sealed_frames = st.builds(
    SealedFrame,
    kinds,
    boots,
    numbers,
    bodies.map(lambda body: body[:LONGEST_BODY]),
    st.sampled_from([0, 0, 0, 1, 2]),
)


raw = st.lists(
    st.one_of(
        st.binary(max_size=60),
        st.sampled_from([row.frame[:-2] for row in golden_rows()]),
        st.just(b"\xc0"),
        st.integers(1, 1500).map(lambda size: b"\x42" * size),
    ),
    max_size=6,
).map(b"".join)
