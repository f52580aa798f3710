from __future__ import annotations

import pytest

from tests.journal.power.runs import make_log_small


@pytest.fixture(autouse=True)
def small_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Megabytes of zeros, written and copied for each cut, show nothing more than some pages of them."""
    make_log_small(monkeypatch.setattr)
