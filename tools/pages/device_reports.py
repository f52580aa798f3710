"""The effect of every report, and of every fault in a status, in every phase and service.

`python -m tools.generate` writes docs/device_reports.md; a test plays every case and compares it with the
page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, TypeAlias, get_args

from controller.games.specification import Kind, Unit
from controller.table import events
from controller.table.admissions import ADMISSIONS, BY_ID
from controller.table.events import AnyEvent
from controller.table.phases import Phase, Service
from firmware_bridge import observations as o
from firmware_bridge.cards import DECK, Concealed
from firmware_bridge.observations import AnyObservation
from tests.table.every_state import to_phase
from tests.table.harness import TableHarness

GROUPS: Final[dict[str, tuple[Phase, ...]]] = {
    "between rounds": (Phase.CLOSED, Phase.IDLE, Phase.CONCLUDED, Phase.VOIDED),
    "maintenance": (Phase.MAINTENANCE,),
    "betting": (Phase.BETTING,),
    "deal": (Phase.FIRST_CARD, Phase.DEALING_SETS, Phase.DEALING_SINGLES),
    "after the deal": (Phase.EXAMINING, Phase.EXPOSING, Phase.SETTLING),
}
KEPT: Final = "kept by the device until the link stands"
Say: TypeAlias = Callable[[TableHarness], AnyObservation]
Play: TypeAlias = Callable[[Phase, Service], str]
NEXT: Final = 30  # a card of the harness's deck that no played round has dealt


def _card(table: TableHarness, number: int) -> Concealed:
    return Concealed(DECK[NEXT], table.device.shuffle, number)


SAID: Final[dict[str, tuple[Say, str]]] = {
    "started (power)": (lambda t: o.Started("power"), "in a round the power failed: people decide (I17, I18)"),
    "started (reset)": (lambda t: o.Started("reset"), "the count that follows shows whether cards passed"),
    "deck_loaded": (lambda t: o.DeckLoaded(9, 52), "the deck of the next round"),
    "shuffle_started": (lambda t: o.ShuffleStarted(t.device.deck), "in a round no deck in play is shuffled"),
    "shuffle_finished": (lambda t: o.ShuffleFinished(t.device.deck, 901, 52), "the same"),
    "shuffle_finished (1 missing)": (
        lambda t: o.ShuffleFinished(t.device.deck, 901, 51, missing=1),
        "a deck that is not whole is not dealt from",
    ),
    "shuffle_finished (1 foreign)": (
        lambda t: o.ShuffleFinished(t.device.deck, 901, 52, foreign=1),
        "a card of another deck is among them",
    ),
    "shuffle_finished (1 unreadable)": (
        lambda t: o.ShuffleFinished(t.device.deck, 901, 52, unreadable=1),
        BY_ID["cards not read in the shuffle"].why,
    ),
    "shuffle_aborted": (lambda t: o.ShuffleAborted(t.device.deck, 20), "the deck is not shuffled"),
    "set_dispensed (out of turn)": (
        lambda t: o.SetDispensed(t.device.shuffle, 40, 10, t.device.deck, (_card(t, 40),)),
        "a jump in the count: cards may have passed unseen",
    ),
    "set_removed (unknown)": (lambda t: o.SetRemoved(t.device.shuffle, 49), "the journal knows no such set"),
    "card_drawn (out of turn)": (
        lambda t: o.CardDrawn(t.device.shuffle, 40, 12, t.device.deck, _card(t, 40)),
        "a jump in the count: cards may have passed unseen",
    ),
    "cards_drawn_together (out of turn)": (
        lambda t: o.CardsDrawnTogether(t.device.shuffle, 40, 11, t.device.deck, False, (None, None)),
        "a jump in the count: cards may have passed unseen",
    ),
    "face_up_found": (
        lambda t: o.FaceUpFound(t.device.shuffle, 45, t.device.deck, _card(t, 45)),
        "no round begins with such a deck; in a round the clause says what follows",
    ),
    "stub_unloaded": (
        lambda t: o.StubUnloaded(t.device.deck, t.state.stub_due),
        "the end count; in the middle of a deal the cards are out of the device",
    ),
    "jammed": (lambda t: o.Jammed("exit"), "no card moves; people reach for the cards, so an unused deck is unfit"),
    "jam_cleared": (lambda t: o.JamCleared("exit"), "nothing was jammed"),
    "door_moved (open)": (lambda t: o.DoorMoved(True), "the cards are within reach, so an unused deck is unfit"),
    "door_moved (closed)": (lambda t: o.DoorMoved(False), "nothing was open"),
    "self_test_finished (failed)": (lambda t: o.SelfTestFinished(False, "lamp"), BY_ID["self-test failed"].why),
    "self_test_finished (passed)": (lambda t: o.SelfTestFinished(True), "the device's word that it is well again"),
    "check_failed (memory)": (lambda t: o.CheckFailed("memory"), BY_ID["memory check failed"].why),
    "check_failed (program)": (lambda t: o.CheckFailed("program"), BY_ID["program check failed"].why),
    "check_failed (another)": (lambda t: o.CheckFailed("lamp"), BY_ID["check failed"].why),
    "power_low": (lambda t: o.PowerLow(), BY_ID["power low"].why),
    "tampered": (lambda t: o.Tampered("case"), BY_ID["tampering"].why),
    "button_pressed": (lambda t: o.ButtonPressed("green"), "it concerns no card"),
    "reports_lost": (lambda t: o.ReportsLost(1, 1, 2), "cards may have passed unseen"),
    "not_understood": (lambda t: o.NotUnderstood("too short"), "it may have been about cards"),
    "gap_suspected": (lambda t: o.GapSuspected("5 after 3"), "something may be lost, which is not certain"),
    "alarmed": (lambda t: o.Alarmed("E7"), "the device says that something is wrong, and not what"),
    "noted": (lambda t: o.Noted("stand-by"), "it concerns no card"),
}
FAULTS: Final = {
    "jam: exit": BY_ID["fault"].why,
    "door": BY_ID["fault"].why,
    "fan": BY_ID["fault"].why,
}
"""In a status while the link stands, without a report of the same."""


def outcome(seen: list[AnyEvent]) -> str:
    """Return the effect in the words of the page."""
    said: list[str] = []
    for event in seen:
        match event:
            case events.IrregularityRaised(kind=Kind.TECHNICAL_STOP):
                said.append("stops")
            case events.IrregularityRaised(kind=Kind.COUNT_IN_DOUBT):
                said.append("doubts")
            case events.IrregularityRaised(row=row):
                said.append(f"raises {row.id}")
            case events.DeviceStopped():
                said.append("stops")
            case events.DeckMadeUnusable():
                said.append("deck unfit")
            case events.DeviceNoted() | events.MaintenanceNoted():
                said.append("noted")
            case events.DeckArrived() | events.ShuffleBegan() | events.DeckShuffled() | events.StubCounted():
                said.append("taken")
            case events.CardsSetAside() | events.SetInTray() | events.CardFoundFaceUp() | events.DeviceFreed():
                said.append("taken")
            case _:
                pass
    if len(said) > 1:
        said = [one for one in said if one not in ("noted", "taken")] or said
    return ", ".join(dict.fromkeys(said)) or "noted"


def at(phase: Phase, service: Service) -> TableHarness:
    unit = Unit.SINGLES if phase is Phase.DEALING_SINGLES else Unit.SETS
    table = to_phase(unit, phase)
    if service is not Service.IN_SERVICE:
        table.lose_link()
    if service is Service.RECONCILING:
        table.connect()
        assert table.state.service is service
    return table


def after_report(say: Say, phase: Phase, service: Service = Service.IN_SERVICE) -> str:
    table = at(phase, service)
    before = len(table.steps)
    table.device.report(say(table))
    if len(table.steps) == before:
        return KEPT
    return outcome([event for _, event in table.steps[before][1]])


def after_fault(fault: str, phase: Phase, service: Service = Service.IN_SERVICE) -> str:
    table = at(phase, service)
    table.device.faults = (fault,)
    before = len(table.steps)
    table.heartbeat()
    return outcome([event for _, numbered in table.steps[before:] for _, event in numbered])


def cells(play: Play) -> tuple[str, ...]:
    """Return the effects in each group of phases."""
    return tuple(
        "; ".join(dict.fromkeys(play(phase, Service.IN_SERVICE) for phase in phases)) for phases in GROUPS.values()
    )


def played() -> Iterator[tuple[str, str, Play]]:
    """Yield each report and each fault: its name on the page, the reason of its effect, and how it is played."""
    for name, (say, why) in SAID.items():
        yield f"`{name}`", why, partial(after_report, say)
    for fault, why in FAULTS.items():
        yield f"status `{fault}`", why, partial(after_fault, fault)


def table_of_page() -> str:
    """Return a row for all reports and faults with the same effects, each with its reason."""
    heads = ["what the device says, and why it has this effect", *GROUPS]
    rows: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name, why, play in played():
        rows.setdefault(cells(play), {}).setdefault(why, []).append(name)
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for effects, names in rows.items():
        said = "<br>".join(f"{', '.join(of_why)}: {why}" for why, of_why in names.items())
        lines.append(f"| {' | '.join([said, *effects])} |")
    return "\n".join(lines)


def admissions() -> str:
    """Return the rows on what ends an admission."""
    lines = ["| cause | in a round | taken back by |", "|---|---|---|"]
    for row in ADMISSIONS:
        in_round = {None: "-", Kind.TECHNICAL_STOP: "I19", Kind.COUNT_IN_DOUBT: "I04"}[row.in_round]
        well = " or ".join(f"`{one.__struct_config__.tag}`" for one in row.well) or "-"
        lines.append(f"| {row.id} | {in_round} | {well} |")
    return "\n".join(lines)


def page() -> str:
    return f"""# What a report does to the table

This page is for device makers and laboratories: what each report of a device, and each fault in its status, does at a
table of NC. `python -m tools.generate` makes the tables by playing the program.

| word | meaning |
|---|---|
| stops | no card moves and no round begins; during a round it is I19, which people decide according to the clause |
| doubts | the cards must be counted (I04) |
| deck unfit | the unused deck must be loaded, shuffled and counted again |
| taken | it is part of normal play |
| noted | it is journaled and changes nothing |

While the table is out of service the device keeps its reports until the link is up.

{table_of_page()}

They are the same while device and journal are compared in a round (*reconciling*).

## What the device admits of itself

Such a stop lasts, even through a lost link and a restart, until the device has cancelled it by the named report (a
self-test only if passed) and a pit supervisor returns the table to service. If no report is named, the supervisor acts
first: the next status then lists the remaining faults, and the next shuffle the unread cards.

{admissions()}

## Doors and jams

An opened door, and a jam, even one that frees itself, put cards within reach where no sensor watches. Therefore a
shuffled deck from which no card was dealt is unfit, and so is the deck that waits while another is in play. A shuffle,
which counts the deck, makes it fit again. A shoe's deck is shuffled outside, put in, and counted by hand.
"""


def kinds_said() -> set[str]:
    return {name.partition(" ")[0] for name in SAID}


def kinds_there_are() -> set[str]:
    return {str(one.__struct_config__.tag) for one in get_args(AnyObservation)}
