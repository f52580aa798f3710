"""The key file of a table: a line for each device, with its serial number and 32 bytes in hexadecimal.

While the key of a device is changed, a second line ends with the word `next`: the device may have either key.

Only the owner may read the file, or also its group where root owns it (the daemon's group). A new file that root makes
takes the group of its folder. Keys are made on this machine and never cross the wire.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias
from zlib import crc32

from firmware_bridge.drivers.cardlink.sealing import KEY_SIZE
from firmware_bridge.edited_text import NotTextError, read_edited, why_unreadable
from firmware_bridge.errors import KeyFileError
from firmware_bridge.messages import Message, message

PUBLISHED_KEY: Final = bytes(range(KEY_SIZE))
"""The key of the examples in docs/cardlink.md."""


NEXT: Final = "next"  # the last word of a line with the second key of a device

GROUP: Final = 4  # bytes of a key that are typed together


OneKey: TypeAlias = Literal["old", "next"]


class DeviceKeys(dict[str, bytes]):
    """The keys by serial number. `next` has the second keys of the devices whose key is being changed."""

    def __init__(self, keys: Mapping[str, bytes] | None = None) -> None:
        super().__init__(keys or {})
        self.next: dict[str, bytes] = {}


def typed_form(key: bytes) -> str:
    """Return a key as people type it: groups of eight hexadecimal digits and two check digits. docs/cardlink.md,
    "Proofs".

    >>> typed_form(PUBLISHED_KEY)[:23]
    '00010203-A2 04050607-E4'
    """
    parts = [key[place : place + GROUP] for place in range(0, len(key), GROUP)]
    return " ".join(f"{part.hex().upper()}-{_check_digits(number, part)}" for number, part in enumerate(parts, start=1))


def key_from_typed(text: str) -> bytes:
    """Return the key that was typed in this form, with any blanks and dashes. Raise `KeyFileError`, which names the
    group that is wrong.
    """
    written = "".join(one for one in text.upper() if not one.isspace() and one not in "-:")
    size = 2 * GROUP + 2
    groups = [written[place : place + size] for place in range(0, len(written), size)]
    key = bytearray()
    for number, group in enumerate(groups, start=1):
        part = _bytes_of(group[: 2 * GROUP])
        if part is None or len(part) != GROUP or group[2 * GROUP :] != _check_digits(number, part):
            raise KeyFileError(
                message('Group {number} of the key is mistyped (cardlink, "Proofs").', number=number),
                message("Compare it with the key as it was printed, then enter the key again."),
            )
        key += part
    if len(key) != KEY_SIZE:
        raise KeyFileError(
            message(
                'The key has {groups} groups; {due} are needed (cardlink, "Proofs").',
                groups=len(groups),
                due=KEY_SIZE // GROUP,
            ),
            message("Enter every group: eight hexadecimal digits and two check digits each."),
        )
    return bytes(key)


def _check_digits(number: int, part: bytes) -> str:
    return f"{crc32(bytes([number]) + part) & 0xFF:02X}"


def write_device_keys(path: Path, keys: dict[str, bytes]) -> None:
    """Write a new key file that only its owner may read."""
    text = "".join(f"{serial} {key.hex()}\n" for serial, key in sorted(keys.items()))
    path = _end_of_links(path)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)


def add_device_key(path: Path, serial: str, key: bytes, *, replace: bool = False, as_next: bool = False) -> None:
    """Add a key to the file, creating the file if necessary. Raise `KeyFileError`.

    An existing key for this serial number is kept unless `replace`. With `as_next` the key is the device's next one,
    and its present key stays in any case. Other lines are left untouched.
    """
    known = read_device_keys(path) if path.exists() else DeviceKeys()
    if not is_serial(serial):
        raise KeyFileError(
            message("{serial} cannot be used as a serial number in the key file.", serial=repr(serial)),
            message("Write it as the device shows it: printable characters without spaces, not beginning with #."),
        )
    if as_next and serial not in known:
        raise _has_no_key(path, serial, known)
    if as_next and serial in known.next and not replace:
        raise KeyFileError(
            message(
                "{path} already has a next key for {serial}, and the device may be using it.",
                path=str(path),
                serial=serial,
            ),
            message("Add --replace to create another one; the next key so far then stops working."),
        )
    if serial in known and not (replace or as_next):
        raise KeyFileError(
            message(
                "{path} already has a key for {serial}, and the device may be using it.", path=str(path), serial=serial
            ),
            message("Add --replace to create a new key; the old key then stops working."),
        )
    line = f"{serial} {key.hex()}{f' {NEXT}' if as_next else ''}\n"
    replaced = (True,) if as_next else (False, True)
    _rewrite(path, lambda lines: [*(one for one in lines if not _has_key(one, serial, replaced)), line])


def remove_device_key(path: Path, serial: str, only: OneKey | None = None) -> None:
    """Remove the key of this serial number. Raise `KeyFileError`, also if there is none.

    With `only`, one of two keys is removed; the other one is then the device's only key.
    """
    known = read_device_keys(path)
    if serial not in known:
        raise _has_no_key(path, serial, known)
    if only is not None and serial not in known.next:
        raise KeyFileError(
            message("{path} has only one key for {serial}.", path=str(path), serial=serial),
            message("Leave --only out to remove it; the device is then refused."),
        )
    removed = {None: (False, True), "old": (False,), "next": (True,)}[only]

    def change(lines: list[str]) -> list[str]:
        left = [one for one in lines if not _has_key(one, serial, removed)]
        return [_without_next(one) if _has_key(one, serial, (True,)) else one for one in left]

    _rewrite(path, change)


def _has_no_key(path: Path, serial: str, known: DeviceKeys) -> KeyFileError:
    return KeyFileError(
        message("{path} has no key for {serial}.", path=str(path), serial=serial),
        message("The file has keys for: {there:list}.", there=tuple(sorted(known)) or message("no device")),
    )


def is_serial(text: str) -> bool:
    """Return whether a line of the file can begin with this text.

    >>> is_serial("CARDSHOE-0042"), is_serial("# 1"), is_serial("")
    (True, False, False)
    """
    return bool(text) and text[0] != "#" and all("!" <= character <= "~" for character in text)


def _has_key(line: str, serial: str, kinds: tuple[bool, ...]) -> bool:
    """Return whether the line has a key of this serial number. `kinds`: True for a next key, False for the other."""
    return line.partition(" ")[0] == serial and (line.split()[-1] == NEXT) in kinds


def _without_next(line: str) -> str:
    return f"{line.rstrip().removesuffix(NEXT).rstrip()}\n"


def _rewrite(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    """Write a whole new file and rename it over the old one, so that a power failure leaves one of them.

    A symbolic link stays, and the file that it names is written. Owner, group and mode are kept; a new file gets those
    of `_ownership_of_new_file`.
    """
    path = _end_of_links(path)
    beside = path.with_name(f".{path.name}.new")
    try:
        before = path.stat() if path.exists() else None
        lines = read_edited(path).splitlines(keepends=True) if before else []
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        beside.unlink(missing_ok=True)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            owner, group, mode = _ownership_of_new_file(path.parent) if before is None else _ownership(before)
            os.fchown(descriptor, owner, group)
            os.fchmod(descriptor, mode)
            file.write("".join(change(lines)))
            file.flush()
            os.fsync(descriptor)
        beside.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise KeyFileError(
            message("The device keys cannot be written: {folder} is not a folder.", folder=str(path.parent)),
            message("Check the path; mkdir makes a folder that is missing."),
        ) from error
    except (OSError, NotTextError) as error:
        beside.unlink(missing_ok=True)
        raise KeyFileError(
            message("The device keys in {path} cannot be written: {why}.", path=str(path), why=why_unreadable(error)),
            message("Run the command as the owner of the file, and check that the folder is writable."),
        ) from error


def _end_of_links(path: Path) -> Path:
    """Return the path that a chain of symbolic links leads to, whether a file is there or not."""
    end = Path(os.path.realpath(path))
    if end.is_symlink():
        raise KeyFileError(
            message("The device keys cannot be written: {path} is a symbolic link to itself.", path=str(path)),
            message("Remove the link (rm {path}), or let it name a file.", path=str(path)),
        )
    return end if path.is_symlink() else path


def _ownership(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)


def _ownership_of_new_file(folder: Path) -> tuple[int, int, int]:
    """Return owner, group and mode. If root made the folder for one group and nobody else, the file goes to that group;
    otherwise only its owner may read it."""
    owner, group, mode = _ownership(folder.stat())
    if os.geteuid() == 0 and owner == 0 and group != 0 and not mode & (stat.S_IWGRP | stat.S_IRWXO):
        return 0, group, 0o640
    return -1, -1, 0o600


def read_device_keys(path: Path) -> DeviceKeys:
    """Return the keys by serial number. Raise `KeyFileError`, which says what is wrong and what to do."""
    text = _private_text(path)
    keys = DeviceKeys()
    lines_of_next: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        serial, key, is_next = _key_in(path, number, line)
        found = keys.next if is_next else keys
        if serial in found:
            raise KeyFileError(
                message(
                    "Line {number} of {path} has a second key for {serial}.",
                    number=number,
                    path=str(path),
                    serial=serial,
                ),
                message(
                    "Remove the line with the key that the device does not have. While its key is changed, the line "
                    "with the new key ends with the word next."
                ),
            )
        found[serial] = key
        if is_next:
            lines_of_next[serial] = number
    for serial, number in lines_of_next.items():
        if serial not in keys:
            raise KeyFileError(
                message(
                    "Line {number} of {path} has the next key of {serial}, which has no other key there.",
                    number=number,
                    path=str(path),
                    serial=serial,
                ),
                message("Remove the word next, or add the line with the key that the device has."),
            )
    return keys


def _private_text(path: Path) -> str:
    """Return the text of a file that other users cannot read or change."""
    try:
        mode = path.stat().st_mode
        text = read_edited(path)
    except FileNotFoundError as error:
        raise KeyFileError(
            message("There are no device keys in {path}.", path=str(path)),
            message(
                "Take the file from the safe, or pair the device again: cardshoe devices pair SERIAL --key-file {path}",
                path=str(path),
            ),
        ) from error
    except (OSError, NotTextError) as error:
        raise KeyFileError(
            message("The device keys in {path} cannot be read: {why}.", path=str(path), why=why_unreadable(error)),
            message("Set [device] key_file to a file that the daemon's user can read."),
        ) from error
    if mode & (stat.S_IWGRP | stat.S_IXGRP | stat.S_IRWXO):
        raise KeyFileError(
            message("Other users can read or change the device keys in {path}.", path=str(path)),
            message("Run: chmod 640 {path}", path=str(path)),
        )
    return text


def _key_in(path: Path, number: int, line: str) -> tuple[str, bytes, bool]:
    """Return the serial number and the key of a line, and whether the key is the device's next one."""
    serial, _, rest = line.partition(" ")
    if odd := next((one for one in line if not (one == "\t" or " " <= one <= "~")), ""):
        raise KeyFileError(
            message(
                "Line {number} of {path} has the character {code} ({name}), which no serial number or key has.",
                number=number,
                path=str(path),
                code=f"U+{ord(odd):04X}",
                name=unicodedata.name(odd, "without a name").lower(),
            ),
            message("Write the line again by hand, as the device shows its serial number."),
        )
    words = rest.split()
    is_next = words[-1:] == [NEXT]
    key = _key_of(" ".join(words[:-1] if is_next else words))
    if key is None:
        raise KeyFileError(
            message("Line {number} of {path} is not a device key.", number=number, path=str(path)),
            _replace_line(path, serial),
        )
    if len(set(key)) == 1 or key == PUBLISHED_KEY:
        raise KeyFileError(
            message("Line {number} of {path} has a key that anyone can guess.", number=number, path=str(path)),
            message(
                "Remove the line, run cardshoe devices pair {serial} --key-file {path}, then enter the new key in the "
                "device.",
                serial=serial,
                path=str(path),
            ),
        )
    return serial, key, is_next


def _replace_line(path: Path, serial: str) -> Message:
    """Return what to do about a line without a key. `pair` refuses a file with such a line, so the line goes first."""
    return message(
        "Put back the copy of the file from the safe. Without one, remove the line and pair the device again: cardshoe "
        "devices pair {serial} --key-file {path}",
        serial=serial if is_serial(serial) else "SERIAL",
        path=str(path),
    )


def _key_of(word: str) -> bytes | None:
    key = _bytes_of(word)
    return key if key is not None and len(key) == KEY_SIZE else None


def _bytes_of(digits: str) -> bytes | None:
    try:
        return bytes.fromhex(digits)
    except ValueError:
        return None
