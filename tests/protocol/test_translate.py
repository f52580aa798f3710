"""The translation of cardlink's messages to the types that every driver uses, and of orders in the other direction."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from firmware_bridge import commands, observations
from firmware_bridge.capabilities import Capabilities
from firmware_bridge.cards import Card, Concealed
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.translate import (
    capabilities_of,
    capability_words,
    identity_of,
    observation_of,
    order_of,
    status_of,
)
from firmware_bridge.observations import AnyObservation

from .vectors import IDENTITY, REPORTS, STATUS


def concealed(code: str, ordinal: int) -> Concealed:
    return Concealed(Card.parse(code), 7, ordinal)


@pytest.mark.parametrize(
    ("report", "observation"),
    [
        (messages.StartedReport(9, "power"), observations.Started("power")),
        (messages.DeckLoadedReport(9, 2, 52, 7), observations.DeckLoaded(2, 52, 7)),
        (messages.DeckLoadedReport(9, 2, 0), observations.DeckLoaded(2, None, None)),
        (messages.ShuffleStartedReport(9, 2), observations.ShuffleStarted(2)),
        (
            messages.ShuffleFinishedReport(9, 2, 7, 52, 1, 2, 3, 4, 5, 6),
            observations.ShuffleFinished(
                deck=2, shuffle=7, count=52, missing=1, extra=2, duplicate=3, unreadable=4, foreign=5, face_up=6
            ),
        ),
        (
            messages.ShuffleAbortedReport(9, 2, 52, 1, 2, 3, 4, 5, 6),
            observations.ShuffleAborted(
                deck=2, count=52, missing=1, extra=2, duplicate=3, unreadable=4, foreign=5, face_up=6
            ),
        ),
        (
            messages.SetDispensedReport(9, 7, 4, 46, 2, [13, 0, 127, 53, 27]),
            observations.SetDispensed(7, 4, 46, 2, (concealed("KC", 4), None, None, None, concealed("AH", 8)), 1),
        ),
        (messages.SetRemovedReport(9, 7, 4), observations.SetRemoved(7, 4)),
        (
            messages.CardDrawnReport(9, 7, 4, 46, 2, 52),
            observations.CardDrawn(7, 4, 46, 2, concealed("KS", 4), None, 0),
        ),
        (messages.CardDrawnReport(9, 7, 4, 46, 2, 0, True), observations.CardDrawn(7, 4, 46, 2, None, True, 0)),
        (messages.CardDrawnReport(9, 7, 4, 46, 2, 127, False), observations.CardDrawn(7, 4, 46, 2, None, False, 1)),
        (
            messages.CardsDrawnTogetherReport(9, 7, 4, 46, 2, True, [14, 0, 127]),
            observations.CardsDrawnTogether(7, 4, 46, 2, True, (concealed("AD", 4), None, None), 1),
        ),
        (messages.FaceUpFoundReport(9, 7, 4, 2, 40), observations.FaceUpFound(7, 4, 2, concealed("AS", 4), 0)),
        (messages.FaceUpFoundReport(9, 7, 4, 2), observations.FaceUpFound(7, 4, 2, None, 0)),
        (messages.FaceUpFoundReport(9, 7, 4, 2, 127), observations.FaceUpFound(7, 4, 2, None, 1)),
        (messages.StubUnloadedReport(9, 2, 43), observations.StubUnloaded(2, 43)),
        (messages.JammedReport(9, "exit"), observations.Jammed("exit")),
        (messages.JamClearedReport(9, "exit"), observations.JamCleared("exit")),
        (messages.DoorMovedReport(9, True), observations.DoorMoved(True)),
        (messages.SelfTestFinishedReport(9, False, "why"), observations.SelfTestFinished(False, "why")),
        (messages.PowerLowReport(9), observations.PowerLow()),
        (messages.TamperedReport(9, "lid"), observations.Tampered("lid")),
        (messages.ButtonPressedReport(9, "green"), observations.ButtonPressed("green")),
        (messages.ReportsLostReport(9, 1, 2, 3), observations.ReportsLost(1, 2, 3)),
        (messages.CheckFailedReport(9, "memory"), observations.CheckFailed("memory")),
    ],
)
def test_a_report_becomes_the_same_observation_as_of_any_driver(
    report: messages.AnyReport, observation: AnyObservation
) -> None:
    assert observation_of(report) == observation


def test_there_is_an_observation_for_every_report() -> None:
    assert {type(report) for _, report in REPORTS} == set(get_args(messages.AnyReport))
    for _, report in REPORTS:
        assert type(report).__name__ == f"{type(observation_of(report)).__name__}Report"  # type: ignore[arg-type]  # all of them are


def test_a_translated_report_does_not_show_a_concealed_card() -> None:
    assert "KC" not in repr(observation_of(messages.SetDispensedReport(9, 7, 4, 46, 2, [13])))


@pytest.mark.parametrize("name", [field for field in Capabilities.__struct_fields__ if field != "dispenses"])
@pytest.mark.parametrize("dispenses", ["on_command", "on_removal"])
def test_capabilities_survive_a_round_trip(name: str, dispenses: str) -> None:
    always = ("acknowledges", "counts")  # cardlink cannot deny them: its devices have both
    bare = dict.fromkeys((field for field in Capabilities.__struct_fields__ if field not in always), False)
    given = Capabilities(**{**bare, "dispenses": dispenses, name: True})  # type: ignore[arg-type]  # by name
    words = capability_words(given)
    assert len(words) == (1 if name in always else 2)
    assert capabilities_of([*words, "sings"]) == given


@pytest.mark.parametrize("number", [53, 126, 128, 254, 255])
def test_a_reserved_card_number_is_taken_as_not_read(number: int) -> None:
    assert observation_of(messages.CardDrawnReport(9, 7, 4, 46, 2, number)) == observations.CardDrawn(
        7, 4, 46, 2, None, None, 0
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [([], "neither"), (["sings"], "neither"), (["dispenses_on_removal", "dispenses_on_command"], "both")],
)
def test_one_way_of_dispensing_is_named(words: list[str], told: str) -> None:
    with pytest.raises(messages.BadMessageError, match=told):
        capabilities_of(words)


def test_a_shoe_dispenses_on_removal() -> None:
    shuffler = replace(IDENTITY, capabilities=["dispenses_on_command"])
    assert identity_of(shuffler, 77).capabilities.dispenses == "on_command"
    with pytest.raises(messages.BadMessageError, match="dispenses_on_removal"):
        identity_of(replace(shuffler, kind="shoe"), 77)
    shoe = identity_of(replace(shuffler, kind="shoe", capabilities=["dispenses_on_removal"]), 77)
    assert (shoe.kind, shoe.boot, shoe.capabilities.dispenses) == ("shoe", 77, "on_removal")


def test_a_status_comes_with_the_boot_of_its_header() -> None:
    said = status_of(STATUS, 77)
    assert said.boot == 77
    assert said.faults == ()
    for field in set(STATUS.__struct_fields__) - {"faults", "heard"}:  # what was heard belongs to the link
        assert getattr(said, field) == getattr(STATUS, field)


def test_every_command_has_its_order() -> None:
    given: dict[commands.AnyCommand, messages.AnyOrder] = {
        commands.Dispense(4): messages.DispenseOrder(4),
        commands.HoldExit(): messages.HoldExitOrder(),
        commands.ReleaseExit(): messages.ReleaseExitOrder(),
        commands.Shuffle(): messages.ShuffleOrder(),
        commands.UnloadStub(): messages.UnloadStubOrder(),
        commands.Show("x"): messages.ShowOrder("x"),
        commands.RunSelfTest(): messages.RunSelfTestOrder(),
    }
    assert {type(command) for command in given} == set(get_args(commands.AnyCommand))
    for command, order in given.items():
        assert order_of(command) == order
