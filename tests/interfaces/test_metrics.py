"""The metrics endpoint: its counters, their timing, and its readers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from prometheus_client.parser import text_string_to_metric_families

from controller.api.view import LinkView
from controller.daemon import meter_definitions as of
from controller.daemon.meter_definitions import DEFINITIONS
from controller.daemon.meters import COUNTED, Durations, Meters
from controller.daemon.metrics_page import Disk, MetricsPage
from controller.games.specification import Kind, Unit
from controller.journal.codec import Moment
from controller.roles import Role
from controller.table import events, operations
from controller.table.decision import Decided
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.phases import Phase
from controller.table.state import TableState
from tests.architecture.sources import ROOT
from tests.architecture.test_pages import headings
from tests.table.harness import TableHarness
from tools.pages import metrics

SECOND: Final = 10**9
STREAMS: Final = {"screen": 2, "display": 1, "user": 0}


class Clock:
    def __init__(self) -> None:
        self.boottime_ns = 5 * SECOND

    def now(self) -> Moment:
        return Moment(10**18, self.boottime_ns)


class MeteredTable(TableHarness):
    """A table whose decisions are counted as in the daemon; each decision and each commit takes 3 ms."""

    def __init__(self, unit: Unit = Unit.SETS) -> None:
        self.clock = Clock()
        self.meters = Meters(self.clock)
        super().__init__(unit)
        self.link = LinkView(state="ready", age=0.25)
        self.is_connected, self.sent_up_to = True, 3
        self.page_of = MetricsPage(self, lambda: self.link, lambda: Disk(1000, 5000), self.clock, self)

    def watch(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        decided = Decided(tuple(event for _, event in numbered), self.state)
        began = self.clock.now()
        self.clock.boottime_ns += 3_000_000
        self.meters.took(of.DECISION, began, in_round=decided.state.in_round)
        if numbered:
            began = self.clock.now()
            self.clock.boottime_ns += 3_000_000
            self.meters.committed(began, decided)

    async def page(self, *, ready: bool = True) -> dict[str, float]:
        """Return every sample by its name and labels, as written."""
        self.clock.boottime_ns += SECOND
        return samples((await self.page_of.page(ready, STREAMS)).decode())


def samples(page: str) -> dict[str, float]:
    found = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sample.labels.items())
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


@pytest.fixture
def table() -> MeteredTable:
    return MeteredTable()


async def test_a_round_is_counted(table: MeteredTable) -> None:
    table.start()
    before = await table.page()
    assert before['cardshoe_rounds_total{ended="concluded"}'] == 0
    table.to_dealing().deal()
    dealt = await table.page()
    cards = sum(len(event.cards) for event in table.events_of(events.CardsDealt))
    assert sum(count for name, count in dealt.items() if name.startswith("cardshoe_cards_dealt_total")) == cards > 0
    assert dealt["cardshoe_round"] == 1
    assert dealt["cardshoe_device_silence_seconds"] == 0.25
    assert (dealt["cardshoe_journal_bytes"], dealt["cardshoe_journal_free_bytes"]) == (1000, 5000)
    assert dealt['cardshoe_streams{caller="screen"}'] == 2
    assert dealt["cardshoe_ready"] == 1
    assert dealt["cardshoe_links_ready_total"] == 1
    for _ in range(2):
        table.do(operations.AbandonRound("shift manager", "the fire alarm"), Role.SHIFT_MANAGER)
    assert table.state.phase is Phase.VOIDED
    after = await table.page(ready=False)
    assert after['cardshoe_rounds_total{ended="voided"}'] == 1
    assert after["cardshoe_ready"] == 0
    assert after['cardshoe_operations_accepted_total{operation="abandon_round"}'] == 2


async def test_irregularities_are_listed_before_the_first_is_raised(table: MeteredTable) -> None:
    table.start()
    at_first = irregularities(await table.page())
    assert set(at_first.values()) == {0}
    table.to_dealing()
    table.report(Kind.POWER_FAILURE)
    page = await table.page()
    found = irregularities(page)
    assert found.keys() == at_first.keys()
    (raised,) = (key for key, count in found.items() if count)
    row = table.open.row
    assert raised == f'cardshoe_irregularities_total{{clause="{row.clause}",irregularity="{row.id}",kind="{row.kind}"}}'
    assert page["cardshoe_irregularities_open"] == 1


def irregularities(page: dict[str, float]) -> dict[str, float]:
    return {name: count for name, count in page.items() if name.startswith("cardshoe_irregularities_total")}


async def test_lost_links_and_refusals_are_counted(table: MeteredTable) -> None:
    table.start()
    table.lose_link()
    table.connect()
    table.say(operations.ConcludeRound())
    table.meters.committed(
        table.clock.now(),
        Decided(
            (events.PinRefused("sam", None, 1), events.DoorRefused("header", None, 1), events.DoorRefused("x", 7, 40)),
            table.state,
        ),
    )
    page = await table.page()
    assert page["cardshoe_links_ready_total"] == 2
    assert sum(count for name, count in page.items() if name.startswith("cardshoe_links_lost_total")) == 1
    assert page['cardshoe_operations_refused_total{code="phase",operation="conclude_round"}'] == 1
    assert page["cardshoe_wrong_pins_total"] == 1
    assert page['cardshoe_requests_refused_total{code="x"}'] == 40


async def test_durations_of_a_round_are_counted_when_it_is_over(table: MeteredTable) -> None:
    """They are counted in steps, because the time between two cards would reveal them."""
    table.start().to_dealing()
    before = await table.page()
    table.deal()
    dealt = await table.page()
    name = "cardshoe_decision_seconds"
    assert [dealt[f"{name}_{one}"] for one in ("count", "sum")] == [before[f"{name}_{one}"] for one in ("count", "sum")]
    for _ in range(2):
        table.do(operations.AbandonRound("shift manager", "the fire alarm"), Role.SHIFT_MANAGER)
    over = await table.page()
    decisions = len(table.steps)
    assert over[f"{name}_count"] == over[f'{name}_bucket{{le="0.005"}}'] == decisions
    assert over[f'{name}_bucket{{le="0.0025"}}'] == 0
    assert over[f"{name}_sum"] == pytest.approx(0.005 * decisions)


@pytest.mark.parametrize(("seconds", "counted"), [(0.0, 0.001), (0.001, 0.001), (0.0011, 0.0025), (2.6, 5), (60.2, 61)])
def test_a_duration_counts_as_the_upper_end_of_its_step(seconds: float, counted: float) -> None:
    durations = Durations()
    durations.add(seconds)
    assert durations.sum == counted


async def test_a_page_is_made_once_a_second(table: MeteredTable) -> None:
    table.start()
    table.clock.boottime_ns += SECOND
    first = await table.page_of.page(True, STREAMS)
    table.to_dealing()
    table.clock.boottime_ns = table.page_of._made_ns + SECOND - 1
    assert await table.page_of.page(True, STREAMS) is first
    table.clock.boottime_ns += 1
    assert await table.page_of.page(True, STREAMS) != first


async def test_unknown_values_are_left_out_or_infinite(table: MeteredTable) -> None:
    def fails() -> Disk:
        raise OSError

    table.start()
    table.link = LinkView()
    page_of = MetricsPage(table, lambda: table.link, fails, table.clock)
    page = samples((await page_of.page(True, STREAMS)).decode())
    assert math.isinf(page["cardshoe_device_silence_seconds"])
    assert "cardshoe_journal_free_bytes" not in page


async def test_the_floor_has_the_journal_up_to_an_entry(table: MeteredTable) -> None:
    table.start()
    page = await table.page()
    assert page["cardshoe_floor_connected"] == 1
    assert page["cardshoe_floor_backlog_entries"] == table.state.entry - 3
    table.is_connected, table.sent_up_to = False, table.state.entry
    page = await table.page()
    assert page["cardshoe_floor_connected"] == page["cardshoe_floor_backlog_entries"] == 0


async def test_every_definition_is_on_the_page_and_nothing_else(table: MeteredTable) -> None:
    table.start().to_dealing()
    page = (await table.page_of.page(True, STREAMS)).decode()
    assert re.findall(r"^# TYPE (\S+) (\S+)$", page, re.MULTILINE) == [(one.name, one.kind) for one in DEFINITIONS]
    labels = {one.name: set(one.labels) for one in DEFINITIONS}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            name = next(one for one in labels if sample.name == one or sample.name.startswith(f"{one}_"))
            assert set(sample.labels) - {"le"} == labels[name]


def counters() -> Iterator[tuple[str, int]]:
    """Yield each counter of events, with the number of its labels."""
    made: list[Any] = [
        events.PhaseEntered(Phase.CONCLUDED),
        events.PhaseEntered(Phase.IDLE, cancels=True),
        events.OperationTaken("id", "x", "p", Role.DEALER),
        events.OperationRefused("id", "x", "p", "code", "sentence"),
        events.DeviceLost("code", "sentence"),
        events.PinRefused("sam", None, 1),
        events.DoorRefused("x", None, 1),
        events.CardsDealt((), (), "device"),
    ]
    for event in made:
        counted = COUNTED[type(event)](event)
        assert counted is not None
        yield counted[0], len(counted[1])
    assert COUNTED[events.PhaseEntered](events.PhaseEntered(Phase.BETTING)) is None


def test_every_counter_is_defined() -> None:
    defined = {one.name: len(one.labels) for one in DEFINITIONS}
    for name, labels in counters():
        assert defined[name] == labels


# -- docs/metrics.md


def test_an_alert_has_its_metric_and_a_remedy() -> None:
    for definition in metrics.EVERY:
        for alert in definition.alerts:
            assert alert.act.endswith(".")
            named = re.findall(r"cardshoe_\w+", alert.expression)
            assert named[0].removesuffix("_bucket") == definition.name
    names = [alert.name for alert in metrics.RULES]
    assert len(set(names)) == len(names)
    assert {alert.severity for alert in metrics.RULES} == {"critical", "warning", "info"}


def test_an_alert_leads_to_its_section() -> None:
    assert metrics.SECTIONS.keys() == {alert.name for alert in metrics.RULES}
    for section in metrics.SECTIONS.values():
        page, _, anchor = section.partition("#")
        assert not anchor or anchor in headings(ROOT / "docs" / page), section


def test_names_are_by_the_convention() -> None:
    for one in DEFINITIONS:
        assert (one.kind == "counter") == one.name.endswith("_total")
        assert one.name.startswith("cardshoe_")
        assert one.meaning.endswith(".")
