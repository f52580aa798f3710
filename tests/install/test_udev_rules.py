"""The udev rules give our devices to our group, and match no others: judged by their text.

udev's own interpretation is tested elsewhere; here a small reader of the rules language, which refuses whatever it does
not understand, checks the decisions. Each requirement is shown to be effective by a file that breaks it.
"""

import re
import subprocess
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from firmware_bridge import usb_bus

RULES = Path(__file__).parents[2] / "udev" / "70-cardshoe.rules"
TEXT = RULES.read_text(encoding="utf-8")

# Vendors whose numbers are used by common converters; their cables are not ours.
GENERIC_VENDORS = {"0403": "FTDI", "10c4": "CP210x", "1a86": "CH340", "067b": "PL2303", "04d8": "MCP2200"}
# A name that looks like a property has no effect unless some program documents it.
KNOWN_PROPERTIES = {"ID_MM_DEVICE_IGNORE"}

TERM = re.compile(r'\s*([A-Z]+)(?:\{([^}]*)\})?\s*(==|!=|\+=|-=|:=|=)\s*"([^"]*)"\s*')
NEVER_ASSIGNS = {"GOTO", "LABEL"}


@dataclass(frozen=True, slots=True)
class Term:
    """One comparison or assignment: key, the attribute in braces (or ""), operator, value."""

    key: str
    attribute: str
    operator: str
    value: str

    @property
    def name(self) -> str:
        return f"{self.key}{{{self.attribute}}}" if self.attribute else self.key

    @property
    def assigns(self) -> bool:
        return self.operator not in ("==", "!=") and self.key not in NEVER_ASSIGNS


Rule = tuple[Term, ...]


def read(text: str) -> list[Rule]:
    """Return all rules of a file, without comments and with continued lines joined. Raise ValueError for an invalid
    rule.
    """
    rules = []
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in code.replace("\\\n", " ").splitlines():
        terms, at = [], 0
        while at < len(line.rstrip()):
            found = TERM.match(line, at)
            if found is None:
                raise ValueError(f"not a rule: {line!r}")
            key, attribute, operator, value = found.groups()
            terms.append(Term(key, attribute or "", operator, value))
            at = found.end()
            if at < len(line):
                if line[at] != ",":
                    raise ValueError(f"a comma is missing: {line!r}")
                at += 1
        if terms:
            rules.append(tuple(terms))
    return rules


def faults(text: str) -> list[str]:
    """Return what is wrong with a rules file, in sentences."""
    rules = read(text)
    wrong = []
    if not rules or rules[0] != (Term("ACTION", "", "==", "remove"), Term("GOTO", "", "=", "cardshoe_end")):
        wrong.append("the first rule does not leave at removal")
    if not rules or rules[-1] != (Term("LABEL", "", "=", "cardshoe_end"),):
        wrong.append("the last rule is not the label that removal goes to")
    takes: list[str] = []
    switches = [rule for rule in rules if any(term.name == "ATTR{authorized}" for term in rule)]
    wrong += faults_of_switches(switches)
    for rule in rules:
        if rule not in switches and any(term.assigns for term in rule):
            takes += [t.value for t in rule if (t.name, t.operator) == ("SUBSYSTEM", "==")]
            wrong += faults_of_rule(rule)
    if sorted(takes) != ["tty", "usb"]:
        wrong.append(f"one rule for usb and one for tty, not {takes}")
    return wrong


OURS = {
    "SUBSYSTEM": "usb",
    "ENV{DEVTYPE}": "usb_interface",
    "ATTRS{idVendor}": f"{usb_bus.TEST_VENDOR_ID:04x}",
    "ATTRS{idProduct}": f"{usb_bus.TEST_PRODUCT_ID:04x}",
    "ATTRS{serial}": usb_bus.SERIAL_PATTERN,
}
NOT_OURS = [
    {("ATTR{bInterfaceClass}", "!="): "ff|02|0a"},
    {("ATTR{bInterfaceClass}", "=="): "02", ("ATTR{bInterfaceSubClass}", "!="): "02"},
]


def faults_of_switches(rules: list[Rule]) -> list[str]:
    """Return the faults of the rules that switch interfaces off: only for devices with our ids, and all but our
    interfaces.
    """
    wrong, found = [], []
    for rule in rules:
        terms = {(t.name, t.operator): t.value for t in rule}
        if terms.pop(("ATTR{authorized}", "="), "") != "0":
            wrong.append("an interface is not switched off")
        for name, value in OURS.items():
            if terms.pop((name, "=="), "") != value:
                wrong.append(f"switches off what is not ours: {name}")
        found.append(terms)
    return wrong if found == NOT_OURS else [*wrong, "switches off other interfaces than it should"]


def faults_of_rule(rule: Rule) -> list[str]:
    """Return the faults of one rule that assigns something: its matches, then its assignments."""
    subsystem = next((t.value for t in rule if (t.name, t.operator) == ("SUBSYSTEM", "==")), "")
    # The device itself for usb; for a tty the parent, and the same parent for all three, which plain ATTRS ensures.
    level = "ATTR" if subsystem == "usb" else "ATTRS"
    matches = {(t.name, t.operator): t.value for t in rule if not t.assigns}
    wrong = []
    if len(matches) != sum(not t.assigns for t in rule):
        wrong.append("the same comparison twice")
    for attribute, value in (
        ("idVendor", f"{usb_bus.TEST_VENDOR_ID:04x}"),
        ("idProduct", f"{usb_bus.TEST_PRODUCT_ID:04x}"),
        ("serial", usb_bus.SERIAL_PATTERN),
    ):
        found = matches.get((f"{level}{{{attribute}}}", "=="))
        if found is None:
            wrong.append(f"{attribute} is not compared")
        elif found != value:
            wrong.append(f"{attribute} is {found}, usb_ids.py says {value}")
        if attribute == "idVendor" and found in GENERIC_VENDORS:
            wrong.append(f"takes {GENERIC_VENDORS[found]} converters")
    if matches.get((f"{level}{{serial}}", "!=")) != usb_bus.SERIAL_REFUSED:
        wrong.append("serial may hold what has no business in a file name")
    if subsystem == "usb" and matches.get(("ENV{DEVTYPE}", "==")) != "usb_device":
        wrong.append("takes interfaces as well as devices")
    if subsystem == "tty" and matches.get(("SUBSYSTEMS", "==")) != "usb":
        wrong.append("the parent need not be on USB")

    gives = {("GROUP", "="): "cardshoe", ("MODE", "="): "0660", ("ENV{ID_MM_DEVICE_IGNORE}", "="): "1"}
    if subsystem == "tty":
        gives["SYMLINK", "+="] = "cardshoe/$attr{serial}"
    assigned = {(t.name, t.operator): t.value for t in rule if t.assigns}
    for key, value in gives.items():
        if assigned.get(key) != value:
            wrong.append(f"{key[0]} is {assigned.get(key)}, not {value}")
    wrong += [f"{name} is not ours to set" for name, operator in assigned if (name, operator) not in gives]
    wrong += [
        f"no program documents {t.attribute}"
        for t in rule
        if t.assigns and t.key == "ENV" and t.attribute not in KNOWN_PROPERTIES
    ]
    return wrong


def test_the_rules_are_as_decided() -> None:
    assert faults(TEXT) == []


VENDOR = 'ATTRS{idVendor}=="1209"'
PRODUCT = 'ATTRS{idProduct}=="0001"'
SERIAL = 'ATTRS{serial}=="CARDSHOE-*"'
BARE = 'SUBSYSTEM=="tty", ATTRS{idVendor}=="%s", ATTRS{idProduct}=="6001", GROUP="cardshoe", MODE="0660"\nLABEL='


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        pytest.param("LABEL=", BARE % "0403", "serial is not compared", id="bare-ftdi-has-no-serial"),
        *(
            pytest.param("LABEL=", BARE % vendor, f"takes {name} converters", id=f"bare-{name}")
            for vendor, name in GENERIC_VENDORS.items()
        ),
        pytest.param(VENDOR, 'ATTRS{idVendor}=="*"', "idVendor is *", id="any-vendor"),
        pytest.param(VENDOR + ", ", "", "idVendor is not compared", id="no-vendor"),
        pytest.param(
            PRODUCT, 'ATTRS{idProduct}=="0002"', "idProduct is 0002, usb_ids.py says 0001", id="other-product"
        ),
        pytest.param(PRODUCT, 'ATTR{idProduct}=="0001"', "idProduct is not compared", id="of-another-device"),
        pytest.param(SERIAL + ", ", "", "serial is not compared", id="no-serial"),
        pytest.param(SERIAL, 'ATTRS{serial}=="*"', "serial is *", id="any-serial"),
        pytest.param(
            ', ATTRS{serial}!="*[!0-9A-Za-z_-]*"', "", "serial may hold what has no business", id="slash-in-serial"
        ),
        pytest.param('ENV{DEVTYPE}=="usb_device", ', "", "takes interfaces", id="interfaces"),
        pytest.param('SUBSYSTEMS=="usb", ', "", "the parent need not be on USB", id="any-parent"),
        pytest.param('MODE="0660"', 'MODE="0666"', "MODE is 0666, not 0660", id="open-to-all"),
        pytest.param('GROUP="cardshoe"', 'GROUP="dialout"', "GROUP is dialout", id="group"),
        pytest.param('ENV{ID_MM_DEVICE_IGNORE}="1"', 'ENV{ID_MM_DEVICE_IGNORE}="0"', "IGNORE} is 0", id="modem"),
        pytest.param(
            'ENV{ID_MM_DEVICE_IGNORE}="1"', 'ENV{ID_BRLTTY_IGNORE}="1"', "no program documents", id="invented"
        ),
        pytest.param("$attr{serial}", "$kernel", "SYMLINK is cardshoe/$kernel", id="name-that-moves"),
        pytest.param('MODE="0660",', 'MODE="0660", TAG+="uaccess",', "TAG is not ours to set", id="seat"),
        pytest.param('ACTION=="remove"', 'ACTION=="add"', "the first rule does not leave", id="removal"),
        pytest.param('LABEL="cardshoe_end"', 'LABEL="end"', "the last rule is not the label", id="label"),
        pytest.param('ATTR{authorized}="0"', 'ATTR{authorized}="1"', "an interface is not switched off", id="on"),
        pytest.param('"ff|02|0a"', '"ff|02"', "other interfaces than it should", id="port-switched-off"),
        pytest.param(
            'ATTRS{serial}=="CARDSHOE-*", \\\n  ATTR{bInterfaceClass}!=',
            "ATTR{bInterfaceClass}!=",
            "switches off what is not ours: ATTRS{serial}",
            id="keyboards-of-others",
        ),
        pytest.param('SUBSYSTEM=="tty"', 'SUBSYSTEM=="usb"', "one rule for usb and one for tty", id="no-tty"),
    ],
)
def test_a_rule_that_breaks_a_demand_is_found(old: str, new: str, fault: str) -> None:
    assert old in TEXT
    assert any(fault in sentence for sentence in faults(TEXT.replace(old, new)))


@pytest.mark.parametrize("line", ['MODE="0660" GROUP="x"', 'MODE="0660', "MODE=0660", 'mode="0660"'])
def test_an_invalid_rule_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"not a rule|comma is missing"):
        read(line)


def test_the_reader_joins_lines_and_leaves_comments_out() -> None:
    assert read('# A=="b"\n\nA=="b", \\\n  ATTR{c}="d"\n') == [(Term("A", "", "==", "b"), Term("ATTR", "c", "=", "d"))]


@pytest.mark.parametrize(
    ("serial", "ours"),
    [
        ("CARDSHOE-0042", True),
        ("CARDSHOE-pit_3-a", True),
        ("cardshoe-0042", False),
        ("SHOE-0042", False),
        ("CARDSHOE-/../../sda", False),
        ("CARDSHOE-..", False),
        ("CARDSHOE-a b", False),
        ("CARDSHOE-\u00e9", False),
        ("CARDSHOE-a\n", False),
    ],
)
def test_python_and_udev_agree_on_a_serial_number(serial: str, ours: bool) -> None:
    (rule,) = [rule for rule in read(TEXT) if any(term.key == "SYMLINK" for term in rule)]
    looks = [term for term in rule if term.name == "ATTRS{serial}"]
    by_rule = all(fnmatchcase(serial, term.value) is (term.operator == "==") for term in looks)
    by_python = usb_bus.is_cardlink(usb_bus.TEST_VENDOR_ID, usb_bus.TEST_PRODUCT_ID, serial)
    assert (by_rule, by_python) == (ours, ours)


@pytest.mark.parametrize(("vendor", "product"), [(0x0403, 0x6001), (0x1209, 0x0002), (0x0001, 0x1209)])
def test_the_serial_number_alone_makes_no_device_ours(vendor: int, product: int) -> None:
    assert not usb_bus.is_cardlink(vendor, product, "CARDSHOE-0042")


@pytest.mark.tool("udevadm")
def test_udevadm_verifies_the_rules(tmp_path: Path) -> None:
    asked = subprocess.run(["udevadm", "verify", "--help"], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        pytest.skip("this udevadm has no `verify`; it came with systemd 254")
    # Names are not resolved: the group exists only where sysusers ran.
    verify = ["udevadm", "verify", "--resolve-names=never", "--no-summary"]
    good = subprocess.run([*verify, RULES], capture_output=True, text=True, check=False)
    assert (good.returncode, good.stderr) == (0, "")
    broken = tmp_path / "70-broken.rules"
    broken.write_text(TEXT.replace('LABEL="cardshoe_end"', 'LABEL="elsewhere"'), encoding="utf-8")
    assert subprocess.run([*verify, broken], capture_output=True, check=False).returncode != 0
