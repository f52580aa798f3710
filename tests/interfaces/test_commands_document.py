"""docs/commands.md: its examples print the shown output, and its JSON keys exist."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.commands.main import main
from tests.configuration.test_site_settings import HOUSE, REST, TABLE

DOCUMENT = (Path(__file__).parents[2] / "docs/commands.md").read_text(encoding="utf-8")
EXAMPLES = [  # the example of `operate` needs a daemon: tests/operate/test_document.py
    example
    for example in re.findall(r"^```\n\$ cardshoe (.*)\n((?:.*\n)*?)```$", DOCUMENT, re.MULTILINE)
    if not example[0].startswith("operate ")
]


@pytest.fixture(autouse=True)
def _in_a_folder_with_the_table_of_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "table.toml").write_text(TABLE.format(simulated="true") + HOUSE + REST)
    monkeypatch.chdir(tmp_path)


def output_of(written: str) -> str:
    done = CliRunner().invoke(main, shlex.split(written.partition(" | ")[0]))
    assert done.exit_code == 0, done.output
    return done.output


def test_every_command_has_an_example() -> None:
    assert [written.split()[0] for written, _ in EXAMPLES] == ["rules", "evaluate", "odds"]


@pytest.mark.parametrize(("written", "expected"), EXAMPLES, ids=[written.split()[0] for written, _ in EXAMPLES])
def test_an_example_prints_what_the_page_shows(written: str, expected: str) -> None:
    printed = output_of(written)
    if " | " in written:
        assert set(expected.splitlines()) <= set(printed.splitlines())
    else:
        assert printed == expected


@pytest.mark.parametrize("written", [written for written, _ in EXAMPLES], ids=lambda written: written.split()[0])
def test_every_json_key_is_in_the_document(written: str) -> None:
    section = DOCUMENT.partition(f"## cardshoe {written.split()[0]} ")[2].partition("\n## ")[0]
    found = json.loads(output_of(f"{written.partition(' | ')[0].partition(' --section')[0]} --json"))
    assert {key for key in found if f"`{key}`" not in section} == set()
