"""The PC under examination: its files, its users, and its programs. Tests use their own folders and programs."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import socket
import ssl
import stat
import subprocess
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from controller.commands.init.system import PACKAGED_UNIT, SHARED
from controller.daemon.configuration import Configuration
from controller.daemon.host import HostClock
from controller.daemon.port_use import Ask, Reply, ask, ask_socket
from controller.program_files import Program, examine
from firmware_bridge.messages import AnyText, message

PATIENCE: Final = 10  # seconds for a program to answer
READ, WRITE, ENTER = 4, 2, 1
TLS_PORT: Final = 443
DAY: Final = 86_400  # seconds
REINSTALL: Final = "apt-get install --reinstall cardshoe"
"""The command that restores the package's files."""


class Level(StrEnum):
    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


LEVELS: Final = {Level.OK: message("ok"), Level.WARNING: message("warning"), Level.PROBLEM: message("problem")}


class MachineFinding(msgspec.Struct, frozen=True):
    """The result of one check. `mend` is the command or act that fixes it."""

    what: AnyText
    level: Level
    sentence: AnyText
    mend: AnyText = ""


def ok(what: AnyText, sentence: AnyText) -> MachineFinding:
    return MachineFinding(what, Level.OK, sentence)


def warning(what: AnyText, sentence: AnyText, mend: AnyText = "") -> MachineFinding:
    return MachineFinding(what, Level.WARNING, sentence, mend)


def problem(what: AnyText, sentence: AnyText, mend: AnyText) -> MachineFinding:
    return MachineFinding(what, Level.PROBLEM, sentence, mend)


class User(NamedTuple):
    """The daemon's user."""

    name: str
    uid: int
    groups: frozenset[int]


def run_program(*command: str) -> str | None:
    """Run a program and return its stripped output, or None if it does not exist or does not answer."""
    path = shutil.which(command[0])
    if path is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603  # programs that are named in this package
            [path, *command[1:]], capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip()


class Served(NamedTuple):
    """How a name is served over TLS. `why` says why a browser gets no page; it is empty if it gets one. `days`: until
    the certificate expires.
    """

    why: AnyText = ""
    days: int = 0


def try_tls(host: str, port: int = TLS_PORT, roots: Path | None = None) -> Served:
    """Try what a browser gets under this name from the web server of this PC.

    `roots` are the trusted certificates if not the system's.
    """
    context = ssl.create_default_context(cafile=roots)
    try:
        with (
            socket.create_connection(("127.0.0.1", port), PATIENCE) as plain,
            context.wrap_socket(plain, server_hostname=host) as secured,
        ):
            certificate = secured.getpeercert()
    except ssl.SSLCertVerificationError as error:
        return Served(error.verify_message.rstrip("."))
    except ssl.SSLError:
        return Served(message("what answers at 127.0.0.1:{port} does not speak TLS", port=port))
    except OSError as error:
        return Served(
            message(
                "no program answers at 127.0.0.1:{port} ({why})",
                port=port,
                why=os.strerror(error.errno) if error.errno else str(error),
            )
        )
    assert certificate is not None, "a certificate that was verified is there"
    left = ssl.cert_time_to_seconds(str(certificate["notAfter"])) - HostClock().now().utc_ns // 10**9
    return Served(days=left // DAY)


class Machine(NamedTuple):
    """The means of examining a PC.

    `root` is where its folders are. `run` runs a program, and returns None if it does not exist. `ask` asks a port,
    `ask_socket` a socket.
    `try_tls` tries a name with TLS. `examine` examines the program's own files with the given key.
    """

    root: Path = Path("/")
    run: Callable[..., str | None] = run_program
    ask: Ask = ask
    try_tls: Callable[[str], Served] = try_tls
    examine: Callable[[Path | None], Program] = examine
    ask_socket: Callable[[Path, str, int | None], Reply | None] = ask_socket

    def path(self, path: Path | str) -> Path:
        """Return a path of that PC. Paths outside its root, as tests configure them, stay unchanged."""
        return self.root / str(path).lstrip("/")

    @property
    def has_systemd(self) -> bool:
        return self.path("/run/systemd/system").is_dir()


class CheckedTable(NamedTuple):
    """The table of the PC. `user` is None if the PC does not know the daemon's user."""

    machine: Machine
    file: Path
    configuration: Configuration
    user: User | None
    user_name: str

    @property
    def name(self) -> str:
        return self.configuration.table.name

    @property
    def unit(self) -> str:
        return f"cardshoe@{self.name}"

    def put(self, name: str, path: Path | str, then: str) -> str:
        """Return a command that installs this version's file for the PC at its path, and then runs `then`."""
        if name in SHARED and self.machine.path(PACKAGED_UNIT).exists():
            return f"{REINSTALL} && {then}"
        return self.with_files(f"install -D -m 0644 $F/system/{name} {path} && {then}")

    def with_files(self, then: str) -> str:
        """Return a command that makes the table's files for the PC again, in $F, runs `then`, and deletes them."""
        return f"F=$(mktemp -d) && cardshoe init $F --from {self.file.parent} >/dev/null && {then}; rm -r $F"

    @property
    def is_by_hand(self) -> bool:
        """Return whether this is a simulated table that is not installed as a service: a person starts its daemon."""
        return self.configuration.table.simulated and not self.file.is_relative_to(self.machine.path("/etc/cardshoe"))

    @property
    def is_handed_files(self) -> bool:
        """Return whether systemd gives the daemon copies of its files, so that only root reads the originals."""
        return self.machine.path("/etc/systemd/system/cardshoe@.service.d/apart.conf").exists()

    def handed(self, path: Path) -> Path:
        """Return the path of the running daemon's copy of a file, which need not exist.

        It is mounted for the daemon alone, so root finds it through the daemon's file system.
        """
        return self.machine.path(f"/proc/{self.process}/root/run/credentials/{self.unit}.service") / path.name

    @property
    def process(self) -> str:
        """The daemon's process id according to systemd, or "0" or an empty string if the daemon is not running."""
        return self.machine.run("systemctl", "show", "--property=MainPID", "--value", self.unit) or ""


def user_called(name: str) -> User | None:
    """Return a user of this machine, with all groups."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        return None
    return User(name, found.pw_uid, frozenset(os.getgrouplist(name, found.pw_gid)))


def own_user() -> User:
    """Return the user who runs this command."""
    uid = os.getuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        return User(str(uid), uid, frozenset(os.getgroups()))
    return user_called(name) or User(name, uid, frozenset(os.getgroups()))


def may(user: User, found: os.stat_result, wanted: int) -> bool:
    """Return whether owner, group and mode let the user read (4), write (2) or enter (1). Root always may."""
    if user.uid == 0:
        return True
    shift = 6 if user.uid == found.st_uid else 3 if found.st_gid in user.groups else 0
    return (stat.S_IMODE(found.st_mode) >> shift) & wanted == wanted


def owner_of(found: os.stat_result) -> str:
    """Return owner, group and mode as `ls -l` shows them."""
    try:
        user = pwd.getpwuid(found.st_uid).pw_name
    except KeyError:
        user = str(found.st_uid)
    try:
        group = grp.getgrgid(found.st_gid).gr_name
    except KeyError:
        group = str(found.st_gid)
    return f"{user}:{group} {stat.S_IMODE(found.st_mode):04o}"
