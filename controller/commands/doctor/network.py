"""Checks of the network: the addresses that the service may reach, the port of screens, the names of proxies."""

from __future__ import annotations

import ipaddress
import os
import pwd
from collections.abc import Iterator
from typing import Final

from controller.commands.doctor.machine import CheckedTable, MachineFinding, ok, problem, warning
from controller.daemon.configuration_checks import of_screens
from controller.daemon.configuration_files import admitted_users
from controller.daemon.port_use import Reply, state_in, use_of
from controller.daemon.sections import HttpSection
from firmware_bridge.messages import Message, message

PROPERTIES: Final = ("RestrictAddressFamilies", "IPAddressAllow", "IPAddressDeny")
THEN: Final = "systemctl daemon-reload && systemctl restart"


def addresses(table: CheckedTable) -> Iterator[MachineFinding]:
    """Compare the unit's limits with the configuration; yield nothing if systemd does not know them."""
    asked = [f"--property={one}" for one in PROPERTIES]
    said = table.machine.run("systemctl", "show", *asked, table.unit)
    if not said:
        return
    in_force = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    url, has_port = table.configuration.device_url, table.configuration.api.http is not None
    drop_in = f"/etc/systemd/system/{table.unit}.service.d/network.conf"
    is_open = "AF_INET" in in_force.get("RestrictAddressFamilies", "AF_INET").split()
    if url.scheme == "tcp":
        if is_open and _admits(in_force, url.host):
            yield ok(message("network"), message("The service may reach {host}.", host=url.host))
        else:
            mend = table.put("network.conf", drop_in, f"{THEN} {table.unit}")
            yield problem(
                message("network"),
                message("The service may not reach {host}, where the device is.", host=url.host),
                mend,
            )
    elif has_port and not is_open:
        mend = f"rm {drop_in} && {THEN} {table.unit}"
        yield problem(message("network"), message("The service must not open a port, but [api.http] names one."), mend)
    else:
        yield ok(
            message("network"),
            message(
                "The service may reach {what}, as it needs.",
                what=message("this PC only") if is_open else message("no network"),
            ),
        )


def _admits(in_force: dict[str, str], host: str) -> bool:
    """Return whether the unit may reach the host. Allowed addresses override denied addresses. A name may have any
    address.
    """
    if not in_force.get("IPAddressDeny"):
        return True
    networks = [ipaddress.ip_network(one) for one in in_force.get("IPAddressAllow", "").split()]
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        return any(one.prefixlen == 0 for one in networks)
    return any(address in one for one in networks)


RENEWED_BEFORE: Final = 14  # days before its expiry from which a certificate gets a warning


def screens(table: CheckedTable) -> Iterator[MachineFinding]:
    """Check who has the port, whether the table can deal, and the names under which a proxy reaches it."""
    http = table.configuration.api.http
    if http is None:
        yield ok(message("port"), message("No port is configured: there is no console in a browser."))
        yield from _at_socket(table)
        return
    for remark in of_screens(table.configuration):
        yield warning(
            message("people") if "people" in str(remark.sentence) else message("port"), remark.sentence, remark.hint
        )
    if not http.port:
        yield ok(message("port"), message("The daemon uses any free port; its log names it."))
        return
    found = use_of(http.port, table.machine.run, table.machine.ask)
    runs = found.table == table.name
    if runs:
        yield ok(message("port"), message("The daemon of this table listens on port {port}.", port=http.port))
        yield _ready(table, http)
        for sentence in found.warnings:
            yield warning(message("table"), sentence)
    elif found.refused:
        yield _taken(table, http, found.why)
    else:
        yield _free(table, http)
    for host in http.hosts:
        yield from _host(table, http, host, runs=runs)


def _free(table: CheckedTable, http: HttpSection) -> MachineFinding:
    if table.machine.run("systemctl", "is-active", table.unit) == "active":
        sentence = message(
            "The daemon runs but does not listen on port {port}: the file has been changed since it started.",
            port=http.port,
        )
        return problem(message("port"), sentence, f"systemctl restart {table.unit}")
    return ok(message("port"), message("Port {port} is free; the daemon opens it at its start.", port=http.port))


def _taken(table: CheckedTable, http: HttpSection, why: Message) -> MachineFinding:
    mend = message(
        "{command}; end that program, or set another [api.http] port in {path}",
        command=f"ss -ltnp sport = :{http.port}",
        path=str(table.file),
    )
    return problem(
        message("port"), message("Port {port} {why}, and the daemon does not start.", port=http.port, why=why), mend
    )


def _at_socket(table: CheckedTable) -> Iterator[MachineFinding]:
    """Ask the daemon at its socket whether the table can deal. Another check reports a daemon that does not run."""
    path = table.configuration.api.socket
    if not path.exists():
        if table.machine.run("systemctl", "is-active", table.unit) == "active":
            gone = message("The daemon runs, but its socket {path} is gone.", path=str(path))
            yield problem(message("socket"), gone, f"systemctl restart {table.unit}")
        return
    for uid in _users_to_ask_as(table):
        reply = table.machine.ask_socket(path, "/readyz", uid)
        if reply is not None and reply.status != 403:
            state = state_in(table.machine.ask_socket(path, "/v1/state", uid))
            yield _readiness(table, reply, state.device.sentence)
            for sentence in state.warnings:
                yield warning(message("table"), sentence)
            return


def _users_to_ask_as(table: CheckedTable) -> list[int]:
    """Return the admitted users as whom this process can ask: the table records each refused access."""
    admitted = list(admitted_users(table.configuration.readers, table.configuration.people))
    own = os.geteuid()
    return admitted if own == 0 else [uid for uid in admitted if uid == own]


def _ready(table: CheckedTable, http: HttpSection) -> MachineFinding:
    return _readiness(table, table.machine.ask(http.port, "/readyz", ""))


def _readiness(table: CheckedTable, reply: Reply | None, device: str = "") -> MachineFinding:
    """Check that the table can deal. `device` is what the daemon says of its device."""
    if reply is not None and reply.status == 200:
        return ok(message("ready"), message("The table can deal."))
    said = reply.text.strip() if reply is not None else message("The daemon does not answer /readyz.")
    return problem(
        message("ready"),
        message("{parts:sentences}", parts=tuple(filter(None, (said, device)))),
        f"{_run_as_table_user(table)}cardshoe status --socket {table.configuration.api.socket}",
    )


def _run_as_table_user(table: CheckedTable) -> str:
    """Return the start of a command for root, whom the table does not admit."""
    for uid in admitted_users(table.configuration.readers, table.configuration.people):
        try:
            return f"runuser -u {pwd.getpwuid(uid).pw_name} -- "
        except KeyError:
            continue
    return ""


def _host(table: CheckedTable, http: HttpSection, host: str, *, runs: bool) -> Iterator[MachineFinding]:
    machine = table.machine
    if not machine.run("getent", "hosts", host):
        mend = message(
            "Have {host} entered in the name service, or add it to /etc/hosts; then getent hosts {host}", host=host
        )
        yield warning(message("hosts"), message("This PC does not know the name {host}.", host=host), mend)
    if runs and (reply := machine.ask(http.port, "/readyz", host)) is not None and reply.status == 421:
        sentence = message("The daemon refuses the name {host}: the file has been changed since it started.", host=host)
        yield problem(message("hosts"), sentence, f"systemctl restart {table.unit}")
    served = machine.try_tls(host)
    if served.why:
        sentence = message("Browsers elsewhere cannot reach https://{host}/: {why}.", host=host, why=served.why)
        yield warning(
            message("hosts"),
            sentence,
            message(
                "{command}; then correct the proxy or its certificate",
                command=f"openssl s_client -connect 127.0.0.1:443 -servername {host}",
            ),
        )
    elif served.days < RENEWED_BEFORE:
        left = message("in {days} days", days=served.days) if served.days > 1 else message("within two days")
        sentence = message(
            "The certificate of https://{host}/ expires {left}; after that browsers elsewhere cannot reach it.",
            host=host,
            left=left,
        )
        yield warning(
            message("hosts"),
            sentence,
            message("Have the certificate renewed, then run systemctl reload nginx (or caddy)"),
        )
    else:
        yield ok(message("hosts"), message("A proxy with a valid certificate answers as {host}.", host=host))
