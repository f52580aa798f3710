"""The files that a configuration names, read as the daemon will read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from controller.daemon.section_reader import Mistake
from controller.daemon.sections import Configuration
from controller.journal import JournalError
from controller.journal.sealing import load_key_file
from controller.journal.signing import load_signing_key
from firmware_bridge.card_table import read_card_table
from firmware_bridge.device_keys import read_device_keys
from firmware_bridge.errors import BridgeError


def mistakes_of_files(configuration: Configuration) -> list[Mistake]:
    """Those with which the daemon would not start, or would refuse its device."""
    return list(_mistakes(configuration))


def _mistakes(configuration: Configuration) -> Iterator[Mistake]:
    for place, path, read in _files(configuration):
        if path is None:
            continue
        try:
            read(path)
        except (JournalError, BridgeError) as error:
            yield Mistake(f"{place}: {error}", error.hint)


def _files(configuration: Configuration) -> Iterator[tuple[str, Path | None, Callable[[Path], Any]]]:
    device, journal, capture = configuration.device, configuration.journal, configuration.capture
    yield "[device] key_file", device.key_file, read_device_keys
    yield "[device] card_table", device.card_table, read_card_table
    yield "[journal] key_file", journal.key_file, load_key_file
    if journal.signing_key_path.exists():  # made at the first start
        yield "[journal] signing_key_file", journal.signing_key_path, load_signing_key
    yield "[capture] key_file", capture.key_file if capture is not None else None, load_key_file
