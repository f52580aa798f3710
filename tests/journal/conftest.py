from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journal.vocabulary import TestJournal, open_journal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.journal"


@pytest.fixture
def journal(path: Path) -> Iterator[TestJournal]:
    journal = open_journal(path)
    yield journal
    journal.close()
