"""Every report and every status fault has the effect that docs/device_reports.md states, in every phase and service."""

from __future__ import annotations

import pytest

from controller.table.phases import Phase, Service
from tests.table import reports_page


def test_every_report_and_every_phase_is_on_the_page() -> None:
    assert reports_page.kinds_said() == reports_page.kinds_there_are()
    assert {phase for phases in reports_page.GROUPS.values() for phase in phases} == set(Phase)


@pytest.mark.parametrize("name", reports_page.SAID)
def test_out_of_service_the_device_keeps_its_reports(name: str) -> None:
    say, _ = reports_page.SAID[name]
    assert reports_page.after_report(say, Phase.IDLE, Service.OUT_OF_SERVICE) == reports_page.KEPT
