"""`[journal]`: the place of its files, the start of the next one, and their retention."""

from __future__ import annotations

import re
from datetime import UTC, time
from pathlib import Path

import pytest

from controller.daemon.configuration import Configuration, ConfigurationError, read_configuration

from .test_site_settings import CHOSEN, REST, TABLE


def read(folder: Path, more: str) -> Configuration:
    path = folder / "table.toml"
    text = TABLE.format(simulated="true") + CHOSEN + REST
    assert text.count("[journal]\n") == 1
    path.write_text(text.replace("[journal]\n", f"[journal]\n{more}"))
    return read_configuration(path)


def test_the_defaults(tmp_path: Path) -> None:
    section = read(tmp_path, "").journal
    assert (section.keep_days, section.signing_key_file) == (0, None)
    assert (section.days.begins, section.days.zone, section.days.most_bytes) == (time(6), UTC, 256_000_000)


def test_the_casinos_choices(tmp_path: Path) -> None:
    more = (
        'day_begins = "04:30"\ntime_zone = "Europe/Vienna"\nmegabytes = 32\nkeep_days = 400\nsigning_key_file = "s"\n'
    )
    section = read(tmp_path, more).journal
    assert (section.keep_days, section.signing_key_file) == (400, tmp_path / "s")
    assert (section.days.begins, str(section.days.zone)) == (time(4, 30), "Europe/Vienna")
    assert section.days.most_bytes == 32_000_000


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('day_begins = "6:00"\n', "a time of day, as in 06:00"),
        ('day_begins = "24:00"\n', "a time of day, as in 06:00"),
        ("day_begins = 06:00:00\n", "[journal] day_begins"),
        ('time_zone = "Europe"\n', "[journal] time_zone: this system does not know the time zone 'Europe'"),
        ('time_zone = "../../etc/passwd"\n', "this system does not know the time zone"),
        ('time_zone = "\\u001b[31m"\n', "[journal] time_zone"),
        ("megabytes = 0\n", "[journal] megabytes"),
        ("keep_days = -1\n", "[journal] keep_days"),
        ("keep_days = 1.5\n", "[journal] keep_days"),
        ('path = "journal.db"\n', "[journal] path is called folder and names the folder in which that file lies."),
        ('witness = "journal"\n', "[journal] witness: it lies in the journal's own folder"),
        ('witness = "journal/heads"\n', "[journal] witness: it lies in the journal's own folder"),
    ],
)
def test_an_invalid_journal_section_is_refused(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(tmp_path, more)
    assert words in str(refused.value)
    assert "\x1b" not in str(refused.value)


def test_a_configuration_of_an_earlier_version_has_one_mistake_with_a_hint(tmp_path: Path) -> None:
    text = TABLE.format(simulated="true") + CHOSEN + REST
    before = re.sub(r'(?m)^folder = "[^"]*"$', 'path = "journal.db"', text)
    assert before != text
    (tmp_path / "table.toml").write_text(before)
    with pytest.raises(ConfigurationError) as refused:
        read_configuration(tmp_path / "table.toml")
    assert str(refused.value).endswith(
        "table.toml: [journal] path is called folder and names the folder in which that file lies."
    )
