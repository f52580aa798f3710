"""Bytes of a journal made to mislead its readers or to exhaust them."""

from __future__ import annotations

import tracemalloc
import zlib
from itertools import product

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from controller.journal.packing import MOST, Packing
from controller.journal.signing import is_signed

P = 2**255 - 19
ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
SMALL = [
    (y | sign << 255).to_bytes(32, "little") for y in (0, 1, P - 1, P, P + 1, ORDER_8, P - ORDER_8) for sign in (0, 1)
]
STATEMENTS = [f"head {number}".encode() for number in range(40)]


@pytest.mark.parametrize("key", SMALL)
def test_a_key_under_which_anybody_can_sign_is_rejected(key: bytes) -> None:
    """Signatures made without a private key: with a point of small order, and with the number 0."""
    forged = [(point + bytes(32), said) for point, said in product(SMALL, STATEMENTS)]
    taken = 0
    for signature, said in forged:
        try:
            Ed25519PublicKey.from_public_bytes(key).verify(signature, said)
            taken += 1
        except InvalidSignature:
            pass
    assert taken > 0, "the library takes them"
    assert not any(is_signed(key, signature, said) for signature, said in forged)


def test_a_text_that_unpacks_without_end_is_refused() -> None:
    """A megabyte that would expand to a gigabyte."""
    bomb = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = b"".join(bomb.compress(bytes(2**24)) for _ in range(64)) + bomb.flush()
    tracemalloc.start()
    with pytest.raises(ValueError, match="cannot be unpacked"):
        Packing(b"").unpack(data)
    assert tracemalloc.get_traced_memory()[1] < 3 * MOST
    tracemalloc.stop()
