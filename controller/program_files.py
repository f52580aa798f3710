"""The program's own files, compared with the manifest that was made when they were built.

The Debian package has `manifest` in the folder of its environment: a line for every file in it, as `sha256sum` writes
it, and beside it `manifest.sig`, an Ed25519 signature over it. A wheel has RECORD, which lists the files of the program
alone and is not signed. An installation from sources (`pip install -e`) has neither.
"""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import re
import sqlite3
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution, requires, version
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from controller.manifest import MANIFEST, SIGNATURE, files_below
from firmware_bridge.edited_text import read_named
from firmware_bridge.messages import AnyText, Message, MessageError, counted, message, sentences

PACKAGE_KEY: Final = Path("/etc/cardshoe/package.pem")
"""The public key of the package's maker, which the administrator puts there; the package's script looks here."""

REINSTALL: Final = message(
    "Install the program again from a package that you trust: apt-get install --reinstall cardshoe."
)
PROGRAM: Final = "cardshoe"
How: TypeAlias = Literal["package", "wheel", "sources", ""]


class ProgramError(MessageError):
    """Raised if the program must not serve a real table."""


class Program(NamedTuple):
    """The running program. `how` is empty if it was not examined. `digest` is the SHA-256 of its manifest.

    `signed` means by the key that was named. `parts` are the versions of Python, SQLite and the installed dependencies.
    `wrong` says how its files differ from those that were built, or is None; `hint` is the next step.
    """

    version: str
    how: How
    digest: str = ""
    signed: bool = False
    parts: tuple[tuple[str, str], ...] = ()
    wrong: Message | None = None
    hint: AnyText = ""

    @property
    def sentence(self) -> Message:
        """Describe the program for people."""
        if self.wrong:
            return self.wrong
        if self.how == "sources":
            return message("cardshoe {version} runs from sources: no manifest lists its files.", version=self.version)
        signed = message("not signed")
        if self.how == "package":
            signed = message("signed") if self.signed else message("its signature was not checked")
        return message(
            "cardshoe {version} has the files that were built ({how} {digest}, {signed}).",
            version=self.version, how=self.how, digest=self.digest[:12], signed=signed,
        )  # fmt: skip


def examine(key: Path | None, prefix: Path | None = None, record: Distribution | None = None) -> Program:
    """Check every file of the program. `key` is its maker's public key as PEM; None means the machine's key, if any.

    `prefix` is the folder of the environment, if it is not the running one. `record` is the installed program.
    """
    prefix = prefix or Path(sys.prefix)
    record = record or distribution(PROGRAM)
    number, parts = record.version, tuple(_parts())
    manifest = prefix / MANIFEST
    named = key or (PACKAGE_KEY if os.access(PACKAGE_KEY, os.R_OK) else None)  # its folder may be closed to this user
    try:
        if manifest.is_file() or manifest.is_symlink():
            written = manifest.read_bytes()
            known = Program(number, "package", hashlib.sha256(written).hexdigest(), parts=parts)
            wrong, hint = _why_not_signed(written, prefix / SIGNATURE, named)
            if wrong:
                return known._replace(wrong=wrong, hint=hint)
            return _compared(known._replace(signed=named is not None), _differences(written, prefix))
        if not any(one.hash is not None and str(one) == "controller/__init__.py" for one in record.files or ()):
            return Program(number, "sources", parts=parts)
        written = (record.read_text("RECORD") or "").encode()
        known = Program(number, "wheel", hashlib.sha256(written).hexdigest(), parts=parts)
        return _compared(known, _changed_of_wheel(record))
    except OSError as error:
        wrong = message(
            "A file of the program cannot be read: {filename} ({why}).",
            filename=str(error.filename),
            why=error.strerror or str(error),
        )
        return Program(number, "package" if manifest.exists() else "wheel", parts=parts, wrong=wrong, hint=REINSTALL)


def verify(found: Program, *, development: bool) -> None:
    """Raise `ProgramError` if the program must not serve a real table. `development` means that sources may."""
    if found.wrong:
        raise ProgramError(found.wrong, found.hint)
    if found.how == "sources" and not development:
        raise ProgramError(
            message("The program runs from sources, and no manifest lists its files."),
            message("Install the package, or write development = true in [program] if this table is for development."),
        )


def _compared(known: Program, differences: Iterator[Message]) -> Program:
    """Note the first difference and the number of the others."""
    found = list(differences)
    if not found:
        return known
    wrong = message("The program is not the one that was built: {difference}.", difference=found[0])
    more = counted("The same holds for {count} more file.", "The same holds for {count} more files.", len(found) - 1)
    return known._replace(wrong=sentences(wrong, more if len(found) > 1 else None), hint=REINSTALL)


def _why_not_signed(manifest: bytes, signature: Path, key: Path | None) -> tuple[Message | None, AnyText]:
    """Return why the manifest is not the maker's, and what to do. Without a key this cannot be checked."""
    if key is None:
        return None, ""
    from cryptography.exceptions import InvalidSignature  # not installed where the package is made
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    named = message("{key} is not a readable public Ed25519 key.", key=str(key))
    try:
        public = load_pem_public_key(read_named(key))
    except (OSError, ValueError):
        return (
            named,
            message("Put the public key of the package's maker there, as PEM, or name another file."),
        )
    if not isinstance(public, Ed25519PublicKey):
        return named, message("The maker signs with Ed25519; ask for that public key.")
    try:
        public.verify(signature.read_bytes(), manifest)
    except FileNotFoundError:
        return message("The manifest of the program is not signed."), message(
            "Install a package that the owner of {key} has signed.", key=str(key)
        )
    except InvalidSignature:
        sentence = message(
            "The manifest of the program was changed, or it was signed by someone other than the owner of {key}.",
            key=str(key),
        )
        return sentence, REINSTALL
    return None, ""


def _differences(manifest: bytes, prefix: Path) -> Iterator[Message]:
    """Yield the differences from the manifest: files that were changed, are missing, or do not belong."""
    listed = dict(_lines(manifest))
    if not listed:
        yield message("its manifest lists nothing")
    for name, digest in listed.items():
        path = prefix / name
        if not path.is_file():
            yield message("{path} is missing", path=str(path))
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            yield message("{path} was changed", path=str(path))
    for name in files_below(prefix):
        if name not in listed:
            yield message("{path} does not belong to it", path=str(prefix / name))


def _lines(manifest: bytes) -> Iterator[tuple[str, str]]:
    for line in manifest.decode("utf-8", "replace").splitlines():
        digest, _, name = line.partition("  ")
        if name:
            yield name, digest


def _changed_of_wheel(record: Distribution) -> Iterator[Message]:
    for file in record.files or ():
        if file.hash is None or file.hash.mode != "sha256":
            continue
        path = Path(str(record.locate_file(file)))
        if not path.is_file():
            yield message("{path} is missing", path=str(path))
            continue
        digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
        if digest != file.hash.value:
            yield message("{path} was changed", path=str(path))


def _parts() -> Iterator[tuple[str, str]]:
    yield "python", platform.python_version()
    yield "sqlite", sqlite3.sqlite_version
    for one in requires(PROGRAM) or ():
        if "extra ==" in one:
            continue
        name = re.split(r"[^A-Za-z0-9._-]", one, maxsplit=1)[0]
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, "missing"
