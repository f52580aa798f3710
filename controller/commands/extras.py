"""Extras: parts of the program whose packages are installed only where they are asked for (pyproject.toml)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from controller.problems import ProblemError

ALSO: Final = {"floor": ", and libpq (Debian's package libpq5)"}
"""By extra, what its packages need of the system."""


@contextmanager
def of_extra(extra: str, what: str) -> Iterator[None]:
    """While packages of an extra are imported. Raises `ProblemError` where one of them is missing or cannot be loaded:
    `what`, as "A page cannot be made", why, and what to install.
    """
    try:
        yield
    except ImportError as error:
        why = (str(error).splitlines() or ["the reason is not known"])[0]
        raise ProblemError(
            f"{what}: {why}.", f"Install cardshoe with its extra `{extra}`{ALSO.get(extra, '')}."
        ) from error
