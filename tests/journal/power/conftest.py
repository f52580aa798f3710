from __future__ import annotations

import pytest

from tests.journal.power.runs import make_log_small


@pytest.fixture(autouse=True)
def small_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the log small: megabytes of zeros, copied for each cut, show nothing more than a few pages do."""
    make_log_small(monkeypatch.setattr)
