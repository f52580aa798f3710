"""Conformance tests for every driver, which a driver's own package runs: docs/a_new_driver.md.

They need pytest and hypothesis, the extra `conformance`. Nothing else in the program imports this package.
"""

import pytest

pytest.register_assert_rewrite("simulators.driver_conformance.every_driver")
