"""Checks that the service may reach the network addresses that the table's configuration needs."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Final

from controller.commands.doctor.machine import Finding, Table, ok, problem

PROPERTIES: Final = ("RestrictAddressFamilies", "IPAddressAllow", "IPAddressDeny")
THEN: Final = "systemctl daemon-reload && systemctl restart"


def look(table: Table) -> Iterator[Finding]:
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
        yield problem("network", "The service may open no port, and [api.http] has one.", mend)
    else:
        yield ok("network", f"The service may reach {'this PC alone' if is_open else 'no network'}, as it needs.")


def _admits(in_force: dict[str, str], host: str) -> bool:
    """Return whether the unit may reach the host. Allowed addresses override denied ones; a name may have any."""
    if not in_force.get("IPAddressDeny"):
        return True
    networks = [ipaddress.ip_network(one) for one in in_force.get("IPAddressAllow", "").split()]
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        return any(one.prefixlen == 0 for one in networks)
    return any(address in one for one in networks)
