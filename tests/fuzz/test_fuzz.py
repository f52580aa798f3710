"""Readers of bytes from devices, files and people answer any input within their contract, and in time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pytest

from tests.fuzz.found import FOUND
from tests.fuzz.run import Finding, run_once, run_seeds, run_spoilt
from tests.fuzz.targets import BY_NAME, TARGETS, Target
from tests.support import long_forms

LONG = long_forms.count(30)  # times the short form
EVERY_TARGET = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


def tell(findings: list[Finding]) -> str:
    return "\n".join(f"{found.target}: {found.data!r}: {found.error!r}" for found in findings[:5])


def spoil(target: Target, seed: int, executions: int) -> list[Finding]:
    return [found for found in islice(run_spoilt(target, seed), executions) if found is not None]


@EVERY_TARGET
def test_real_inputs_are_read(target: Target) -> None:
    assert not tell(run_seeds(target))


@EVERY_TARGET
def test_mutated_inputs_raise_nothing_else(target: Target) -> None:
    assert not tell(spoil(target, 1, target.short))


@pytest.mark.soak
@EVERY_TARGET
def test_mutated_inputs_raise_nothing_else_in_the_long_form(
    target: Target, record_property: Callable[[str, object], None]
) -> None:
    assert not tell(spoil(target, 2 + long_forms.seed, LONG * target.short))
    record_property("soak: spoilt inputs read", LONG * target.short)


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_past_findings_stay_fixed(name: str, data: bytes) -> None:
    found = run_once(BY_NAME[name], data)
    assert found is None, tell([found])


def test_a_defect_would_be_found() -> None:
    """Otherwise the tests above would pass whatever the targets raise."""

    def stumble(data: bytes) -> None:
        if b"]" in data[1:]:
            raise KeyError("defect")

    target = BY_NAME["card"]._replace(run=stumble, seeds=lambda: [b"abc [d]"])
    findings = spoil(target, 1, 20)
    assert findings
    assert findings[0].place[0] == "KeyError"
