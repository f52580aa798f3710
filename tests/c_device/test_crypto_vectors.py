"""The hashes and the cipher of the device in C, against RFC 8439, hashlib, hmac and the cipher of cryptography."""

from __future__ import annotations

import hashlib
import hmac
import random
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tests.c_device.conversation import PLAIN, build

pytestmark = pytest.mark.tool("gcc")

LENGTHS = (0, 1, 15, 16, 17, 31, 32, 33, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 477, 512)
KEY = bytes(range(32))


def ask(program: Path, *questions: tuple[str | bytes, ...]) -> list[str]:
    """Return the lines of the self-test mode's answer; bytes are passed as hexadecimal."""
    lines = (
        " ".join(word if isinstance(word, str) else word.hex() or "-" for word in question) for question in questions
    )
    done = subprocess.run(
        [program, "--crypto"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def some(count: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(count)


def test_sha256(program: Path) -> None:
    texts = [some(length, length) for length in LENGTHS]
    assert ask(program, *(("sha256", text) for text in texts)) == [hashlib.sha256(text).hexdigest() for text in texts]


def test_hmac(program: Path) -> None:
    texts = [some(length, length) for length in LENGTHS]
    keys = [some(32, 1000 + length) for length in LENGTHS]
    assert ask(program, *(("hmac", key, text) for key, text in zip(keys, texts, strict=True))) == [
        hmac.digest(key, text, "sha256").hex() for key, text in zip(keys, texts, strict=True)
    ]


def test_the_cipher_by_rfc_8439_2_8_2(program: Path) -> None:
    text = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
        b"sunscreen would be it."
    )
    key = bytes(range(0x80, 0xA0))
    nonce = bytes.fromhex("070000004041424344454647")
    known = bytes.fromhex("50515253c0c1c2c3c4c5c6c7")
    (sealed,) = ask(program, ("seal", key, nonce, known, text))
    assert sealed == (
        "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b"
        "1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
        "3ff4def08e4b7a9de576d26586cec64b6116"
        "1ae10b594f09e26a7e902ecbd0600691"
    )
    assert ask(program, ("open", key, nonce, known, bytes.fromhex(sealed))) == [text.hex()]


@pytest.mark.parametrize("edge", [b"\x00", b"\xff", None], ids=["zeros", "ones", "random"])
def test_the_cipher_at_every_length_where_blocks_end(program: Path, edge: bytes | None) -> None:
    cases = [
        (some(32, length), some(12, length), some(15, length), edge * length if edge else some(length, length + 1))
        for length in LENGTHS[:-1]
    ]
    sealed = ask(program, *(("seal", *case) for case in cases))
    assert sealed == [ChaCha20Poly1305(key).encrypt(nonce, text, known).hex() for key, nonce, known, text in cases]
    opened = ask(
        program,
        *(("open", *case[:3], bytes.fromhex(frame)) for case, frame in zip(cases, sealed, strict=True)),
    )
    assert opened == [case[3].hex() for case in cases]


def test_one_changed_bit_anywhere_is_forged(program: Path) -> None:
    nonce, known = some(12, 1), some(15, 2)
    sealed = ChaCha20Poly1305(KEY).encrypt(nonce, some(20, 3), known)
    changed: list[tuple[str | bytes, ...]] = []
    for bit in range(8 * len(sealed)):
        text = bytearray(sealed)
        text[bit // 8] ^= 1 << bit % 8
        changed.append(("open", KEY, nonce, known, bytes(text)))
    for bit in range(8 * len(known)):
        other = bytearray(known)
        other[bit // 8] ^= 1 << bit % 8
        changed.append(("open", KEY, nonce, bytes(other), sealed))
    assert set(ask(program, *changed)) == {"forged"}
    assert ask(program, ("open", KEY, nonce, known, sealed)) != ["forged"]


def part(text: bytes) -> bytes:
    return len(text).to_bytes(2, "little") + text


def test_proofs_and_frame_keys(program: Path) -> None:
    """Sections "Proofs" and "Sealed frames" of docs/cardlink.md, computed independently."""
    host_nonce, device_nonce, hello, identity = some(16, 4), some(16, 5), some(31, 6), some(450, 7)
    expected = [
        hmac.digest(
            KEY,
            b"".join(map(part, (b"cardlink1", role, host_nonce, device_nonce, hello, identity))),
            "sha256",
        ).hex()
        for role in (b"host", b"device", b"host frames", b"device frames")
    ]
    assert ask(program, ("keys", KEY, host_nonce, device_nonce, hello, identity)) == expected


@pytest.mark.parametrize("source", [b"", bytes(range(16))], ids=["no random source", "random"])
def test_nonce(program: Path, source: bytes) -> None:
    """Section "The device's nonce" of docs/cardlink.md, computed independently."""
    hello, start, draw = some(31, 6), (70000).to_bytes(4, "little"), (3).to_bytes(4, "little")
    whole = b"".join(map(part, (b"cardlink1", b"device nonce", source, start, draw, hello)))
    assert ask(program, ("nonce", KEY, source, start, draw, hello)) == [hmac.digest(KEY, whole, "sha256")[:16].hex()]


def test_the_program_compiles_with_optimisation_too(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Optimisation finds warnings that the checked program does not show."""
    program = build(tmp_path_factory, PLAIN)
    assert ask(program, ("sha256", b"abc")) == [hashlib.sha256(b"abc").hexdigest()]
