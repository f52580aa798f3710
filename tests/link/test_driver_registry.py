"""Third-party drivers: found by their entry point, imported when a URL names them, and never able to stop a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.drivers.registry import (
    DRIVERS,
    Maturity,
    driver_names,
    driver_problems,
    load_driver,
    registered_driver,
)
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.errors import BadDeviceUrlError, DriverMissingError

SKELETON = (Path(__file__).parents[2] / "docs" / "skeleton_driver.py").read_text(encoding="utf-8")


class Packages:
    """Packages that are installed for the duration of a test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.modules: list[str] = []

    def install(self, package: str, module: str, text: str, name: str, value: str = "DRIVER") -> None:
        info = self._folder / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[cardshoe.drivers]\n{name} = {module}:{value}\n")
        (self._folder / f"{module}.py").write_text(text)
        self.modules.append(module)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Packages]:
    monkeypatch.syspath_prepend(tmp_path)
    installed = Packages(tmp_path)
    yield installed
    for module in installed.modules:
        sys.modules.pop(module, None)


def test_the_community_drivers_are_described() -> None:
    for name in ("angel_eye", "bee_tek", "line_reader"):
        row = registered_driver(name)
        assert row.maturity is Maturity.COMMUNITY
        assert row.can_listen
        assert not row.needs_keys
    assert not driver_problems()


def test_a_third_party_driver_is_used_by_its_name(packages: Packages) -> None:
    packages.install("their-shoe", "their_shoe", SKELETON, "their_shoe")
    assert "their_shoe" in driver_names()
    assert "their_shoe" not in sys.modules, "it was imported before a URL named it"
    url = parse_device_url("serial:///dev/ttyS0?driver=their_shoe&listen=1")
    assert (url.baud, url.driver) == (9600, "their_shoe")
    assert parse_device_url(str(url)) == url
    row = registered_driver("their_shoe")
    assert (row.name, row.maturity) == ("their_shoe", Maturity.OTHERS)
    driver = load_driver("their_shoe")(DriverSetting(bytes(16), url.line), 0.0)
    assert len(driver.receive(b"13:4\n", 0.0)) == 2
    assert not driver_problems()


def test_it_cannot_claim_to_be_of_this_program(packages: Packages) -> None:
    packages.install("boaster", "boaster", SKELETON.replace("Maturity.OTHERS", "Maturity.OWN"), "boaster")
    assert registered_driver("boaster").maturity is Maturity.OTHERS


def test_a_reserved_name_leaves_this_programs_driver_in_use(packages: Packages) -> None:
    packages.install("impostor", "impostor", "raise RuntimeError('imported')", "cardlink")
    assert registered_driver("cardlink") is DRIVERS["cardlink"]
    assert driver_names().count("cardlink") == 1
    (problem,) = driver_problems()
    assert "impostor" in str(problem)
    assert "'cardlink'" in str(problem)


def test_two_packages_of_one_name_are_neither(packages: Packages) -> None:
    packages.install("first-shoe", "first_shoe", SKELETON, "shoe")
    packages.install("second-shoe", "second_shoe", SKELETON, "shoe")
    with pytest.raises(DriverMissingError, match=r"first-shoe, second-shoe|second-shoe, first-shoe"):
        registered_driver("shoe")
    assert len(driver_problems()) == 1


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("raise RuntimeError('no library here')", "DRIVER", "RuntimeError at firmware_bridge.drivers.registry"),
        ("import there_is_no_such_module", "DRIVER", "there_is_no_such_module"),
        ("def broken(:", "DRIVER", "SyntaxError"),
        ("", "DRIVER", "AttributeError"),
        ("DRIVER = 5", "DRIVER", "is not a RegisteredDriver"),
    ],
)
def test_a_driver_that_cannot_be_loaded_is_a_sentence(packages: Packages, text: str, value: str, words: str) -> None:
    packages.install("broken-shoe", "broken_shoe", text, "broken_shoe", value)
    with pytest.raises(DriverMissingError) as refused:
        parse_device_url("serial:///dev/ttyS0?driver=broken_shoe")
    assert words in str(refused.value)
    assert "broken-shoe" in str(refused.value)
    assert "no library here" not in str(refused.value), "the text of an exception may be anything"
    assert refused.value.code == "driver"
    assert refused.value.hint
    assert len(driver_problems()) == 1
    assert parse_device_url("serial:///dev/ttyS0").driver == "cardlink", "another table does not mind"


def test_a_driver_whose_own_import_fails_late_is_a_sentence(packages: Packages) -> None:
    text = SKELETON.replace("    return SkeletonDriver", "    import there_is_no_such_module")
    packages.install("late-shoe", "late_shoe", text, "late_shoe")
    assert registered_driver("late_shoe").name == "late_shoe"
    with pytest.raises(DriverMissingError, match="there_is_no_such_module"):
        load_driver("late_shoe")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(BadDeviceUrlError) as refused:
        registered_driver("shufflemaster")
    assert "angel_eye" in str(refused.value.hint)


def test_the_serial_number_of_a_device_without_one() -> None:
    for text, known_as in (
        ("serial:///dev/cardshoe/SHOE-9?driver=bee_tek", "SHOE-9"),
        ("tcp://pit7:4001/?driver=angel_eye", "pit7:4001"),
    ):
        assert parse_device_url(text).known_as == known_as


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("serial:///dev/ttyS0?driver=bee_tek&arm=1", "no commands"),
        ("serial:///dev/ttyS0?arm=1", "no commands"),
        ("serial:///dev/ttyS0?driver=angel_eye&arm=1&listen=1", "listen=1 means"),
        ("serial:///dev/ttyS0?driver=angel_eye&arm=yes", "arm=yes"),
        ("usb:///1209:0001/A12?driver=angel_eye&arm=1", "'arm'"),
    ],
)
def test_arming_is_refused_where_it_means_nothing(text: str, words: str) -> None:
    with pytest.raises(BadDeviceUrlError) as refused:
        parse_device_url(text)
    assert words in str(refused.value)
    assert refused.value.hint


@pytest.mark.parametrize("text", ["serial:///dev/ttyS0?driver=angel_eye&arm=1", "tcp://pit7:1/?driver=angel_eye&arm=1"])
def test_an_armed_url_is_written_again_as_armed(text: str) -> None:
    url = parse_device_url(text)
    assert url.arm
    assert str(url) == text


def test_each_driver_has_the_speed_of_its_devices() -> None:
    speeds = {name: parse_device_url(f"serial:///dev/x?driver={name}").baud for name in DRIVERS}
    assert speeds == {"cardlink": 115200, "angel_eye": 4800, "bee_tek": 9600, "line_reader": 9600}
    slow = parse_device_url("serial:///dev/x?driver=angel_eye&baud=9600")
    assert str(slow) == "serial:///dev/x?driver=angel_eye&baud=9600"
    assert DeviceUrl("serial", path="/dev/x", baud=115200) == parse_device_url("serial:///dev/x")
