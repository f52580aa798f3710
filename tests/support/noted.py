"""Which of many cases of one test failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def noted(case: str) -> Iterator[None]:
    """What is raised bears the case's name."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"in the case: {case}")
        raise
