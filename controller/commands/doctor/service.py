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

UNIT: Final = "/etc/systemd/system/cardshoe@.service"
RUNNING: Final = "/opt/cardshoe/bin"
"""With the package: a link to the folder of the installed version."""
DROP_IN: Final = "/etc/systemd/system/cardshoe@.service.d/apart.conf"


def look(table: CheckedTable) -> Iterator[MachineFinding]:
    if not table.machine.has_systemd or table.machine.run("systemctl", "--version") is None:
        yield warning("service", "systemd does not run here: unit, drop-in and clock were not examined.")
        return
    if table.is_by_hand:
        yield ok("service", "A simulated table is started by hand: its unit was not examined.")
    else:
        yield _unit(table)
        yield from _drop_in(table)
        yield from network.addresses(table)
        yield from _state(table)
    yield _clock(table)


def runs(table: CheckedTable) -> Iterator[MachineFinding]:
    """Check that the service runs, and that it runs this version of the program."""
    if not table.machine.has_systemd or table.is_by_hand:
        return
    active = table.machine.run("systemctl", "is-active", table.unit)
    if active == "active":
        yield ok("active", f"{table.unit} runs.")
        yield from _version(table)
    elif active is not None:
        mend = f"journalctl -u {table.unit} -n 20; systemctl start {table.unit}"
        yield problem("active", f"{table.unit} does not run ({active or 'unknown'}).", mend)


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
        yield ok("version", f"{table.unit} runs the version that is installed, {installed}.")
    else:
        mend = f"between rounds: systemctl restart {table.unit}"
        yield warning("version", f"{table.unit} still runs {runs}; {installed} is installed.", mend)


def _program(table: CheckedTable) -> Iterator[MachineFinding]:
    """Check an installation without the package. A daemon keeps the program of its start, whatever pip replaces."""
    asked = ("--property=ExecMainStartTimestamp", "--value", "--timestamp=unix")
    started = (table.machine.run("systemctl", "show", *asked, table.unit) or "").removeprefix("@")
    if started.isdecimal() and int(started) < int(Path(controller.__file__).stat().st_ctime):
        sentence = f"{table.unit} still runs the program from before version {version('cardshoe')} was installed."
        yield warning("version", sentence, f"between rounds: systemctl restart {table.unit}")


def _unit(table: CheckedTable) -> MachineFinding:
    own, packaged = table.machine.path(UNIT).exists(), table.machine.path(PACKAGED_UNIT).exists()
    if own and packaged:
        return warning("unit", f"{UNIT} hides the package's file.", f"rm {UNIT} && {_restart(table)}")
    if not own and not packaged:
        mend = table.put("cardshoe@.service", UNIT, "systemctl daemon-reload")
        return problem("unit", "systemd has no cardshoe@.service.", mend)
    path = UNIT if own else PACKAGED_UNIT
    if table.machine.path(path).read_text("utf-8", errors="replace") != read_system_file("cardshoe@.service"):
        mend = table.put("cardshoe@.service", path, _restart(table))
        return warning("unit", f"{path} does not match this version.", mend)
    return ok("unit", f"{path} matches this version.")


def _drop_in(table: CheckedTable) -> Iterator[MachineFinding]:
    path = table.machine.path(DROP_IN)
    if not path.exists():
        yield ok("drop-in", "There is none: all tables of this PC run as one user (tables apart).")
    elif path.read_text("utf-8", errors="replace") != read_system_file("apart/cardshoe@.service.conf"):
        mend = table.put("apart.conf", DROP_IN, _restart(table))
        yield warning("drop-in", f"{DROP_IN} does not match this version.", mend)
    else:
        yield ok("drop-in", f"{DROP_IN} gives each table a user of its own.")


def _state(table: CheckedTable) -> Iterator[MachineFinding]:
    run, unit = table.machine.run, table.unit
    enabled = run("systemctl", "is-enabled", unit)
    if enabled == "enabled":
        yield ok("enabled", f"{unit} starts with the PC.")
    else:
        yield problem(
            "enabled", f"{unit} does not start with the PC ({enabled or 'unknown'}).", f"systemctl enable {unit}"
        )
    if run("systemctl", "show", "--property=NeedDaemonReload", "--value", unit) == "yes":
        yield warning("unit", "A unit was changed after systemd read it.", "systemctl daemon-reload")


def _restart(table: CheckedTable) -> str:
    return f"systemctl daemon-reload && systemctl restart {table.unit}"


def _clock(table: CheckedTable) -> MachineFinding:
    said = table.machine.run("timedatectl", "show", "--property=NTPSynchronized", "--value")
    if said == "yes":
        return ok("clock", "The clock is synchronised.")
    sentence = "It is not known whether the clock is synchronised. The journal's times may be wrong."
    if said == "no":
        sentence = "The clock is not synchronised. The journal's times would be wrong."
        if table.machine.run("timedatectl", "show", "--property=CanNTP", "--value") == "yes":
            return warning("clock", sentence, "timedatectl set-ntp true; timedatectl")
    return warning("clock", sentence, "apt-get install -y dbus systemd-timesyncd && timedatectl set-ntp true")
