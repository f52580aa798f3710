"""Runs a target on inputs, and reports exceptions outside its contract."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from tests.fuzz.mutate import inputs
from tests.fuzz.targets import Target

PATIENCE: Final = 20  # seconds for one input


class Finding(NamedTuple):
    target: str
    data: bytes
    error: BaseException

    @property
    def place(self) -> tuple[str, str, int]:
        """Return the exception with its place: findings at one place count as one."""
        trace = self.error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        code = None if trace is None else trace.tb_frame.f_code
        line = 0 if trace is None else trace.tb_lineno
        return type(self.error).__name__, "" if code is None else code.co_filename, line


class EndlessError(BaseException):
    """An input takes far longer than any should. (A guard against a hang: no target can catch it.)"""


def run_once(target: Target, data: bytes) -> Finding | None:
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(PATIENCE)
    try:
        target.run(data)
    except target.contract:
        return None
    except (Exception, EndlessError) as error:
        return Finding(target.name, data, error)
    finally:
        signal.alarm(0)
    return None


def _give_up(*_: object) -> None:
    raise EndlessError


def run_seeds(target: Target) -> list[Finding]:
    return [found for data in target.seeds() if (found := run_once(target, data)) is not None]


def run_spoilt(target: Target, seed: int | str) -> Iterator[Finding | None]:
    """Yield the result of each mutated input without end. The same seed gives the same inputs."""
    for data in inputs(target.seeds(), Random(f"{target.name}/{seed}")):
        yield run_once(target, data)
