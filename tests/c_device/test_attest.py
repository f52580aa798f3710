"""The device in C shows which program it runs: docs/cardlink.md, "The program in the device"."""

from __future__ import annotations

import hmac
from pathlib import Path
from typing import Any, Final

import pytest

from tests.c_device.conversation import CDevice
from tests.c_device.small_host import ATTESTATION, CHALLENGE, SEALED_REJECT, STATUS, Frame, SmallHost

pytestmark = pytest.mark.tool("gcc")

SALT: Final = bytes(range(32))
PART: Final = 4096  # bytes that a tick hashes


def asked(host: SmallHost, offset: int, length: int, salt: bytes = SALT) -> list[Any]:
    """Return the answers to a challenge within a tick."""
    return attestations(host.exchange(host.sealed(CHALLENGE, [salt, offset, length]), ms=10))


def later(host: SmallHost, image: bytes) -> list[Frame]:
    """Return what comes in the time in which the whole program is hashed."""
    came: list[Frame] = []
    for _ in range(len(image) // (10 * PART) + 1):
        came += host.exchange(host.ack(), ms=100)
    return came


def attestations(frames: list[Frame]) -> list[Any]:
    return [frame.body for frame in frames if frame.kind == ATTESTATION]


def test_it_shows_any_range_of_its_program(program: Path, shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    image = program.read_bytes()
    assert "attests" in host.fields[8]
    for offset, length in ((0, 0), (0, 1), (1, 63), (5, 64), (100, 4096), (len(image) - 3, 3), (len(image), 0)):
        for _ in range(2):
            digest = hmac.digest(SALT, image[offset : offset + length], "sha256")
            assert asked(host, offset, length) == [[SALT, digest]]
    for offset, length in ((len(image), 1), (2**32 - 1, 1), (2**32 - 1, 2**32 - 1), (len(image) - 1, 2)):
        assert asked(host, offset, length) == [[SALT, b""]]
    assert asked(host, 0, 2**32 - 1) == []
    assert attestations(later(host, image)) == [[SALT, b""]]
    frames = host.exchange(host.sealed(CHALLENGE, [SALT[1:], 0, 1]))
    assert [frame.kind for frame in frames] == [SEALED_REJECT]


def test_statuses_go_on_while_it_hashes_the_whole_program_and_another_challenge_replaces_the_first(
    program: Path, shuffler: CDevice
) -> None:
    host = SmallHost(shuffler)
    host.link()
    host.exchange(host.ack(1))
    image = program.read_bytes()
    assert len(image) > 100 * PART
    assert asked(host, 0, len(image)) == asked(host, 0, len(image)) == []
    other = bytes(32)
    assert asked(host, 0, len(image), other) == []
    came = later(host, image)
    assert attestations(came) == [[other, hmac.digest(other, image, "sha256")]]
    assert any(frame.kind == STATUS for frame in came)
