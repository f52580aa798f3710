"""Checks of a table's files: the configuration and its keys, disk space for the journal, the socket's folder, the
journal.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from controller.api.unix_socket import SocketRefusedError, check_path
from controller.commands.doctor.machine import (
    ENTER,
    READ,
    WRITE,
    CheckedTable,
    Level,
    MachineFinding,
    may,
    ok,
    owner_of,
    problem,
    warning,
)
from controller.commands.journal.journal_options import progress_of
from controller.daemon.configuration_checks import of_floor
from controller.daemon.configuration_files import mistakes_of_files, read_only_folders
from controller.daemon.journal_files import foreign_in, give_to, other_signer
from controller.journal import JournalError
from controller.journal.pinning import PIN
from controller.journal.verification import OF_DOUBTS, verify_journal
from firmware_bridge.device_keys import read_device_keys
from firmware_bridge.errors import KeyFileError
from firmware_bridge.messages import AnyText, counted, message

DAY: Final = 86_400  # seconds
FULL, FILLING = 90, 80  # percent
SHORT, SOON = 7, 30  # days until the disk is full, at the growth of the journal
OTHERS: Final = 0o007
GROUP_WRITES: Final = 0o020
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")  # a blank in a name of /proc/self/mountinfo


def look(table: CheckedTable, *, journal: bool) -> Iterator[MachineFinding]:
    owned = list(_owner(table))
    yield from owned
    keys = list(_keys(table, own=not owned))
    yield from keys
    opened = [one.sentence for one in keys if one.level is Level.PROBLEM]
    for mistake in mistakes_of_files(table.configuration):
        if not any(path in str(mistake.sentence) for path in _paths_in(opened)):  # already reported
            yield problem(message("files"), mistake.sentence, mistake.hint)
    if said := other_signer(table.configuration.journal):
        mend = message("Put this table's key back from the safe; otherwise a shift manager accepts the present one")
        yield warning(message("signing key"), said, mend)
    yield from _floor(table)
    yield from _paired(table)
    yield from _pin(table)
    yield from _room(table)
    yield from _read_only(table)
    yield from _socket(table)
    if journal:
        yield _journal(table)


def _floor(table: CheckedTable) -> Iterator[MachineFinding]:
    """Check the connection to the floor, without which the table can still deal. Files of root must be passed to the
    daemon.
    """
    section = table.configuration.floor
    for remark in of_floor(section):
        yield warning(message("floor"), remark.sentence, remark.hint)
    credentials = section.found_broker.credentials if section is not None else None
    if credentials is None or not table.is_handed_files or not table.handed(table.file).exists():
        return
    for path in credentials:
        if path.parent == table.file.parent and not table.handed(path).exists():
            sentence = message(
                "systemd does not hand {path} to the daemon, and the daemon may not read it.", path=str(path)
            )
            drop_in = f"/etc/systemd/system/{table.unit}.service.d/floor.conf"
            mend = message(
                "Name it in LoadCredential= lines of {path}; then {command}",
                path=drop_in,
                command=f"systemctl daemon-reload && systemctl restart {table.unit}",
            )
            yield warning(message("floor"), sentence, mend)


def _owner(table: CheckedTable) -> Iterator[MachineFinding]:
    """Check that the daemon owns its journal, unless systemd sets the owner at the next start."""
    section = table.configuration.journal
    state = table.machine.path(f"/var/lib/cardshoe/{table.name}")
    if table.user is None or table.user.uid == 0 or not section.folder.exists():
        return
    if section.folder.parent == state and state.stat().st_uid != table.user.uid:
        return
    found = foreign_in(section.folder, table.user.uid)
    if found is not None:
        sentence = message(
            "{path} belongs to {owner}, not to {name}; the daemon cannot continue it.",
            path=str(found),
            name=table.user.name,
            owner=owner_of(found.lstat()),
        )
        yield problem(message("owner"), sentence, give_to(table.user.name, section.folder))


def _paths_in(sentences: Iterable[AnyText]) -> Iterator[str]:
    for sentence in sentences:
        yield from (word for word in str(sentence).split() if word.startswith("/"))


def _keys(table: CheckedTable, *, own: bool) -> Iterator[MachineFinding]:
    """Check that only the daemon and root can read the keys, and that the daemon cannot change the keys it was given.

    With `own`, also check the keys that the daemon made itself.
    """
    section, device = table.configuration.journal, table.configuration.device
    given = [table.file, section.key_file, device.key_file, device.card_table]
    made = [section.signing_key_path] if own else []
    if table.configuration.capture is not None:
        given.append(table.configuration.capture.key_file)
    for path in filter(None, (*given, *made)):
        if path.exists():
            yield _key(table, path, handed=table.is_handed_files and path not in made)


def _key(table: CheckedTable, path: Path, *, handed: bool) -> MachineFinding:
    found = path.stat()
    owner = owner_of(found)
    if found.st_mode & (OTHERS | GROUP_WRITES):
        return problem(
            message("keys"),
            message("Other users may reach {path} ({owner}).", path=str(path), owner=owner),
            f"chmod o-rwx,g-w {path}",
        )
    if handed:
        return ok(
            message("keys"),
            message(
                "{path} belongs to root, and systemd passes it to the daemon ({owner}).", path=str(path), owner=owner
            ),
        )
    if table.user is not None and not may(table.user, found, READ):
        mend = f"chown root:{table.user.name} {path} && chmod 640 {path}"
        return problem(
            message("keys"),
            message("{name} may not read {path} ({owner}).", name=table.user.name, path=str(path), owner=owner),
            mend,
        )
    return ok(
        message("keys"), message("{path} is not accessible to other users ({owner}).", path=str(path), owner=owner)
    )


def _paired(table: CheckedTable) -> Iterator[MachineFinding]:
    """Check that the one allowed device has a key, if its driver needs one, and that the daemon knows the key."""
    device = table.configuration.device
    if device.key_file is None:
        return
    try:
        keys = read_device_keys(device.key_file)
    except KeyFileError:
        return  # reported with the other mistakes of files
    copy = table.handed(device.key_file)
    if copy.exists() and copy.read_bytes() != device.key_file.read_bytes():
        sentence = message(
            "{path} was changed since the daemon's start: the daemon still has the previous keys.",
            path=str(device.key_file),
        )
        yield problem(message("pairing"), sentence, f"systemctl restart {table.unit}")
    for serial in keys.next:
        said = message(
            "The key of {serial} is being changed: the device may have its old key or its next one. Once `cardshoe "
            "status` shows that it has the next key, remove the old one.",
            serial=serial,
        )
        mend = f"cardshoe devices forget {serial} --only old --key-file {device.key_file}"
        yield warning(message("pairing"), said, f"{mend} && systemctl restart {table.unit}")
    if not device.serial:
        return
    if device.serial in keys:
        yield ok(
            message("pairing"),
            message("{serial} has its key in {path}.", serial=device.serial, path=str(device.key_file)),
        )
    else:
        mend = f"cardshoe devices pair {device.serial} --key-file {device.key_file} && systemctl restart {table.unit}"
        yield problem(
            message("pairing"),
            message(
                "{serial} is not paired: there is no key for it in {path}.",
                serial=device.serial,
                path=str(device.key_file),
            ),
            mend,
        )


def _pin(table: CheckedTable) -> Iterator[MachineFinding]:
    """Check that the pin is beside the journal: without it the next start asks people whether this is the journal."""
    folder = table.configuration.journal.folder
    if folder.is_dir() and any(folder.glob("*.journal")) and not (folder / PIN).exists():
        said = message("The pin {path} of the journal is missing.", path=str(folder / PIN))
        mend = message(
            "Restart the daemon between rounds; a pit supervisor who has compared the journal then enters return to "
            "service"
        )
        yield problem(message("pin"), said, mend)


def _read_only(table: CheckedTable) -> Iterator[MachineFinding]:
    """Check that the disks of journal and socket can be written."""
    found = table.configuration
    for folder, sentence in read_only_folders(found.journal, found.api):
        there = _nearest(folder).resolve()
        mount = shlex.quote(str(mount_point(there)))
        writable = not os.statvfs(there).f_flag & os.ST_RDONLY
        mend = f"umount {mount}; fsck {mount}; mount {mount}" if writable else f"mount -o remount,rw {mount}"
        yield problem(message("disk"), sentence, f"dmesg | tail; {mend}")


def mount_point(path: Path, mounts: str | None = None) -> Path:
    """Return where the path's file system is mounted, also if it is a part of another mounted one.

    `mounts` are the lines of /proc/self/mountinfo; a later one hides an earlier one of the same name.
    """
    lines = Path("/proc/self/mountinfo").read_text().splitlines() if mounts is None else mounts.splitlines()
    named = [Path(_ESCAPED.sub(lambda found: chr(int(found[1], 8)), line.split(" ")[4])) for line in lines]
    return max((one for one in named if path.is_relative_to(one)), key=lambda one: len(one.parts), default=Path("/"))


def _room(table: CheckedTable) -> Iterator[MachineFinding]:
    folder = table.configuration.journal.folder
    there = _nearest(folder)
    disk = os.statvfs(there)
    used = disk.f_blocks - disk.f_bfree
    percent = round(100 * used / max(1, used + disk.f_bavail))
    free = disk.f_bavail * disk.f_frsize
    sentence = message(
        "{percent} % of the disk with the journal is in use, {free} MB are free.",
        percent=percent,
        free=f"{free // 10**6:,}",
    )
    mend = message("Move what is not needed to another disk, or set [journal] keep_days")
    if percent >= FULL:
        yield problem(message("disk"), sentence, mend)
    elif percent >= FILLING:
        yield warning(message("disk"), sentence, mend)
    else:
        yield ok(message("disk"), sentence)
    if growth := growth_of(folder):
        days = int(free / growth)
        sentence = message(
            "The journal grows by {growth} MB a day: the disk is full in {days} days.",
            growth=f"{growth / 10**6:.1f}",
            days=f"{days:,}",
        )
        levels = problem if days < SHORT else warning if days < SOON else None
        yield ok(message("growth"), sentence) if levels is None else levels(message("growth"), sentence, mend)


def growth_of(folder: Path) -> float:
    """Return the bytes per day by which the journal grows, or 0 if the files do not show it yet."""
    try:
        found = [one.stat() for one in folder.iterdir() if one.suffix == ".journal"]
    except OSError:
        return 0.0
    times = [one.st_mtime for one in found]
    span = max(times) - min(times) if found else 0.0
    grown = sum(one.st_size for one in found) - (min(found, key=lambda one: one.st_mtime).st_size if found else 0)
    return grown / span * DAY if span >= DAY else 0.0


def _nearest(path: Path) -> Path:
    """Return the path, or its nearest existing parent folder."""
    return path if path.exists() else _nearest(path.parent)


def _socket(table: CheckedTable) -> Iterator[MachineFinding]:
    path = table.configuration.api.socket
    folder = path.parent
    if not folder.is_dir():
        made = folder.is_relative_to("/run/cardshoe")
        sentence = (
            message("{folder} does not exist; the service creates it at its start.", folder=str(folder))
            if made
            else message("There is no {folder}.", folder=str(folder))
        )
        yield ok(message("socket"), sentence) if made else problem(message("socket"), sentence, f"mkdir -p {folder}")
        return
    found = folder.stat()
    owner = owner_of(found)
    if table.user is not None and not may(table.user, found, WRITE | ENTER):
        mend = f"chown {table.user.name} {folder}"
        yield problem(
            message("socket"),
            message(
                "{name} may not create the socket in {folder} ({owner}).",
                name=table.user.name,
                folder=str(folder),
                owner=owner,
            ),
            mend,
        )
    elif not found.st_mode & 0o001 and not table.is_by_hand:
        yield warning(
            message("socket"),
            message("Other users cannot reach the socket in {folder} ({owner}).", folder=str(folder), owner=owner),
            f"chmod o+x {folder}",
        )
    else:
        yield from _in_the_way(path)


def _in_the_way(path: Path) -> Iterator[MachineFinding]:
    if path.is_socket():
        yield ok(
            message("socket"),
            message("The socket {path} exists; use `cardshoe status` to ask the daemon.", path=str(path)),
        )
        return
    try:
        check_path(path)
    except SocketRefusedError as error:
        yield problem(message("socket"), error.message, error.hint)
    else:
        yield ok(message("socket"), message("The daemon can create its socket {path}.", path=str(path)))


def _journal(table: CheckedTable) -> MachineFinding:
    """Check the chain and the signatures, also while a daemon runs; SQLite's own format is not checked."""
    folder = table.configuration.journal.folder
    if not folder.is_dir() or not any(folder.glob("*.journal")):
        return ok(
            message("journal"),
            message("There is no journal in {folder} yet; the first start creates it.", folder=str(folder)),
        )
    try:
        with progress_of(folder) as reached:
            found = verify_journal(folder, thorough=False, reached=reached)
    except JournalError as error:
        return problem(message("journal"), error.message, error.hint)
    mend = f"cardshoe journal verify --journal {folder}"
    wrong = [one for one in found.findings if one.code not in OF_DOUBTS]
    if wrong:
        return problem(
            message("journal"),
            message(
                "{file}: {sentence} ({count} in all)",
                file=str(wrong[0].file),
                sentence=wrong[0].sentence,
                count=len(wrong),
            ),
            mend,
        )
    if found.findings:
        return warning(message("journal"), found.findings[0].sentence, mend)
    if not found.entries:
        return ok(message("journal"), message("The journal in {folder} has no entries yet.", folder=str(folder)))
    entries = counted("1 entry", "{number} entries", found.entries, number=f"{found.entries:,}")
    files = counted("1 file", "{count} files", found.files)
    return ok(
        message("journal"), message("The journal is unchanged: {entries} in {files}.", entries=entries, files=files)
    )
