"""Scenarios: a text for each irregularity of each game, which a table plays step by step without device or daemon.

They are next to this file, in a folder for each game. docs/scenarios.md lists them by cell and clause.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from firmware_bridge.edited_text import NotTextError, UnusableFileError, read_edited
from simulators.scenarios.format import BadScenarioError, Scenario, read_scenario

FOLDER: Final = Path(__file__).parent
ENDING: Final = ".scenario"


@cache
def names() -> tuple[str, ...]:
    """Return the names of all packaged scenarios, such as `nc/i12-exposed`."""
    files = sorted(FOLDER.glob(f"*/*{ENDING}"))
    return tuple(f"{path.parent.name}/{path.name.removesuffix(ENDING)}" for path in files)


def load(name: str) -> Scenario:
    """Load a scenario from a file, or a packaged scenario by name. Raise `BadScenarioError`, also
    if it does not exist.
    """
    path = Path(name)
    if not path.is_file() and name.removesuffix(ENDING) in names():
        path = FOLDER / f"{name.removesuffix(ENDING)}{ENDING}"
    try:
        return read_scenario(name, read_edited(path))
    except (NotTextError, UnusableFileError) as error:
        raise BadScenarioError(f"{name} cannot be read: {error.why}.") from error
    except OSError as error:
        reason = "cannot be read as text" if path.is_file() else "is neither a file nor the name of a packaged scenario"
        raise BadScenarioError(f"{name} {reason}; packaged ones are named like nc/i12-exposed.") from error


def packaged() -> Iterator[Scenario]:
    """Yield every packaged scenario."""
    return (load(name) for name in names())
