"""Checks the files and the port that a configuration names, as the daemon will find them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from controller.daemon.configuration import ConfigurationError, read_sections
from controller.daemon.journal_files import errors_of_keys
from controller.daemon.port_use import Run, mistakes_of_port
from controller.daemon.section_reader import UNREADABLE, Mistake
from controller.daemon.sections import CaptureSection, Configuration, DeviceSection, JournalSection
from controller.journal import JournalError
from controller.journal.sealing import load_key_file
from controller.journal.signing import load_signing_key
from firmware_bridge.card_table import read_card_table
from firmware_bridge.device_keys import read_device_keys
from firmware_bridge.errors import BridgeError
from firmware_bridge.messages import message


def read_with_surroundings(path: Path, run: Run) -> Configuration:
    """Read a configuration and check the files and the port that it names. `run` returns the output of a program on the
    PC.

    Raise `ConfigurationError` with all mistakes.
    """
    found = read_sections(path)
    device, journal, capture, api = map(found.partly.get, ("device", "journal", "capture", "api"))
    table = found.good.get("table")
    mistakes = [*found.mistakes, *_mistakes(device, journal, capture)]
    if table is not None and api is not None and api.http not in (None, found.partly.get("api.http")):
        mistakes += mistakes_of_port(table, api, run)
    if mistakes:
        raise ConfigurationError(path, mistakes)
    return Configuration(**found.good)


def mistakes_of_files(configuration: Configuration) -> list[Mistake]:
    """Return the mistakes with which the daemon would not start, or would refuse its device."""
    return list(_mistakes(configuration.device, configuration.journal, configuration.capture))


def files_of(configuration: Configuration) -> tuple[Path, ...]:
    """Return the existing key files and card table."""
    found = _files(configuration.device, configuration.journal, configuration.capture)
    return tuple(path for _, path, _ in found if path is not None and path.exists())


def _mistakes(
    device: DeviceSection | None, journal: JournalSection | None, capture: CaptureSection | None
) -> Iterator[Mistake]:
    for place, path, read in _files(device, journal, capture):
        if path is None or path == UNREADABLE:
            continue
        try:
            read(path)
        except (JournalError, BridgeError) as error:
            yield Mistake(message("{place}: {why}", place=place, why=error.message), error.hint)
    if journal is not None:
        for key, wrong in errors_of_keys(journal):
            yield Mistake(message("[journal] {key}: {why}", key=key, why=wrong.message), wrong.hint)


def _files(
    device: DeviceSection | None, journal: JournalSection | None, capture: CaptureSection | None
) -> Iterator[tuple[str, Path | None, Callable[[Path], Any]]]:
    """Yield the files of the sections that could be read."""
    if device is not None:
        yield "[device] key_file", device.key_file, read_device_keys
        yield "[device] card_table", device.card_table, read_card_table
    if journal is not None:
        yield "[journal] key_file", journal.key_file, load_key_file
        if (
            UNREADABLE not in (journal.folder, journal.signing_key_file) and journal.signing_key_path.exists()
        ):  # created at the first start
            yield "[journal] signing_key_file", journal.signing_key_path, load_signing_key
    if capture is not None:
        yield "[capture] key_file", capture.key_file, load_key_file
