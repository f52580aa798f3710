"""Checks of the service: its unit and drop-in, whether it is enabled, and the clock."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Final

import controller
from controller.commands.doctor import network
from controller.commands.doctor.machine import CheckedTable, MachineFinding, ok, problem, warning
from controller.commands.init.system import PACKAGED_UNIT, read_system_file
from firmware_bridge.messages import message

UNIT: Final = "/etc/systemd/system/cardshoe@.service"
RUNNING: Final = "/opt/cardshoe/bin"
"""With the package: a link to the folder of the installed version."""
DROP_IN: Final = "/etc/systemd/system/cardshoe@.service.d/apart.conf"


def look(table: CheckedTable) -> Iterator[MachineFinding]:
    if not table.machine.has_systemd or table.machine.run("systemctl", "--version") is None:
        yield warning(
            message("service"), message("systemd is not running here, so unit, drop-in and clock were not examined.")
        )
        return
    if table.is_by_hand:
        yield ok(message("service"), message("A simulated table is started by hand: its unit was not examined."))
    else:
        yield _unit(table)
        yield from _drop_in(table)
        yield from network.addresses(table)
        yield from _state(table)
    yield _clock(table)


def runs(table: CheckedTable) -> Iterator[MachineFinding]:
    """Check that the service runs, and that it runs this version of the program."""
    if not table.machine.has_systemd or table.is_by_hand:
        path = table.configuration.api.socket
        if not path.is_socket() or table.machine.ask_socket(path, "/readyz", None) is None:
            no_daemon = message("No daemon of this table runs.")
            yield warning(message("active"), no_daemon, f"cardshoe run --config {table.file}")
        return
    active = table.machine.run("systemctl", "is-active", table.unit)
    if active == "active":
        yield ok(message("active"), f"{table.unit} runs.")
        yield from _version(table)
    elif active is not None:
        mend = f"journalctl -u {table.unit} -n 20; systemctl start {table.unit}"
        yield problem(
            message("active"),
            message("{unit} does not run ({state}).", unit=table.unit, state=active or message("unknown")),
            mend,
        )


def _version(table: CheckedTable) -> Iterator[MachineFinding]:
    """Check the running version. An upgrade does not restart a table; each table runs the Python in the folder of its
    own version.
    """
    link = table.machine.path(RUNNING)
    if not link.is_symlink():
        yield from _program(table)
        return
    begun = table.machine.path(f"/proc/{table.process}/cmdline")
    if not begun.exists():
        return
    installed = link.readlink().parent.name
    runs = (
        begun.read_bytes().partition(b"\0")[0].decode("utf-8", "replace").removeprefix("/opt/cardshoe/").split("/")[0]
    )
    if runs == installed:
        yield ok(
            message("version"),
            message("{unit} runs the version that is installed, {installed}.", unit=table.unit, installed=installed),
        )
    else:
        mend = message("between rounds: systemctl restart {unit}", unit=table.unit)
        yield warning(
            message("version"),
            message(
                "{unit} still runs {runs}; {installed} is installed.", unit=table.unit, runs=runs, installed=installed
            ),
            mend,
        )


def _program(table: CheckedTable) -> Iterator[MachineFinding]:
    """Check an installation without the package. A daemon keeps the program of its start, whatever pip replaces."""
    asked = ("--property=ExecMainStartTimestamp", "--value", "--timestamp=unix")
    started = (table.machine.run("systemctl", "show", *asked, table.unit) or "").removeprefix("@")
    if started.isdecimal() and int(started) < int(Path(controller.__file__).stat().st_ctime):
        sentence = message(
            "{unit} still runs the program from before version {version} was installed.",
            unit=table.unit,
            version=version("cardshoe"),
        )
        yield warning(
            message("version"), sentence, message("between rounds: systemctl restart {unit}", unit=table.unit)
        )


def _unit(table: CheckedTable) -> MachineFinding:
    own, packaged = table.machine.path(UNIT).exists(), table.machine.path(PACKAGED_UNIT).exists()
    if own and packaged:
        return warning(
            message("unit"), message("{unit} hides the package's file.", unit=UNIT), f"rm {UNIT} && {_restart(table)}"
        )
    if not own and not packaged:
        mend = table.put("cardshoe@.service", UNIT, "systemctl daemon-reload")
        return problem(message("unit"), message("systemd has no cardshoe@.service."), mend)
    path = UNIT if own else PACKAGED_UNIT
    if table.machine.path(path).read_text("utf-8", errors="replace") != read_system_file("cardshoe@.service"):
        mend = table.put("cardshoe@.service", path, _restart(table))
        return warning(message("unit"), message("{path} does not match this version.", path=str(path)), mend)
    return ok(message("unit"), message("{path} matches this version.", path=str(path)))


def _drop_in(table: CheckedTable) -> Iterator[MachineFinding]:
    path = table.machine.path(DROP_IN)
    if not path.exists():
        yield ok(
            message("drop-in"), message("There is no drop-in: all tables of this PC run as one user (tables apart).")
        )
    elif path.read_text("utf-8", errors="replace") != read_system_file("apart/cardshoe@.service.conf"):
        mend = table.put("apart.conf", DROP_IN, _restart(table))
        yield warning(message("drop-in"), message("{path} does not match this version.", path=DROP_IN), mend)
    else:
        yield ok(message("drop-in"), message("{path} gives each table a user of its own.", path=DROP_IN))


def _state(table: CheckedTable) -> Iterator[MachineFinding]:
    run, unit = table.machine.run, table.unit
    enabled = run("systemctl", "is-enabled", unit)
    if enabled == "enabled":
        yield ok(message("enabled"), message("{unit} starts with the PC.", unit=unit))
    else:
        yield problem(
            message("enabled"),
            message("{unit} does not start with the PC ({state}).", unit=unit, state=enabled or message("unknown")),
            f"systemctl enable {unit}",
        )
    if run("systemctl", "show", "--property=NeedDaemonReload", "--value", unit) == "yes":
        yield warning(message("unit"), message("A unit was changed after systemd read it."), "systemctl daemon-reload")


def _restart(table: CheckedTable) -> str:
    return f"systemctl daemon-reload && systemctl restart {table.unit}"


def _clock(table: CheckedTable) -> MachineFinding:
    said = table.machine.run("timedatectl", "show", "--property=NTPSynchronized", "--value")
    if said == "yes":
        return ok(message("clock"), message("The clock is synchronised."))
    sentence = message("It is not known whether the clock is synchronised. The journal's times may be wrong.")
    if said == "no":
        sentence = message("The clock is not synchronised. The journal's times would be wrong.")
        if table.machine.run("timedatectl", "show", "--property=CanNTP", "--value") == "yes":
            return warning(message("clock"), sentence, "timedatectl set-ntp true; timedatectl")
    return warning(message("clock"), sentence, "apt-get install -y dbus systemd-timesyncd && timedatectl set-ntp true")
