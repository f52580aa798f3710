from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journal.vocabulary import TestJournal, open_journal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def path(folder: Path) -> Path:
    """Return the path of the journal's first file."""
    return folder / "000001.journal"


@pytest.fixture
def journal(folder: Path) -> Iterator[TestJournal]:
    journal = open_journal(folder)
    yield journal
    journal.close()
