"""An invalid configuration: exit code 78, a sentence for each mistake, the next step, and no traceback."""

from __future__ import annotations

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from controller.api.pins import SCRYPT
from controller.daemon.configuration import ConfigurationError, read_configuration
from simulators.people.crew import CHEAP_SCRYPT
from tests.end_to_end.processes import Child
from tests.end_to_end.stage import Stage, short_folder

BAD_CONFIGURATION = 78  # EX_CONFIG: the unit does not restart on it
Edit: TypeAlias = Callable[[str], str]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            yield stage


def replacing(old: str, new: str) -> Edit:
    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return edit


def real(text: str) -> str:
    """Turn the table into a real table, whose PIN hashes have the full cost."""
    return replacing("simulated = true", "simulated = false")(text.replace(f"${CHEAP_SCRYPT}$", f"${SCRYPT[0]}$"))


def without(start: str) -> Edit:
    return lambda text: "\n".join(line for line in text.splitlines() if not line.startswith(start)) + "\n"


async def refusal(stage: Stage) -> str:
    """Return the output of a daemon that refuses its configuration: a sentence, and a next step under it.

    `config check` also refuses it.
    """
    checked = Child("controller", "config", "check", str(stage.configuration))
    assert await checked.ended() == BAD_CONFIGURATION, checked.out
    daemon = stage.spawn_daemon()
    assert await daemon.ended() == BAD_CONFIGURATION, daemon.err
    assert not daemon.out
    first, *mistakes, hint = daemon.err
    assert first.startswith("cardshoe: ")
    assert first.endswith(f" has {len(mistakes)} mistakes:" if mistakes else "."), daemon.err
    assert all(mistake.startswith("  - ") and mistake.endswith((".", "}")) for mistake in mistakes), daemon.err
    assert hint.startswith("  ")
    return "\n".join(daemon.err)


MISTAKES: dict[str, tuple[Edit, str]] = {
    "unknown key": (replacing("simulated", "simulatd"), "simulatd"),
    "unknown section": (replacing("[api]", "[webapi]"), "webapi"),
    "missing key": (without("socket"), "socket"),
    "unknown game": (replacing('"NC"', '"CANASTA"'), "CANASTA"),
    "a reading not chosen": (real, "established_by"),
    "no such option": (replacing("[device]", "[readings.wrong_count]\noption = 'both'\n[device]"), "wrong_count"),
    "unknown unit": (replacing('"sets"', '"piles"'), "piles"),
    "unknown URL scheme": (replacing("serial://", "pigeon://"), "pigeon"),
    "unknown driver": (replacing("/device", "/device?driver=telepathy"), "telepathy"),
    "unknown URL key": (replacing("/device", "/device?speed=9"), "speed"),
    "bad TOML": (replacing("[table]", "[table"), "table.toml"),
    "people without uid": (without("uids"), "No user may use the socket"),
    "no people": (lambda text: text.split("[[people]]")[0], "no shift_manager"),
    "two people of one id": (replacing('"dealer"\nname', '"manager"\nname'), "manager"),
    "bad table name": (replacing('"T-1"', '"T/1"'), "name"),
    "too many boxes": (replacing("[device]", "boxes = 99\n[device]"), "99"),
    "too many burnt": (replacing("[device]", "burn = 6\n[device]"), "burn"),
    "wrong type": (replacing("simulated = true", 'simulated = "yes"'), "simulated"),
    "unknown role": (replacing("pit_supervisor", "emperor"), "emperor"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_mistake_is_named_in_a_sentence(stage: Stage, mistake: str) -> None:
    edit, words = MISTAKES[mistake]
    stage.configuration.write_text(edit(stage.configuration.read_text()))
    with pytest.raises(ConfigurationError) as raised:
        read_configuration(stage.configuration)
    assert words in str(raised.value)
    assert raised.value.hint


@pytest.mark.parametrize("mistake", ["unknown section", "bad TOML", "people without uid"])
async def test_a_daemon_ends_with_the_sentence(stage: Stage, mistake: str) -> None:
    edit, words = MISTAKES[mistake]
    stage.configuration.write_text(edit(stage.configuration.read_text()))
    assert words in await refusal(stage)
    assert not stage.journal.exists()


async def test_a_missing_file(stage: Stage) -> None:
    stage.configuration.unlink()
    assert "table.toml" in await refusal(stage)


async def test_a_file_that_is_not_text(stage: Stage) -> None:
    stage.configuration.write_bytes(bytes(range(256)))
    assert "table.toml" in await refusal(stage)


async def test_a_folder_in_place_of_the_file(stage: Stage) -> None:
    stage.configuration.unlink()
    stage.configuration.mkdir()
    assert "table.toml" in await refusal(stage)


async def test_device_keys_that_are_missing(stage: Stage) -> None:
    (stage.folder / "device.keys").unlink()
    assert "device.keys" in await refusal(stage)


async def test_device_keys_readable_by_others(stage: Stage) -> None:
    (stage.folder / "device.keys").chmod(0o644)
    assert "chmod" in await refusal(stage)


@pytest.mark.parametrize(
    "spoil",
    [
        Path.unlink,
        lambda path: path.write_text("short"),
        lambda path: path.chmod(0o644),
        lambda path: path.chmod(0o660),
    ],
    ids=["missing", "short", "readable by others", "writable by the group"],
)
async def test_a_key_of_the_journal_that_cannot_be_used(stage: Stage, spoil: Callable[[Path], object]) -> None:
    spoil(stage.folder / "journal.key")
    assert "journal.key" in await refusal(stage)


async def test_a_key_that_is_not_the_journals(stage: Stage) -> None:
    """The unit does not restart after this error, because a wrong key does not become the right one."""
    await stage.start_daemon()
    assert await stage.daemon.end() == 0
    (stage.folder / "journal.key").write_text("00" * 32)
    assert "000001.journal was begun with" in await refusal(stage)


async def test_a_journal_of_another_table(stage: Stage) -> None:
    await stage.start_daemon()
    assert await stage.daemon.end() == 0
    stage.configuration.write_text(replacing('"T-1"', '"T-2"')(stage.configuration.read_text()))
    said = await refusal(stage)
    assert "T-1" in said
    assert "T-2" in said


async def test_a_journal_with_a_second_name(stage: Stage) -> None:
    await stage.start_daemon()
    assert await stage.daemon.end() == 0
    (stage.folder / "journal.copy").hardlink_to(stage.journal / "000001.journal")
    assert "2 names" in await refusal(stage)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"api.sock"', '"file/api.sock"', "[api] socket: {folder}/file is not a folder."),
        ('"api.sock"', '"file"', "[api] socket: {folder}/file exists and is not a socket"),
        ('"api.sock"', '"~/api.sock"', "[api] socket must be a path that is written out, without ~ or $"),
        ('"journal"', '"file"', "[journal] folder: {folder}/file is not a folder."),
        ('"journal"', '"file/journal"', "[journal] folder: {folder}/file is not a folder."),
        (
            '"journal"\n',
            '"journal"\nsigning_key_file = "file/key"\n',
            "signing_key_file: {folder}/file is not a folder.",
        ),
        (
            '"journal"',
            '"unmounted/journal"',
            "{folder}/unmounted is a symbolic link to /nonexistent/disk, which does not",
        ),
        ('"journal"', '"~/journal"', "[journal] folder must be a path that is written out, without ~ or $"),
    ],
)
async def test_a_place_that_cannot_be_used(stage: Stage, old: str, new: str, words: str) -> None:
    (stage.folder / "file").touch()
    (stage.folder / "unmounted").symlink_to("/nonexistent/disk")
    stage.configuration.write_text(replacing(old, new)(stage.configuration.read_text()))
    assert words.format(folder=stage.folder) in await refusal(stage)


async def test_a_socket_of_a_running_program(stage: Stage) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(stage.socket))
        other.listen()
        answering = asyncio.create_task(_hang_up(other))
        assert "belongs to a program that is running" in await refusal(stage)
        answering.cancel()


async def _hang_up(listener: socket.socket) -> None:
    listener.setblocking(False)
    while True:
        (await asyncio.get_running_loop().sock_accept(listener))[0].close()


async def test_the_running_table_is_no_mistake_of_its_configuration(stage: Stage) -> None:
    await stage.start_daemon()
    checked = Child("controller", "config", "check", str(stage.configuration))
    assert await checked.ended() == 0, checked.err


async def test_of_a_copy_that_systemd_made_the_original_is_named(tmp_path: Path) -> None:
    path = tmp_path / "credentials/cardshoe@NC-01.service/table.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[table]\n")
    daemon = Child("controller", "run", "--config", str(path))
    assert await daemon.ended() == BAD_CONFIGURATION
    assert daemon.err[-1].strip() == (
        "This is systemd's copy. Correct /etc/cardshoe/NC-01/table.toml, then `systemctl restart cardshoe@NC-01`."
    )


async def test_of_a_copied_key_file_the_original_is_named(stage: Stage) -> None:
    folder = stage.folder / "credentials/cardshoe@NC-01.service"
    folder.mkdir(parents=True)
    for name in ("journal.key", "table.toml"):
        shutil.copy(stage.folder / name, folder)
    (folder / "device.keys").write_text("CARDSHOE-0001\n")
    daemon = Child("controller", "run", "--config", str(folder / "table.toml"))
    assert await daemon.ended() == BAD_CONFIGURATION
    said = "\n".join(daemon.err)
    assert "/etc/cardshoe/NC-01/device.keys" in said
    assert "credentials" not in said
