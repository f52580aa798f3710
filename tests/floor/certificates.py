"""A certificate authority for a test, with certificates for a broker and for tables."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from controller.floor.address import Credentials

DAY = timedelta(days=1)


class Authority:
    """A certificate authority that writes its files into `folder`."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        made = (
            _builder(self._name, self._name, self._key.public_key(), 10 * DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        self._revoked: list[int] = []

    def sign(self, name: str, *, days: float = 5) -> Credentials:
        """Return a certificate for that name, and its key. With `days` below 0 it has expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        hosts = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))])
        made = (
            _builder(subject, self._name, key.public_key(), days * DAY)
            .add_extension(hosts, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        certificate, private = (self._folder / f"{name}{days}.{end}" for end in ("crt", "key"))
        certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        private.touch(0o600)
        private.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return Credentials(self.file, certificate, private)

    def revoke(self, credentials: Credentials) -> None:
        self._revoked.append(x509.load_pem_x509_certificate(credentials.certificate.read_bytes()).serial_number)

    def revoked_file(self) -> Path:
        """Return the file of the revocation list."""
        now = datetime.now(UTC)
        made = x509.CertificateRevocationListBuilder().issuer_name(self._name).last_update(now).next_update(now + DAY)
        for number in self._revoked:
            one = x509.RevokedCertificateBuilder().serial_number(number).revocation_date(now).build()
            made = made.add_revoked_certificate(one)
        path = self._folder / "revoked.pem"
        path.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        return path


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, lasts: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 10 * DAY)
        .not_valid_after(now + lasts)
    )
