"""A table's configuration: one TOML file, read as a whole; all its mistakes are reported together.

Systemd gives the daemon a copy; messages name the original, which people edit (docs/configuration.md).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from controller.daemon.configuration_checks import mistakes_of_sections
from controller.daemon.section_reader import Found, Mistake, read_section
from controller.daemon.sections import Configuration as Configuration
from controller.daemon.toml_hints import next_step, readable
from firmware_bridge.edited_text import NotTextError, decode_edited, open_named, why_unreadable
from firmware_bridge.messages import Argument, Message, MessageError, message

LARGEST_FILE: Final = 1024 * 1024  # bytes


class ConfigurationError(MessageError):
    """Raised when the configuration cannot be used. The message says where. Exit code 78."""

    code = "configuration"

    def __init__(self, path: Path, mistakes: list[Mistake]) -> None:
        self.mistakes = mistakes
        (first, *others) = mistakes
        if not others:
            self.summary = message("{path}: {mistake}", path=str(path), mistake=first.sentence)
            hint = first.hint or message("Correct it, then run `cardshoe config check`.")
            super().__init__(self.summary, hint)
            return
        self.summary = message("{path} has {count} mistakes.", path=str(path), count=len(mistakes))
        listed = tuple(message("- {parts:sentences}", parts=tuple(filter(None, mistake))) for mistake in mistakes)
        super().__init__(
            message(
                "{path} has {count} mistakes:\n  {mistakes:lines}",
                path=str(path),
                count=len(mistakes),
                mistakes=listed,
            ),
            message("Correct them all, then run `cardshoe config check`."),
        )


def read_configuration(path: Path, folder: Path | None = None) -> Configuration:
    """Read and check a file. Relative paths in it count from `folder`, by default the file's own. Raise
    `ConfigurationError` if it cannot be read or is invalid.
    """
    found = read_sections(path, folder)
    if found.mistakes:
        raise ConfigurationError(path, found.mistakes)
    return Configuration(**found.good)


def read_sections(path: Path, folder: Path | None = None) -> Found:
    """Return the sections of a file as far as they could be read, with all mistakes in them and between them.

    Raise `ConfigurationError` for an unreadable file or invalid TOML.
    """
    written = _with_game_id(_decode(path, _read(path)))
    counted_from = folder or path.resolve().parent
    found = read_section(written, Configuration, lambda text: counted_from / text)
    return found._replace(mistakes=[*found.mistakes, *mistakes_of_sections(found)])


def _read(path: Path) -> bytes:
    try:
        with open_named(path) as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        hint = message("Name a table's configuration that is there.")
        if isinstance(error, PermissionError):
            hint = message("Only its owner may read it: run the command as root, or name another file.")
        elif (within := path / "table.toml").is_file():
            hint = message("Name the file in it: {path}", path=str(within))
        refused = Mistake(message("It cannot be read: {why}.", why=why_unreadable(error)), hint)
        raise ConfigurationError(path, [refused]) from error
    if len(data) > LARGEST_FILE:
        raise ConfigurationError(
            path, [Mistake(message("It is larger than a megabyte."), message("Name a table's configuration."))]
        )
    return data


def _decode(path: Path, data: bytes) -> dict[str, Any]:
    text = ""
    try:
        text = decode_edited(data)
        if not text.strip():
            copy = message("Put its copy back from the safe, or make the table's folder with `cardshoe init`.")
            raise ConfigurationError(path, [Mistake(message("It is empty."), copy)])
        written: dict[str, Any] = msgspec.toml.decode(text)
    except NotTextError as error:
        refused = Mistake(message("It cannot be read: {why}.", why=error.why), "")
        raise ConfigurationError(path, [refused]) from error
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        said = str(error) if isinstance(error, msgspec.MsgspecError) else type(error).__name__
        raise ConfigurationError(
            path, [Mistake(message("It is not valid TOML: {why}.", why=readable(said)), next_step(text, said))]
        ) from error
    return written


def _with_game_id(written: dict[str, Any]) -> dict[str, Any]:
    """Return the file with the game's id in capital letters, as commands accept it in either."""
    table = written.get("table")
    if isinstance(table, dict) and isinstance(table.get("game"), str):
        return {**written, "table": {**table, "game": table["game"].upper()}}
    return written


AT_THE_START: Final = re.compile(r"/credentials/cardshoe@(.+)\.service/([^/]+)")
"""The path that `LoadCredential=` of the unit gives."""
AT_A_RELOAD: Final = re.compile(r"/cardshoe-reload/(.+?)(?:\.started)?\.toml")
"""The path that `ExecReload=` of the unit gives."""


class Original(NamedTuple):
    """The original file of a copy, at `path`, and the table that it belongs to."""

    table: str
    path: Path


def original_of(path: Path) -> Original | None:
    """Return the original of a copy, or None if the path is not such a copy."""
    if found := AT_THE_START.search(str(path)):
        return Original(found[1], Path("/etc/cardshoe") / found[1] / found[2])
    if found := AT_A_RELOAD.search(str(path)):
        return Original(found[1], Path("/etc/cardshoe") / found[1] / "table.toml")
    return None


def in_originals(said: Argument, path: Path) -> Any:
    """Replace the copy's path in a text or message, and those of the files beside it, with those of the files that
    people edit.
    """
    original = original_of(path)
    if original is None:
        return said
    return with_path(with_path(said, str(path), str(original.path)), str(path.parent), str(original.path.parent))


def with_path(said: Argument, before: str, after: str) -> Any:
    """Replace a path in a text, or in all arguments of a message."""
    if isinstance(said, str):
        return said.replace(before, after)
    if isinstance(said, tuple):
        return tuple(with_path(one, before, after) for one in said)
    if isinstance(said, Message):
        return replace(said, args={name: with_path(argument, before, after) for name, argument in said.args.items()})
    return said
