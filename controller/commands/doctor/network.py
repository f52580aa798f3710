"""Checks of the network: the addresses that the service may reach, the port of screens, the names of proxies."""

from __future__ import annotations

import ipaddress
import pwd
from collections.abc import Iterator
from typing import Final

from controller.commands.doctor.machine import CheckedTable, MachineFinding, ok, problem, warning
from controller.daemon.configuration_checks import of_screens
from controller.daemon.port_use import use_of
from controller.daemon.sections import HttpSection

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
            yield ok("network", f"The service may reach {url.host}.")
        else:
            mend = table.put("network.conf", drop_in, f"{THEN} {table.unit}")
            yield problem("network", f"The service may not reach {url.host}, where the device is.", mend)
    elif has_port and not is_open:
        mend = f"rm {drop_in} && {THEN} {table.unit}"
        yield problem("network", "The service must not open a port, but [api.http] names one.", mend)
    else:
        yield ok("network", f"The service may reach {'this PC only' if is_open else 'no network'}, as it needs.")


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
        yield ok("port", "No port is configured: there is no console in a browser.")
        return
    for remark in of_screens(table.configuration):
        yield warning("people" if "people" in remark.sentence else "port", remark.sentence, remark.hint)
    if not http.port:
        yield ok("port", "The daemon uses any free port; its log names it.")
        return
    found = use_of(http.port, table.machine.run, table.machine.ask)
    runs = found.table == table.name
    if runs:
        yield ok("port", f"The daemon of this table listens on port {http.port}.")
        yield _ready(table, http)
        for sentence in found.warnings:
            yield warning("table", sentence)
    elif found.refused:
        yield _taken(table, http, found.refused, found.holder)
    else:
        yield _free(table, http)
    for host in http.hosts:
        yield from _host(table, http, host, runs=runs)


def _free(table: CheckedTable, http: HttpSection) -> MachineFinding:
    if table.machine.run("systemctl", "is-active", table.unit) == "active":
        sentence = f"The daemon runs but does not listen on port {http.port}: the file was changed since its start."
        return problem("port", sentence, f"systemctl restart {table.unit}")
    return ok("port", f"Port {http.port} is free; the daemon opens it at its start.")


def _taken(table: CheckedTable, http: HttpSection, refused: str, holder: str) -> MachineFinding:
    by = f" by {holder}" if holder else ""
    mend = f"ss -ltnp sport = :{http.port}; end that program, or set another [api.http] port in {table.file}"
    return problem("port", f"Port {http.port} {refused}{by}, and the daemon does not start.", mend)


def _ready(table: CheckedTable, http: HttpSection) -> MachineFinding:
    reply = table.machine.ask(http.port, "/readyz", "")
    if reply is not None and reply.status == 200:
        return ok("ready", "The table can deal.")
    said = reply.text.strip() if reply is not None else "The daemon does not answer /readyz."
    return problem(
        "ready", said, f"{_run_as_table_user(table)}cardshoe status --socket {table.configuration.api.socket}"
    )


def _run_as_table_user(table: CheckedTable) -> str:
    """Return the start of a command for root, whom the table does not admit."""
    readers, people = table.configuration.readers, table.configuration.people
    for uid in [uid for uids in (*(one.uids for one in readers), *(one.uids for one in people)) for uid in uids]:
        try:
            return f"runuser -u {pwd.getpwuid(uid).pw_name} -- "
        except KeyError:
            continue
    return ""


def _host(table: CheckedTable, http: HttpSection, host: str, *, runs: bool) -> Iterator[MachineFinding]:
    machine = table.machine
    if not machine.run("getent", "hosts", host):
        mend = f"Have {host} entered in the name service, or add it to /etc/hosts; then getent hosts {host}"
        yield warning("hosts", f"This PC does not know the name {host}.", mend)
    if runs and (reply := machine.ask(http.port, "/readyz", host)) is not None and reply.status == 421:
        sentence = f"The daemon refuses the name {host}: the file was changed since its start."
        yield problem("hosts", sentence, f"systemctl restart {table.unit}")
    served = machine.try_tls(host)
    if served.why:
        sentence = f"Browsers elsewhere cannot reach https://{host}/: {served.why}."
        yield warning(
            "hosts",
            sentence,
            f"openssl s_client -connect 127.0.0.1:443 -servername {host}; then correct the proxy or its certificate",
        )
    elif served.days < RENEWED_BEFORE:
        left = f"in {served.days} days" if served.days > 1 else "within two days"
        sentence = f"The certificate of https://{host}/ expires {left}; after that browsers elsewhere cannot reach it."
        yield warning("hosts", sentence, "Have the certificate renewed, then systemctl reload nginx (or caddy)")
    else:
        yield ok("hosts", f"A proxy with a valid certificate answers as {host}.")
