"""Connects tests with the promises of docs/cardlink.md, and names a broken promise.

A test is decorated with `promise`. It may be a coroutine, which runs on the loop of its fixture, so that pytest does
not need a plug-in for asyncio.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Final, NamedTuple, TypeVar, cast

import msgspec


class Measurement(msgspec.Struct, frozen=True):
    """A value measured on a device, which is good up to `limit`."""

    name: str
    value: float
    unit: str
    limit: float

    @property
    def within(self) -> bool:
        return self.value <= self.limit

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.name}: {self.value:.3g}{unit}, at most {self.limit:g}{unit}"


Test = TypeVar("Test", bound=Callable[..., Any])
Judged = Callable[..., Coroutine[Any, Any, None]]
PAGE: Final = "cardlink v1"


class Promise(NamedTuple):
    """A promise. `section` is a heading of the page; `rule` its numbered rule or row of its table, "" for its text."""

    section: str
    rule: str
    sentence: str

    @property
    def place(self) -> str:
        return f'{PAGE}, "{self.section}"{f" ({self.rule})" if self.rule else ""}'


class PromiseTest(NamedTuple):
    """A test with its promises. `judged` runs it with objects in place of its fixtures; `needs` names the fixtures."""

    name: str
    promises: tuple[Promise, ...]
    judged: Judged
    needs: tuple[str, ...]


class BrokenPromiseError(AssertionError):
    """Raised when the device broke a promise: which one, and what it did instead."""


KEPT: Final[dict[str, PromiseTest]] = {}
"""Every test of a promise, by name."""


def check(kept: bool, sentence: str) -> None:
    """Raise `BrokenPromiseError`, which says what the device did, unless the promise was kept."""
    if not kept:
        raise BrokenPromiseError(sentence)


def promise(section: str, rule: str, sentence: str) -> Callable[[Test], Test]:
    """Name a promise that a test checks. Of several, the first one named is blamed."""

    def decorate(test: Test) -> Test:
        before = KEPT.get(test.__name__)
        if before is not None:
            KEPT[test.__name__] = before._replace(promises=(Promise(section, rule, sentence), *before.promises))
            return test
        return _register(test, Promise(section, rule, sentence))

    return decorate


def _register(test: Test, first: Promise) -> Test:
    name = test.__name__

    async def judged(*things: Any) -> None:
        try:
            outcome = test(*things)
            if inspect.isawaitable(outcome):
                await outcome
        except AssertionError as error:
            raise BrokenPromiseError(f"{KEPT[name].promises[0].place}: {error}") from error

    KEPT[name] = PromiseTest(name, (first,), judged, tuple(list(inspect.signature(test).parameters)[1:]))

    @functools.wraps(test)
    def run(self: object, **fixtures: Any) -> None:
        run_on = next(iter(fixtures.values())).run
        run_on(judged(self, *fixtures.values()))

    return cast(Test, run)


def on_its_loop(test: Test) -> Test:
    """Run a coroutine test on the loop of the fixture `bench`."""

    @functools.wraps(test)
    def run(self: object, bench: Any, **fixtures: Any) -> None:
        bench.run(test(self, bench, **fixtures))

    return cast(Test, run)
