"""`cardshoe config`: all mistakes together, a valid example, and the effective configuration without secrets."""

from __future__ import annotations

import json
import os
import re
import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from controller.commands.config.as_toml import example
from controller.commands.config.configuration_options import sections
from controller.commands.config.meanings import LEFT_OUT, MEANINGS, SECTIONS
from controller.commands.main import main
from controller.daemon.configuration import Configuration, ConfigurationError, read_configuration, read_sections
from controller.daemon.configuration_files import read_only_folders
from controller.games.specification import FACT_QUESTIONS
from controller.journal.sealing import create_key_file
from firmware_bridge.device_keys import write_device_keys
from tests.configuration.test_nonsense import GOOD, HASH
from tests.support.as_user import NEEDS_ROOT

FILL_IN = "made by: cardshoe pin"


def cardshoe(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["config", *arguments])


@pytest.fixture
def good(tmp_path: Path) -> Path:
    create_key_file(tmp_path / "journal.key")
    (tmp_path / "device.keys").touch(0o600)
    (tmp_path / "table.toml").write_text(GOOD)
    return tmp_path / "table.toml"


def test_every_option_has_its_meaning_and_every_meaning_its_option() -> None:
    places = [f"{section.name}.{option.key}" for section in sections() for option in section.options]
    assert places == list(MEANINGS)
    assert [section.name for section in sections()] == list(SECTIONS)
    assert LEFT_OUT.keys() <= set(places)


def test_the_example_lists_the_facts_of_a_row_of_the_house() -> None:
    text = example().replace("\n# ", " ")
    assert [fact for fact in FACT_QUESTIONS if f" {fact}: " not in text] == []


def test_a_good_file_and_the_files_that_it_names(good: Path) -> None:
    done = cardshoe("check", str(good))
    assert (done.exit_code, done.stderr) == (0, "")
    assert "no mistakes. Table T-1, NC, sets, 7 boxes, simulated, 2 people" in done.stdout
    assert json.loads(cardshoe("check", str(good), "--json").stdout) == {
        "file": str(good),
        "mistakes": [],
        "remarks": [],
    }


def test_an_empty_file_and_a_folder_have_their_own_next_step(good: Path) -> None:
    done = cardshoe("check", str(good.parent))
    assert (done.exit_code, done.stderr.splitlines()[1]) == (78, f"  Name the file in it: {good}")
    good.write_text("\n")
    done = cardshoe("check", str(good))
    assert (done.exit_code, done.stderr.splitlines()[0]) == (78, f"cardshoe: {good}: It is empty.")


def test_a_warning_is_counted_in_the_first_line(good: Path) -> None:
    good.write_text(GOOD.replace("[api]", "[api.http]\nport = 80\n[api]"))
    assert "no mistakes, but 1 warning. Table T-1" in cardshoe("check", str(good)).stdout


def test_a_port_of_another_device_is_a_warning(good: Path) -> None:
    good.write_text(re.sub('url = "[^"]*"', 'url = "serial:///dev/cardshoe/S-2"\nserial = "S-1"', GOOD, count=1))
    said = cardshoe("check", str(good)).stdout
    assert "[device] url: /dev/cardshoe/S-2 is not the port of S-1." in said


def test_a_program_that_run_refuses_is_a_warning(good: Path) -> None:
    write_device_keys(good.parent / "device.keys", {"X": bytes.fromhex("5eb1c07d" * 8)})
    real = GOOD.replace("simulated = true", "simulated = false").replace("key_file", 'serial = "X"\nkey_file', 1)
    chosen = '{ option = "mathematically", chosen_by = "Ann", chosen_on = 2026-01-31 }'
    good.write_text(f"{real}[readings]\nestablished_by = {chosen}\n")
    assert "`cardshoe run` refuses this program. The program runs from sources" in cardshoe("check", str(good)).stdout


def test_all_mistakes_are_reported_together_with_their_places(good: Path) -> None:
    bad = GOOD.replace('"sets"', '"piles"').replace("[api]", "[api]\nsocke = 1").replace(HASH, "x")
    good.write_text(bad)
    done = cardshoe("check", str(good))
    assert done.exit_code == 78
    for said in (
        "has 3 mistakes",
        "[table] unit must be one of sets, singles",
        "socke is not a key of [api]",
        "[[people]] mo: the pin_hash is not the hash of a PIN",
    ):
        assert said in done.stderr
    found = json.loads((asked := cardshoe("check", str(good), "--json")).stdout)
    assert asked.exit_code == 78
    assert len(found["mistakes"]) == 3


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "T-1"', 'name = "T-2"', "[table] name cannot change while the daemon runs"),
        ('name = "T-1"', "name = T-1", "It is not valid TOML"),
        ("", "", ""),
    ],
)
def test_a_file_is_checked_for_a_reload_as_the_daemon_reads_it(good: Path, old: str, new: str, words: str) -> None:
    """Relative paths in the copy from the start count from the file's folder."""
    copy = good.parent / "reload" / "T-1.started.toml"
    copy.parent.mkdir()
    copy.write_text(GOOD)
    good.write_text(GOOD.replace(old, new))
    done = cardshoe("check", str(good), "--running", str(copy))
    assert (done.exit_code, words in done.stderr) == (78 if words else 0, True), done.output


def test_mistakes_of_sections_files_and_the_port_come_together(good: Path) -> None:
    """A section that cannot be read does not hide the files and the port of the others."""
    (good.parent / "journal.key").unlink()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        good.write_text(GOOD.replace("url =", "ulr =") + f"[api.http]\nport = {port}\n")
        other.settimeout(0)
        done = cardshoe("check", str(good))
    assert done.exit_code == 78
    assert "has 4 mistakes" in done.stderr, done.stderr
    assert "ulr is not a key of [device]; nearest: url; known: " in done.stderr
    assert "[journal] key_file: " in done.stderr
    assert f"[api.http] port: {port} is in use" in done.stderr


def test_remarks_are_not_mistakes(good: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    good.write_text(GOOD + f"[api.http]\nport = {port}\n")
    done = cardshoe("check", str(good))
    assert done.exit_code == 0, done.stderr
    assert "[[people]] dana has no pin_hash and cannot sign on at a screen. `cardshoe pin` creates one." in done.stdout
    (remark,) = json.loads(cardshoe("check", str(good), "--json").stdout)["remarks"]
    assert remark["sentence"].startswith("[[people]] dana")


def test_files_that_are_missing_or_open_to_others(good: Path) -> None:
    (good.parent / "journal.key").unlink()
    (good.parent / "device.keys").chmod(0o644)
    done = cardshoe("check", str(good))
    assert done.exit_code == 78
    assert "[journal] key_file: " in done.stderr
    assert "[device] key_file: Other users can read or change" in done.stderr
    assert "chmod 640" in done.stderr


def test_the_example_lacks_only_what_a_person_has_to_make(tmp_path: Path) -> None:
    text = cardshoe("example").stdout
    path = tmp_path / "table.toml"
    path.write_text(text)
    done = cardshoe("check", str(path))
    assert done.exit_code == 78
    assert re.findall(r"^  - (.*?) is not the hash of a PIN;", done.stderr, re.MULTILINE) == [
        "[[people]] sam: the pin_hash",
        "[[people]] max: the pin_hash",
    ]
    path.write_text(text.replace(FILL_IN, HASH))
    read_configuration(path)


def test_everything_that_the_example_leaves_out_is_the_default(tmp_path: Path) -> None:
    """Removing the "#" before keys changes only those without a default."""
    text = example().replace(FILL_IN, HASH)
    before, after = tmp_path / "before.toml", tmp_path / "after.toml"
    before.write_text(text)
    after.write_text(re.sub(r"^#(?! )", "", text, flags=re.MULTILINE).replace('card_table = "cards.csv"\n', ""))
    plain, whole = read_configuration(before), read_configuration(after)
    optional = {name for name, shown in SECTIONS.items() if shown.optional}
    assert plain.api.http is None
    assert whole.api.http is not None
    assert_defaults(whole.api.http, SECTIONS["api.http"].examples[0])
    optional.remove("api.http")
    for name in optional:
        assert not getattr(plain, name)
        assert getattr(whole, name), "every section can be written like that"
    assert whole.device.serial == "CARDSHOE-0001"
    assert whole.journal.witness == Path("/mnt/audit")
    device = msgspec.structs.replace(whole.device, serial=None, image=None)
    journal = msgspec.structs.replace(whole.journal, witness=None, signing_key_file=None)
    same = msgspec.structs.replace(plain, **{name: getattr(whole, name) for name in optional})
    assert msgspec.structs.replace(whole, device=device, journal=journal, api=plain.api) == same
    for name in ("house", "limits", "capture"):
        assert_defaults(getattr(whole, name), SECTIONS[name].examples[0])


def assert_defaults(made: Any, written: dict[str, str]) -> None:
    (one,) = made.values() if isinstance(made, dict) else made if isinstance(made, tuple) else (made,)
    for field in msgspec.structs.fields(one):
        if field.name not in written:
            default = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
            assert getattr(one, field.name) == default, field.name


def test_the_effective_configuration_has_defaults_and_no_secrets(good: Path) -> None:
    good.write_text(GOOD + '[limits."side bet"]\nmaximum = 5\n'.replace('"side bet"', "tie"))
    done = cardshoe("show", str(good))
    assert done.exit_code == 0, done.stderr
    assert HASH not in done.stdout
    assert 'pin_hash = "set"' in done.stdout
    assert "boxes = 7" in done.stdout
    assert f'folder = "{good.parent}/journal"' in done.stdout
    assert "megabytes = 256  # default" in done.stdout
    assert "# serial: none" in done.stdout
    good.write_text(done.stdout.replace('"set"', f'"{HASH}"'))
    again = read_configuration(good)
    assert isinstance(again, Configuration)
    assert again.limits["tie"].maximum == 5
    as_json = cardshoe("show", str(good), "--json").stdout
    assert HASH not in as_json
    assert json.loads(as_json)["people"][1]["pin_hash"] == "set"


def test_a_row_of_the_casino_is_offered_its_possible_decisions(tmp_path: Path) -> None:
    text = (
        cardshoe("example").stdout.replace(FILL_IN, HASH)
        + '\n[[house]]\nrule = "H1"\nkind = "late_bet"\ndisposition = "pray"\n'
    )
    (tmp_path / "table.toml").write_text(text)
    with pytest.raises(ConfigurationError) as refused:
        read_configuration(tmp_path / "table.toml")
    assert "disposition must be one of void, continue, remove_hand, refer, reshuffle, not 'pray'" in str(refused.value)
    assert "start again" not in str(refused.value.hint)


@NEEDS_ROOT
@pytest.mark.parametrize(
    "command", ["status --config", "operate --config", "config check", "config show", "doctor --config", "run --config"]
)
def test_a_file_that_this_user_cannot_read_is_named_with_a_next_step(tmp_path: Path, command: str) -> None:
    path = tmp_path / "table.toml"
    CliRunner().invoke(main, [*command.split(), str(path)])  # imports what the user cannot
    path.write_text(GOOD)
    path.chmod(0o600)
    folders = [one for one in tmp_path.parents if one.stat().st_uid == 0 and one.stat().st_mode & 0o7777 == 0o700]
    for folder in (tmp_path, *folders):
        folder.chmod(0o711)
    os.setresuid(65534, 65534, 0)
    try:
        done = CliRunner().invoke(main, [*command.split(), str(path)])
    finally:
        os.setresuid(0, 0, 0)
        for folder in (tmp_path, *folders):
            folder.chmod(0o700)
    assert "It cannot be read: Permission denied." in done.output
    assert "run the command as root" in done.output


@NEEDS_ROOT
def test_folders_into_which_this_user_may_not_look_are_no_mistake(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "journal").mkdir(parents=True)
    closed.chmod(0o700)
    configuration = Configuration(**read_sections(written(tmp_path)).good)
    journal = msgspec.structs.replace(configuration.journal, folder=closed / "journal")
    os.setresuid(65534, 65534, 0)
    try:
        assert not list(read_only_folders(journal, configuration.api))
    finally:
        os.setresuid(0, 0, 0)


def written(folder: Path) -> Path:
    path = folder / "table.toml"
    path.write_text(GOOD)
    return path
