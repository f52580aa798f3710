"""`[device]`: each driver has the files that it needs, and missing ones are reported before anything starts."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.daemon.configuration import Configuration, ConfigurationError, read_configuration
from controller.daemon.device_guards import open_real_device
from controller.daemon.sections import DeviceSection
from firmware_bridge.device_url import parse_device_url
from firmware_bridge.drivers.setting import DevicePolicy
from firmware_bridge.errors import TransportUnavailableError

from .test_site_settings import CHOSEN, REST, TABLE

KEYS = 'url = "serial:///dev/cardshoe/X"\nkey_file = "device.keys"\n'


def read(folder: Path, device: str) -> Configuration:
    assert KEYS in REST
    path = folder / "table.toml"
    path.write_text(TABLE.format(simulated="true") + REST.replace(KEYS, device))
    return read_configuration(path)


@pytest.mark.parametrize("driver", ["angel_eye", "bee_tek"])
def test_a_device_without_a_proof_needs_no_keys(tmp_path: Path, driver: str) -> None:
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
        ('url = "serial:///dev/x?driver=bee_tek&arm=1"\n', "no commands to arm"),
        ('url = "serial:///dev/x?driver=no_such"\n', "'no_such'"),
        (KEYS + 'serial = ""\n', "[device] serial must be"),
        (KEYS + 'serial = "two words"\n', "[device] serial must be"),
        (KEYS + 'firmware_digests = ["abc"]\n', "firmware_digests"),
        ('url = "serial:///dev/ttyUSB0?driver=bee_tek"\nserial = "BT-1"\n', "reports no serial number"),
        (f'url = "serial:///dev/x?driver=bee_tek"\nfirmware_digests = ["{"a" * 64}"]\n', "reports no firmware digest"),
    ],
)
def test_an_invalid_device_section_is_refused(tmp_path: Path, device: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(tmp_path, device)
    assert words in str(refused.value)
    assert "table.toml" in str(refused.value)
    assert refused.value.hint


def test_a_pinned_device_and_approved_firmware(tmp_path: Path) -> None:
    assert read(tmp_path, KEYS).device.policy == DevicePolicy()
    policy = read(tmp_path, f'{KEYS}serial = "CARDSHOE-0042"\nfirmware_digests = ["{"Ab" * 32}"]\n').device.policy
    assert policy == DevicePolicy("CARDSHOE-0042", ("ab" * 32,)), "digests are compared in small letters"


def test_a_one_way_device_may_be_pinned_to_the_name_in_its_url(tmp_path: Path) -> None:
    device = read(tmp_path, 'url = "serial:///dev/cardshoe/BT-1?driver=bee_tek"\nserial = "BT-1"\n').device
    assert device.policy == DevicePolicy("BT-1")


def at_a_real_table(folder: Path, url: str) -> DeviceSection:
    """Return the section of a real table, with a key file if the driver has keys."""
    keys = "" if "driver=" in url else 'key_file = "device.keys"\n'
    path = folder / "table.toml"
    path.write_text(TABLE.format(simulated="false") + CHOSEN + REST.replace(KEYS, f'url = "{url}"\n{keys}'))
    return read_configuration(path).device


@pytest.fixture
def pseudo_terminal() -> Iterator[Path]:
    ours, theirs = os.openpty()
    yield Path(os.ttyname(theirs))
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize(
    "url",
    [
        "sim:///shuffler?seed=7",
        "sim:///shoe?driver=bee_tek",
        "serial://{node}",
        "serial://{node}?driver=angel_eye",
        "serial://{link}?driver=bee_tek",
        "tcp://127.0.0.1:4001/?driver=angel_eye",
        "tcp://127.8.9.1:4001/?driver=bee_tek",
        "tcp://LOCALHOST:4001/?driver=bee_tek",
        "tcp://localhost.:4001/?driver=bee_tek",
        "tcp://[::1]:4001/?driver=bee_tek",
        "tcp://[::ffff:127.0.0.1]:4001/?driver=bee_tek",
        "tcp://0.0.0.0:4001/?driver=bee_tek",
    ],
)
def test_a_known_program_serves_no_real_table(tmp_path: Path, pseudo_terminal: Path, url: str) -> None:
    link = tmp_path / "shoe"
    link.symlink_to(pseudo_terminal)
    url = url.format(node=pseudo_terminal, link=link)
    with pytest.raises(ConfigurationError) as refused:
        at_a_real_table(tmp_path, url)
    assert "[device] url: " in str(refused.value)
    assert "simulated = true" in str(refused.value.hint)
    if "driver=" in url:
        assert read(tmp_path, f'url = "{url}"\n').device.url == url, "at a simulated table it may"


@pytest.mark.parametrize(
    "url",
    [
        "serial:///dev/null?driver=bee_tek",  # a node that is not a pseudo-terminal
        "serial:///dev/cardshoe/BT-1?driver=bee_tek",  # not plugged in
        "tcp://192.0.2.7:4001/?driver=angel_eye",
        "tcp://serial-server.example:4001/?driver=angel_eye",
        "tcp://127.0.0.1:4001/",  # it proves its identity, and says whether it is simulated
    ],
)
def test_a_possible_device_is_accepted(tmp_path: Path, url: str) -> None:
    assert at_a_real_table(tmp_path, url).url == url


async def test_a_program_that_takes_a_devices_name_later_is_refused(tmp_path: Path, pseudo_terminal: Path) -> None:
    """The name was free when the configuration was read."""
    link = tmp_path / "shoe"
    url = parse_device_url(f"serial://{link}?driver=bee_tek")
    with pytest.raises(TransportUnavailableError) as missing:
        await open_real_device(url, on_data=print, on_lost=print)
    assert missing.value.code == "port-missing"
    link.symlink_to(pseudo_terminal)
    with pytest.raises(TransportUnavailableError) as refused:
        await open_real_device(url, on_data=print, on_lost=print)
    assert refused.value.code == "port-simulated"


@pytest.fixture(params=["127.0.0.1", "::1", "own"])
def here(request: pytest.FixtureRequest) -> Iterator[tuple[str, int]]:
    """A program that listens on this machine, at a loopback address or at one in the network."""
    host = request.param
    if host == "own":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))  # sends nothing; the kernel chooses the address of this machine
            host = probe.getsockname()[0]
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as server:
        yield (f"[{host}]" if ":" in host else host), server.getsockname()[1]


async def test_a_device_without_a_proof_is_not_on_this_machine(here: tuple[str, int]) -> None:
    host, port = here
    url = parse_device_url(f"tcp://{host}:{port}/?driver=bee_tek")
    with pytest.raises(TransportUnavailableError) as refused:
        await open_real_device(url, on_data=lambda data: None, on_lost=lambda error: None)
    assert refused.value.code == "port-simulated"
    assert "is this machine" in str(refused.value)


async def test_a_device_with_a_proof_may_be_reached_through_this_machine(here: tuple[str, int]) -> None:
    host, port = here
    url = parse_device_url(f"tcp://{host}:{port}/")
    (await open_real_device(url, on_data=lambda data: None, on_lost=lambda error: None)).close()


def test_the_name_and_the_addresses_of_this_machine_are_refused_at_a_real_table(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        own = probe.getsockname()[0]
    for host in (socket.gethostname(), own, "127.0.0.2", "[::ffff:127.0.0.1]"):
        with pytest.raises(ConfigurationError, match="is this machine"):
            at_a_real_table(tmp_path, f"tcp://{host}:4001/?driver=bee_tek")
    at_a_real_table(tmp_path, "tcp://192.0.2.77:4001/?driver=bee_tek")
