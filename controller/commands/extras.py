"""Extras: parts of the program whose packages are installed on request only (pyproject.toml)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from controller.problems import ProblemError

ALSO: Final = {"floor": ", and libpq (Debian's package libpq5)"}
"""By extra, the system libraries that its packages need."""


@contextmanager
def of_extra(extra: str, what: str) -> Iterator[None]:
    """Enclose the import of an extra's packages.

    Raises `ProblemError` where one is missing or cannot be loaded. It starts with `what`, as "A page cannot be made",
    and says why and what to install.
    """
    try:
        yield
    except ImportError as error:
        why = (str(error).splitlines() or ["the reason is not known"])[0]
        raise ProblemError(
            f"{what}: {why}.", f"Install cardshoe with its extra `{extra}`{ALSO.get(extra, '')}."
        ) from error
