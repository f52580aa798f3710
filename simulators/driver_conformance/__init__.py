"""What every driver must do, as tests that a driver's own package runs: docs/a_new_driver.md.

Needs pytest and hypothesis, the extra `conformance`. Nothing else of the program imports this package.
"""

import pytest

pytest.register_assert_rewrite("simulators.driver_conformance.every_driver")
