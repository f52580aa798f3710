"""Extras: parts of the program whose packages are installed on request only (pyproject.toml)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from controller.problems import ProblemError

ALSO: Final = {"floor": ", and libpq (Debian's package libpq5)"}
"""System libraries that an extra's packages need."""


@contextmanager
def of_extra(extra: str, what: str) -> Iterator[None]:
    """Wrap the import of an extra's packages.

    Raise `ProblemError` if one is missing or cannot be loaded. It starts with `what`, such as "A page cannot be made",
    and says why and what to install.
    """
    try:
        yield
    except ImportError as error:
        why = (str(error).splitlines() or ["the reason is not known"])[0]
        raise ProblemError(
            f"{what}: {why}.", f"Install cardshoe with its extra `{extra}`{ALSO.get(extra, '')}."
        ) from error
