"""Every option states when a change takes effect, and every changed option is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.commands.config.as_toml import example
from controller.commands.config.configuration_options import sections
from controller.daemon.configuration import read_configuration
from controller.daemon.sections import Configuration
from controller.daemon.taking_effect import EFFECTS, Effect, changed, effect_of, named
from tests.configuration.test_config_command import FILL_IN
from tests.configuration.test_nonsense import HASH

PLACES = [f"{section.name}.{option.key}" for section in sections() for option in section.options]


def configuration(folder: Path, *changes: tuple[str, str]) -> Configuration:
    text = example().replace(FILL_IN, HASH)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "table.toml").write_text(text)
    return read_configuration(folder / "table.toml")


def test_exactly_the_options_have_an_effect() -> None:
    assert {effect_of(place) for place in PLACES} == set(Effect)
    assert all(any(place == one or place.startswith(f"{one}.") for place in PLACES) for one in EFFECTS)


def test_the_same_file_differs_nowhere(tmp_path: Path) -> None:
    assert list(changed(configuration(tmp_path), configuration(tmp_path))) == []


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        ('name = "NC-01"', 'name = "NC-02"', ["table.name"]),
        ('unit = "sets"', 'unit = "singles"\nburn = 1', ["table.unit", "table.burn"]),
        ('url = "serial:///dev/cardshoe/CARDSHOE-0001"', 'url = "serial:///dev/ttyS1"', ["device.url"]),
        ("#keep_days = 0", "keep_days = 7", ["journal.keep_days"]),
        ("#[api.http]\n", "[api.http]\nport = 8080\n", ["api.http.port", "api.http.hosts", "api.http.shift_hours"]),
        ('name = "Sam"', 'name = "Samuel"', ["people"]),
        ('option = "mathematically"', 'option = "complete_hands"', ["readings"]),
    ],
)
def test_differences_are_named_key_by_key(tmp_path: Path, old: str, new: str, places: list[str]) -> None:
    before = configuration(tmp_path)
    assert list(changed(before, configuration(tmp_path, (old, new)))) == places


def test_places_are_named_as_in_a_file() -> None:
    assert [named(place) for place in ("table.name", "api.http.port", "capture")] == [
        "[table] name",
        "[api.http] port",
        "[capture]",
    ]
