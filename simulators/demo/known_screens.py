"""The browsers that were enrolled as screens of earlier demonstrations, so that a visitor enrols each of them once.

A browser keeps its cookie by the table's name and port, which do not change from run to run. Its folder here has only
the hash of the cookie, as the journal does. It is separate because it is the only thing that outlives a demonstration.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from controller.api.bodies import OperationRequest
from controller.api.client import ApiClient
from controller.table.operations import EnrolScreen
from simulators.people.crew import CREW

MOST: Final = 8  # the newest browsers
HASH: Final = re.compile(r"[0-9a-f]{64}")


def place() -> Path:
    """Return the file, in the user's folder for the state of programs."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "cardshoe" / "demo-screens"


def known(file: Path) -> list[str]:
    """Return the hashes of the known browsers, the newest last; none if the file cannot be read."""
    with suppress(OSError, UnicodeDecodeError):
        return [line for line in file.read_text("ascii").split() if HASH.fullmatch(line)][-MOST:]
    return []


def remember(event: dict[str, Any], file: Path) -> None:
    """Keep the browser of an enrolment. Without a place to keep it, it is enrolled again the next time."""
    if event["event"] != "screen_enrolled" or event["token_hash"] in (before := known(file)):
        return
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join([*before, event["token_hash"]][-MOST:]) + "\n", "ascii")


async def enrol(client: ApiClient, hashes: Iterable[str]) -> None:
    """Enrol these browsers, as the supervisor of the demonstration would."""
    supervisor = CREW[1]
    for number, token_hash in enumerate(hashes, 1):
        operation = EnrolScreen(f"Screen {number}", token_hash)
        await client.operate(OperationRequest(str(uuid4()), 0, operation, supervisor.id, supervisor.pin))
