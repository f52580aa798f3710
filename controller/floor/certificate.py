"""The files with which a program connects to the broker: the trusted authority, its own certificate, its key.

It is apart from `broker`, so that a configuration is checked without importing paho.
"""

from __future__ import annotations

import errno
import ssl
from datetime import UTC, datetime

from controller.floor import BrokerError
from controller.floor.address import Credentials
from firmware_bridge.messages import message


def context_of(credentials: Credentials) -> ssl.SSLContext:
    """Return the TLS context. Raise `BrokerError`, also for an expired certificate, which a broker does not report."""
    from cryptography import x509  # here, because only tables with a broker need it

    ca, certificate, key = credentials
    try:
        if any(path.is_fifo() for path in credentials):  # ssl would wait for ever for its writer
            raise OSError(errno.EINVAL, "one of them is a pipe")
        context = ssl.create_default_context(cafile=str(ca))
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(certificate, key)
        ends = x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc
        is_open = key.stat().st_mode & 0o007
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BrokerError(
            "floor-certificate",
            message(
                "The files for TLS cannot be used ({ca}, {certificate}, {key}): {why}.",
                ca=str(ca),
                certificate=str(certificate),
                key=str(key),
                why=why,
            ),
            message("Check that they exist, that this program may read them, and that they belong together."),
        ) from error
    if is_open:
        raise BrokerError(
            "floor-certificate",
            message("Others may read or change the key {key}.", key=str(key)),
            message("Run: chmod 640 {key}", key=str(key)),
        )
    if ends < datetime.now(UTC):
        raise BrokerError(
            "floor-certificate",
            message(
                "The certificate {certificate} expired on {ends}.",
                certificate=str(certificate),
                ends=format(ends, "%Y-%m-%d"),
            ),
            message("Have a new one signed."),
        )
    return context
