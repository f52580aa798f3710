"""The USB identity of a cardlink device, **for tests only**.

1209:0001 is a test pair of pid.codes: free to use on a desk, in CI and on a simulator, but not in devices that are sold
or given away. A maker ships devices under its own vendor and product number, and adds that pair here and in
`udev/70-cardshoe.rules` (a test compares the two).

Anyone may use a test pair, so the pair alone identifies nothing: a cardlink device is recognised by vendor, product
**and** serial number.
"""

from fnmatch import fnmatchcase

TEST_VENDOR_ID = 0x1209
TEST_PRODUCT_ID = 0x0001

# Shell patterns, because udev compares with them. The second exists because the device chooses its serial number, which
# becomes a file name: `CARDSHOE-/../../x` would name any path in /dev.
SERIAL_PATTERN = "CARDSHOE-*"
SERIAL_REFUSED = "*[!0-9A-Za-z_-]*"


def is_cardlink(vendor_id: int, product_id: int, serial: str) -> bool:
    """Return whether a device claims on the bus to be a cardlink device; only its proof shows its identity.

    >>> is_cardlink(0x1209, 0x0001, "CARDSHOE-0042")
    True
    >>> is_cardlink(0x1209, 0x0001, "SOMEBODY-0042"), is_cardlink(0x0403, 0x6001, "CARDSHOE-0042")
    (False, False)
    >>> is_cardlink(0x1209, 0x0001, "CARDSHOE-/../../sda")
    False
    """
    return (
        (vendor_id, product_id) == (TEST_VENDOR_ID, TEST_PRODUCT_ID)
        and fnmatchcase(serial, SERIAL_PATTERN)
        and not fnmatchcase(serial, SERIAL_REFUSED)
    )
