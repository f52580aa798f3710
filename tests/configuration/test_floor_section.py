"""`[floor]`: off by default, encrypted unless the broker is on this machine, never a reason not to deal."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.daemon.configuration import Configuration, ConfigurationError, read_configuration
from controller.daemon.configuration_checks import remarks_on
from controller.daemon.record import record_of
from controller.floor.address import Address, Broker, Credentials
from tests.floor.certificates import Authority

from .test_site_settings import CHOSEN, REST, TABLE

PLACE = 'site = "vienna"\npit = "p1"\n'
FILES = 'ca_file = "ca.pem"\ncertificate_file = "own.pem"\nkey_file = "own.key"\n'


def read(folder: Path, floor: str) -> Configuration:
    path = folder / "table.toml"
    path.write_text(TABLE.format(simulated="true") + CHOSEN + floor + REST)
    return read_configuration(path)


def test_without_the_section_nothing_is_sent(tmp_path: Path) -> None:
    configuration = read(tmp_path, "")
    assert configuration.floor is None
    assert record_of(configuration).floor is None


def test_paths_count_from_the_files_folder(tmp_path: Path) -> None:
    configuration = read(tmp_path, f'[floor]\nbroker = "mqtts://broker.example"\n{PLACE}{FILES}')
    assert configuration.floor is not None
    files = Credentials(tmp_path / "ca.pem", tmp_path / "own.pem", tmp_path / "own.key")
    assert configuration.floor.found_broker == Broker(Address("broker.example", 8883, True), files)
    record = record_of(configuration).floor
    assert record is not None
    assert (record.broker, record.site, record.pit) == ("mqtts://broker.example:8883", "vienna", "p1")


def test_a_broker_on_this_machine_needs_no_files(tmp_path: Path) -> None:
    section = read(tmp_path, f'[floor]\nbroker = "mqtt://localhost"\n{PLACE}').floor
    assert section is not None
    assert section.found_broker == Broker(Address("localhost", 1883, False), None)
    assert (section.repeat_minutes, section.most_per_second) == (10, 200)


@pytest.mark.parametrize(
    ("floor", "words"),
    [
        (f"[floor]\n{PLACE}", "The key broker is missing"),
        ('[floor]\nbroker = "mqtt://localhost"\npit = "p1"\n', "The key site is missing"),
        (f'[floor]\nbroker = "http://localhost"\n{PLACE}', "is not the address of a broker"),
        (f'[floor]\nbroker = "mqtt://broker.example"\n{PLACE}', "is another machine, and mqtt:// is not encrypted"),
        (f'[floor]\nbroker = "mqtts://me:secret@broker.example"\n{PLACE}{FILES}', "by its certificate"),
        (f'[floor]\nbroker = "mqtts://broker.example"\n{PLACE}', "The key ca_file is missing in [floor]"),
        (f'[floor]\nbroker = "mqtt://localhost"\n{PLACE}{FILES}', "key_file: mqtt://localhost:1883 is not encrypted"),
        ('[floor]\nbroker = "mqtt://localhost"\nsite = "+"\npit = "p1"\n', "site"),
        ('[floor]\nbroker = "mqtt://localhost"\nsite = "vienna"\npit = "p1/#"\n', "pit"),
        ('[floor]\nbroker = "mqtt://localhost"\nsite = "vienna"\npit = ""\n', "pit"),
        (f'[floor]\nbroker = "mqtt://localhost"\n{PLACE}most_per_second = 0\n', "most_per_second"),
        (f'[floor]\nbroker = "mqtt://localhost"\n{PLACE}repeat_minutes = -1\n', "repeat_minutes"),
        (f'[floor]\nbroker = "mqtt://localhost"\n{PLACE}subscribe = true\n', "subscribe"),
    ],
)
def test_an_invalid_floor_section_is_refused(tmp_path: Path, floor: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(tmp_path, floor)
    assert words in str(refused.value)


def test_invalid_files_are_remarks(tmp_path: Path) -> None:
    """The table also deals without the floor."""
    text = f'[floor]\nbroker = "mqtts://broker.example"\n{PLACE}{FILES}'
    (missing,) = remarks_on(read(tmp_path, text))
    assert str(missing.sentence).startswith("[floor] The files for TLS cannot be used")
    assert missing.hint
    authority = Authority(tmp_path)
    for days, count in ((-1, 1), (5, 0)):
        made = authority.sign("nc-07", days=days)
        for path, name in ((made.ca, "ca.pem"), (made.certificate, "own.pem"), (made.key, "own.key")):
            (tmp_path / name).write_bytes(path.read_bytes())
        (tmp_path / "own.key").chmod(0o640)
        remarks = remarks_on(read(tmp_path, text))
        assert [("expired on" in str(one.sentence)) for one in remarks] == [True] * count
    (tmp_path / "own.key").chmod(0o644)
    (opened,) = remarks_on(read(tmp_path, text))
    assert "Others may read or change the key" in str(opened.sentence)
