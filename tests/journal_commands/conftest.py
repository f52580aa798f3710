from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.commands.main import main
from tests.journal_commands.made import evening


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of an evening; the daemon was stopped in the middle of round 7."""
    table = evening(tmp_path_factory.mktemp("evening") / "journal")
    table.journal.close()
    return table.journal.folder


def run(*arguments: object, code: int = 0) -> str:
    """Run `cardshoe journal`, and return its output."""
    done = CliRunner().invoke(main, ["journal", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.output
