"""Every report and every status fault has the effect that docs/device_reports.md states, in every phase and service."""

from __future__ import annotations

import pytest

from controller.table.phases import Phase, Service
from tools.pages import device_reports


def test_every_report_and_every_phase_is_on_the_page() -> None:
    assert device_reports.kinds_said() == device_reports.kinds_there_are()
    assert {phase for phases in device_reports.GROUPS.values() for phase in phases} == set(Phase)


@pytest.mark.parametrize("name", device_reports.SAID)
def test_out_of_service_the_device_keeps_its_reports(name: str) -> None:
    say, _ = device_reports.SAID[name]
    assert device_reports.after_report(say, Phase.IDLE, Service.OUT_OF_SERVICE) == device_reports.KEPT


@pytest.mark.parametrize(("name", "play"), [(name, play) for name, _, play in device_reports.played()])
def test_the_effects_are_the_same_while_device_and_journal_are_compared(name: str, play: device_reports.Play) -> None:
    for phase in (Phase.BETTING, Phase.DEALING_SETS, Phase.EXAMINING):
        assert play(phase, Service.RECONCILING) == play(phase, Service.IN_SERVICE), (name, phase)
