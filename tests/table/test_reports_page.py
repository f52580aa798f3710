"""Every report and every status fault has the effect that docs/device_reports.md states, in every phase and service."""

from __future__ import annotations

from controller.table.phases import Phase
from tests.table import reports_page


def test_every_report_and_every_phase_is_on_the_page() -> None:
    assert reports_page.kinds_said() == reports_page.kinds_there_are()
    assert {phase for phases in reports_page.GROUPS.values() for phase in phases} == set(Phase)
