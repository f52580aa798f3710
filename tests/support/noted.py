"""Names the failed case in a test of many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def noted(case: str) -> Iterator[None]:
    """Add the case's name to any exception."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"in the case: {case}")
        raise
