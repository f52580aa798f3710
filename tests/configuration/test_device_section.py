"""`[device]`: each driver has the files that it needs, and what is missing is said before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.daemon.configuration import Configuration, ConfigurationError, read_configuration
from firmware_bridge.device_policy import DevicePolicy

from .test_house_law import REST, TABLE

KEYS = 'url = "serial:///dev/cardshoe/X"\nkey_file = "device.keys"\n'


def read(folder: Path, device: str) -> Configuration:
    assert KEYS in REST
    path = folder / "table.toml"
    path.write_text(TABLE.format(simulated="true") + REST.replace(KEYS, device))
    return read_configuration(path)


@pytest.mark.parametrize("driver", ["angel_eye", "bee_tek"])
def test_a_device_that_proves_nothing_needs_no_keys(tmp_path: Path, driver: str) -> None:
    device = read(tmp_path, f'url = "serial:///dev/cardshoe/X?driver={driver}"\n').device
    assert device.key_file is None
    assert device.card_table is None


def test_a_card_table_is_found_from_the_files_folder(tmp_path: Path) -> None:
    text = 'url = "serial:///dev/x?driver=line_reader"\ncard_table = "cards.csv"\n'
    assert read(tmp_path, text).device.card_table == tmp_path / "cards.csv"


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ('url = "serial:///dev/x"\n', "key_file is missing"),
        ('url = "serial:///dev/x?driver=line_reader"\n', "card_table is missing"),
        ('url = "serial:///dev/x?driver=bee_tek"\ncard_table = "c.csv"\n', "knows its cards without"),
        ('url = "serial:///dev/x?driver=bee_tek&arm=1"\n', "no commands to be armed"),
        ('url = "serial:///dev/x?driver=no_such"\n', "'no_such'"),
        (KEYS + 'serial = ""\n', "[device] serial must be"),
        (KEYS + 'serial = "two words"\n', "[device] serial must be"),
        (KEYS + 'firmware_digests = ["abc"]\n', "firmware_digests"),
        ('url = "serial:///dev/ttyUSB0?driver=bee_tek"\nserial = "BT-1"\n', "reports no serial number"),
        (f'url = "serial:///dev/x?driver=bee_tek"\nfirmware_digests = ["{"a" * 64}"]\n', "reports no firmware digest"),
    ],
)
def test_what_a_device_section_cannot_say(tmp_path: Path, device: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(tmp_path, device)
    assert words in str(refused.value)
    assert "table.toml" in str(refused.value)
    assert refused.value.hint


def test_a_pinned_device_and_approved_firmware(tmp_path: Path) -> None:
    assert read(tmp_path, KEYS).device.policy == DevicePolicy()
    policy = read(tmp_path, f'{KEYS}serial = "CARDSHOE-0042"\nfirmware_digests = ["{"Ab" * 32}"]\n').device.policy
    assert policy == DevicePolicy("CARDSHOE-0042", ("ab" * 32,)), "digests are compared in small letters"


def test_a_device_that_only_tells_may_be_pinned_to_the_name_that_its_url_gives_it(tmp_path: Path) -> None:
    device = read(tmp_path, 'url = "serial:///dev/cardshoe/BT-1?driver=bee_tek"\nserial = "BT-1"\n').device
    assert device.policy == DevicePolicy("BT-1")
