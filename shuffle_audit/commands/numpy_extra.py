"""numpy, which only the extra `audit` installs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from controller.problems import ProblemError


@contextmanager
def numpy_extra() -> Iterator[None]:
    """While what needs numpy is imported. Raises `ProblemError` where it is not installed."""
    try:
        yield
    except ImportError as error:
        raise ProblemError(
            f"numpy cannot be used: {str(error).splitlines()[0]}.", "Install cardshoe with its extra `audit`."
        ) from error
