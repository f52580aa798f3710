"""The unit of a table contains every decision, each line with its reason, and systemd accepts it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from controller.commands.main import main
from tests.end_to_end.stage import short_folder

UDEV = Path(__file__).parents[2] / "udev"
TEXT = (UDEV / "cardshoe@.service").read_text(encoding="utf-8")
NO_NETWORK = (UDEV / "no-network.conf").read_text(encoding="utf-8")

# The highest exposure that `systemd-analyze security` may report, on a scale from 0 to 10 (systemd 252). The remaining
# exposure is what the daemon is for: devices (0.3), the network of this PC (0.8), the machine's users as peers (0.2),
# local and netlink sockets (0.2), /proc/sys (0.1) and the machine's own file system (0.1).
MOST_EXPOSURE = 1.3
# With the drop-in for a table without a port for browsers, whose device is plugged in.
MOST_WITHOUT_NETWORK = 1.0

STARTED = "/run/cardshoe-reload/%i.started.toml"  # the configuration as it was at the start

# Directives that carry a decision of the design, whatever else may change.
DECIDED = {
    ("Unit", "StartLimitIntervalSec"): ["0"],
    ("Service", "Type"): ["notify"],
    ("Service", "NotifyAccess"): ["main"],
    ("Service", "WatchdogSec"): ["30s"],
    ("Service", "ExecStart"): ["/opt/cardshoe/bin/cardshoe run --config /etc/cardshoe/%i.toml"],
    ("Service", "ExecReload"): [
        '/bin/sh -c "kill -HUP $MAINPID"',
        f"/opt/cardshoe/bin/cardshoe config check /etc/cardshoe/%i.toml --running {STARTED}",
    ],
    ("Service", "ExecStartPost"): [
        f"-+/usr/bin/install -D -m 0640 -o root -g cardshoe /etc/cardshoe/%i.toml {STARTED}"
    ],
    ("Service", "Restart"): ["on-failure"],
    ("Service", "RestartPreventExitStatus"): ["78"],
    ("Service", "RestartForceExitStatus"): ["SIGHUP SIGINT SIGPIPE"],
    ("Service", "RestartSec"): ["2s"],
    ("Service", "TimeoutStartSec"): ["5min"],
    ("Service", "KillSignal"): ["SIGTERM"],
    ("Service", "TimeoutStopSec"): ["20s"],
    ("Service", "User"): ["cardshoe"],
    ("Service", "Group"): ["cardshoe"],
    ("Service", "UMask"): ["0077"],
    ("Service", "StateDirectory"): ["cardshoe/%i"],
    ("Service", "StateDirectoryMode"): ["0700"],
    ("Service", "RuntimeDirectory"): ["cardshoe/%i"],
    ("Service", "RuntimeDirectoryMode"): ["0755"],
    ("Service", "RuntimeDirectoryPreserve"): ["restart"],
    ("Service", "ConfigurationDirectory"): ["cardshoe"],
    ("Service", "ConfigurationDirectoryMode"): ["0750"],
    ("Service", "LimitCORE"): ["0"],
    ("Service", "CoredumpFilter"): ["0"],
    ("Service", "MemorySwapMax"): ["0"],
    ("Service", "LimitMEMLOCK"): ["infinity"],
    ("Service", "LimitNOFILE"): ["4096"],
    ("Service", "TasksMax"): ["64"],
    ("Service", "MemoryMax"): ["512M"],
    ("Service", "LogRateLimitIntervalSec"): ["30s"],
    ("Service", "LogRateLimitBurst"): ["500"],
    ("Service", "OOMScoreAdjust"): ["-500"],
    ("Service", "DevicePolicy"): ["closed"],
    ("Service", "DeviceAllow"): ["char-ttyACM rw", "char-ttyUSB rw", "char-usb_device rw"],
    ("Service", "RestrictAddressFamilies"): ["AF_UNIX AF_INET AF_INET6 AF_NETLINK"],
    ("Service", "IPAddressDeny"): ["any"],
    ("Service", "IPAddressAllow"): ["localhost"],
    ("Service", "SystemCallFilter"): ["@system-service", "~@privileged @resources"],
    ("Service", "SystemCallErrorNumber"): ["EPERM"],
    ("Install", "WantedBy"): ["multi-user.target"],
}

# Directives of which a missing word may change the overall figure by less than its last digit.
PROTECTED = {
    "AmbientCapabilities": "",
    "CapabilityBoundingSet": "",
    "LockPersonality": "yes",
    "MemoryDenyWriteExecute": "yes",
    "NoNewPrivileges": "yes",
    "PrivateMounts": "yes",
    "PrivateTmp": "yes",
    "ProtectClock": "yes",
    "ProtectControlGroups": "yes",
    "ProtectHome": "yes",
    "ProtectHostname": "yes",
    "ProtectKernelLogs": "yes",
    "ProtectKernelModules": "yes",
    "ProtectKernelTunables": "yes",
    "ProtectProc": "invisible",
    "ProtectSystem": "strict",
    "RemoveIPC": "yes",
    "RestrictNamespaces": "yes",
    "RestrictRealtime": "yes",
    "RestrictSUIDSGID": "yes",
    "SystemCallArchitectures": "native",
}

# Directives that would break it, each in a way that shows only at a table: the comments of the unit explain how.
NEVER = {
    "BindsTo",
    "DynamicUser",
    "PrivateDevices",
    "PrivateNetwork",
    "PrivateUsers",
    "ProcSubset",
    "Requires",
    "SupplementaryGroups",
}

# The kernel module that brings a device group into /proc/devices.
MODULE_OF = {"ttyACM": "cdc_acm", "ttyUSB": "usbserial", "usb_device": "usbcore"}


# One comment may cover these, and also a key that repeats or that only adds to a name, as StateDirectoryMode does.
TOGETHER = {
    ("Wants", "After"),
    ("User", "Group"),
    ("CapabilityBoundingSet", "AmbientCapabilities"),
    ("LogRateLimitIntervalSec", "LogRateLimitBurst"),
    ("IPAddressDeny", "IPAddressAllow"),
}


class Directive(NamedTuple):
    """One line of a unit. It is `reasoned` if a comment is right above it, or above the line to which it belongs."""

    section: str
    key: str
    value: str
    reasoned: bool


def read(text: str) -> list[Directive]:
    """Return the directives of a unit. Raise ValueError for an invalid line."""
    found: list[Directive] = []
    section, commented, head = "", False, ""
    for line in text.splitlines():
        if line.startswith("#"):
            commented = True
            continue
        if not line or line.startswith("["):
            section, head = line.strip("[]") or section, ""
        else:
            key, equals, value = line.partition("=")
            if not equals or not key.isalnum():
                raise ValueError(f"not a directive: {line!r}")
            if commented:
                head = key
            elif not head or not (key.startswith(head) or (head, key) in TOGETHER):
                head = ""
            found.append(Directive(section, key, value, reasoned=bool(head)))
        commented = False
    return found


def faults(text: str) -> list[str]:
    """Return what is wrong with a unit, in sentences."""
    directives = read(text)
    wrong = [f"{d.key}={d.value} has no reason" for d in directives if not d.reasoned]
    wrong += [f"{d.key}= must not be used" for d in directives if d.key in NEVER]
    decided = DECIDED | {("Service", key): [value] for key, value in PROTECTED.items()}
    for (section, key), values in decided.items():
        found = [d.value for d in directives if (d.section, d.key) == (section, key)]
        if found != values:
            wrong.append(f"[{section}] {key}= is {found}, not {values}")
    for key in ("Wants", "After"):
        pulled = {unit for d in directives if (d.section, d.key) == ("Unit", key) for unit in d.value.split()}
        for allowed in (d.value for d in directives if d.key == "DeviceAllow"):
            group = allowed.removeprefix("char-").split()[0]
            if f"modprobe@{MODULE_OF[group]}.service" not in pulled:
                wrong.append(f"{key}= lacks the module of {group}")
    return wrong


def test_the_unit_is_as_decided() -> None:
    assert faults(TEXT) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("Restart=on-failure", "Restart=always", "Restart= is ['always']"),
        ("StartLimitIntervalSec=0\n", "", "StartLimitIntervalSec= is []"),
        ("[Service]\n", "[Service]\nBindsTo=dev-ttyACM0.device\n", "BindsTo= must not be used"),
        ("[Service]\n", "[Service]\nNice=5\n", "Nice=5 has no reason"),
        ("[Service]\n", "[Service]\n# Why.\n\nNice=5\n", "Nice=5 has no reason"),
        ("Group=cardshoe\n", "Group=cardshoe\nNice=5\n", "Nice=5 has no reason"),
        ("User=cardshoe\n", "DynamicUser=yes\n", "DynamicUser= must not be used"),
        ("DevicePolicy=closed\n", "PrivateDevices=yes\n", "PrivateDevices= must not be used"),
        ("DeviceAllow=char-ttyACM rw", "DeviceAllow=char-ttyACM rwm", "DeviceAllow= is"),
        ("Wants=modprobe@usbcore.service modprobe@cdc_acm.service", "Wants=", "Wants= lacks the module of ttyACM"),
        ("After=modprobe@usbcore.service modprobe@cdc_acm.service", "After=", "After= lacks the module of ttyACM"),
        ("--config /etc/cardshoe/%i.toml", "--config /etc/cardshoe.toml", "ExecStart= is"),
        ("LimitCORE=0", "LimitCORE=infinity", "LimitCORE= is"),
        ("ProtectClock=yes\n", "", "ProtectClock= is []"),
    ],
)
def test_a_unit_that_breaks_a_demand_is_found(old: str, new: str, fault: str) -> None:
    assert old in TEXT
    assert any(fault in sentence for sentence in faults(TEXT.replace(old, new)))


@pytest.mark.parametrize("line", ["Restart on-failure", "=x", "No Key=1"])
def test_an_invalid_directive_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not a directive"):
        read(line)


def systemd_analyze(verb: list[str], text: str, folder: Path, drop_in: str = "") -> subprocess.CompletedProcess[str]:
    """Ask systemd about a table's instance of the unit, with a program that exists on this machine."""
    unit = folder / "cardshoe@pit3.service"
    added = folder / f"{unit.name}.d"
    added.mkdir(exist_ok=True)
    for path, written in ((unit, text), (added / "added.conf", drop_in)):
        path.write_text(written.replace("/opt/cardshoe/bin/cardshoe", sys.executable), encoding="utf-8")
    return subprocess.run(
        ["systemd-analyze", "--no-pager", *verb, str(unit)],
        env=os.environ | {"SYSTEMD_UNIT_PATH": f"{folder}:"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


# recursive-errors=no: the unit without its dependencies, but with an exit code for an unknown word.
VERIFY = ["--man=no", "--recursive-errors=no", "verify"]


@pytest.mark.tool("systemd-analyze")
def test_systemd_verifies_the_unit(tmp_path: Path) -> None:
    result = systemd_analyze(VERIFY, TEXT, tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.tool("systemd-analyze")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("WatchdogSec=30s", "WatchDogSec=30s"),
        ("ProtectSystem=strict", "ProtectSystem=very"),
        ("StartLimitIntervalSec=0\n", ""),
        ("/opt/cardshoe/bin/cardshoe", "/nonexistent/cardshoe"),
    ],
)
def test_verify_notices_what_systemd_would_ignore(tmp_path: Path, old: str, new: str) -> None:
    assert old in TEXT
    broken = TEXT.replace(old, new)
    if not new:  # the same line, in the section where systemd ignores it
        broken = broken.replace("[Service]\n", f"[Service]\n{old}")
    result = systemd_analyze(VERIFY, broken, tmp_path)
    assert result.stderr != ""
    assert result.returncode != 0


def exposure(text: str, folder: Path, drop_in: str = "") -> float:
    """Return the overall figure of `systemd-analyze security` from its text: its JSON has only the items."""
    result = systemd_analyze(["--offline=true", "security"], text, folder, drop_in)
    found = re.search(r"Overall exposure level for \S+: ([\d.]+) ", result.stdout)
    assert found is not None, result.stdout + result.stderr
    return float(found[1])


@pytest.mark.tool("systemd-analyze")
def test_the_unit_is_hardly_exposed(tmp_path: Path) -> None:
    assert exposure(TEXT, tmp_path) <= MOST_EXPOSURE


@pytest.mark.tool("systemd-analyze")
@pytest.mark.parametrize(
    "pattern",
    ["User=.*", "CapabilityBoundingSet=.*", "SystemCallFilter=.*", "Protect.*", "(NoNew|Restrict|Lock|Memory).*"],
)
def test_the_figure_rises_when_protection_goes(tmp_path: Path, pattern: str) -> None:
    assert exposure(re.sub(rf"(?m)^{pattern}\n", "", TEXT), tmp_path) > MOST_EXPOSURE


def test_the_drop_in_without_network_weakens_no_protection() -> None:
    directives = read(NO_NETWORK)
    assert all(one.reasoned and one.section == "Service" for one in directives)
    found = {one.key: one.value for one in directives}
    assert found == {"RestrictAddressFamilies": "~AF_INET AF_INET6", "IPAddressAllow": ""}


@pytest.mark.tool("systemd-analyze")
def test_without_network_a_table_is_exposed_even_less(tmp_path: Path) -> None:
    result = systemd_analyze(VERIFY, TEXT, tmp_path, NO_NETWORK)
    assert (result.returncode, result.stderr) == (0, "")
    assert exposure(TEXT, tmp_path, NO_NETWORK) <= MOST_WITHOUT_NETWORK
    assert exposure(TEXT, tmp_path) > MOST_WITHOUT_NETWORK


@pytest.mark.tool("strace")
def test_a_daemon_without_a_port_opens_no_internet_socket(tmp_path: Path) -> None:
    """So the drop-in takes nothing away that the daemon needs. The test asks the kernel for the daemon's sockets."""
    with short_folder() as folder:
        made = CliRunner().invoke(main, ["init", str(folder / "t"), "--simulated", "--yes"])
        assert made.exit_code == 0, made.stderr
        calls = tmp_path / "calls"
        traced = ["strace", "-D", "-f", "-qq", "-e", "trace=socket", "-o", str(calls), "--", sys.executable]
        command = [*traced, "-m", "controller", "run", "--config", str(folder / "t/table.toml")]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as daemon:
            assert daemon.stderr is not None
            assert any("daemon.started" in line for line in daemon.stderr)
            daemon.terminate()
    assert set(re.findall(r"socket\((AF_\w+)", calls.read_text("utf-8"))) == {"AF_UNIX"}
