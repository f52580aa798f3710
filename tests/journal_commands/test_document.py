"""docs/journal_commands.md: its examples print the shown output, and its JSON keys exist."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from controller.commands.journal.journal_command import FOUND_IN
from tests.journal_commands.conftest import run

DOCUMENT = (Path(__file__).parents[2] / "docs/journal_commands.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```\n\$ cardshoe journal (.*)\n((?:.*\n)*?)```$", DOCUMENT, re.MULTILINE)


@pytest.fixture(autouse=True)
def _in_a_folder_with_the_journal_of_the_examples(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(folder, tmp_path / "journal")
    monkeypatch.chdir(tmp_path)


def steady(text: str) -> str:
    """Remove what depends on storage: digests, and sizes in bytes."""
    return re.sub(r"\b[0-9a-f]{32,}\b|[0-9.]+ MB, \d+ bytes", "-", text)


def section(command: str) -> str:
    return DOCUMENT.partition(f"## cardshoe journal {command}")[2].partition("\n## ")[0]


def test_every_command_has_its_section() -> None:
    assert all(section(command) for command in FOUND_IN)


@pytest.mark.parametrize(("written", "expected"), EXAMPLES, ids=[written for written, _ in EXAMPLES])
def test_an_example_prints_what_the_page_shows(written: str, expected: str) -> None:
    command, _, head = written.partition(" | head -n ")
    printed = run(*shlex.split(command)).splitlines()
    assert steady("\n".join(printed[: int(head)] if head else printed)) == steady(expected.rstrip("\n"))


@pytest.mark.parametrize("command", ["show 3", "report", "verify", "stats"])
def test_every_json_key_is_in_the_document(command: str) -> None:
    found = json.loads(run(*command.split(), "--json", "--journal", "journal"))
    assert {key for key in found if f"`{key}`" not in section(command.split()[0])} == set()


def test_a_listed_round_has_the_keys_of_a_round_shown() -> None:
    listed = json.loads(run("list", "--json", "--journal", "journal").splitlines()[0])
    keys = re.findall(r"`(\w+)`", section("show").partition("JSON:")[2])
    assert [key for key in keys if key not in ("raised", "steps", "outcome", "decided_by")][: len(listed)] == [*listed]
