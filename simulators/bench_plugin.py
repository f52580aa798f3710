"""The bench as a pytest plug-in: `pytest --device URL` runs the conformance class against what the URL names.

Without `--device` the same tests run against a simulated shuffler on a pseudo-terminal.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cardshoe")
    group.addoption("--device", metavar="URL", help="the device on the bench; a simulator unless given")
    group.addoption("--device-keys", metavar="FILE", help="its key file (docs/bench.md)")
