"""Inputs of every type for a state: valid and invalid ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from msgspec.structs import replace

from controller.games.specification import Choice, Facts, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import operations
from controller.table.inputs import (
    AnyInput,
    CommandAnswered,
    ConfigurationRead,
    DaemonStarted,
    DamageFound,
    DeviceConnected,
    DeviceContradicted,
    DeviceGone,
    DeviceReported,
    FilesExpired,
    PersonActed,
    PinTried,
    RefusedAtDoor,
    ReportsMissing,
    StatusReceived,
)
from controller.table.operations import AnyOperation
from controller.table.record import ConfigurationRecord, DeviceRecord, FileRecord
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge import observations
from firmware_bridge.capabilities import DeviceIdentity, DeviceStatus
from firmware_bridge.cards import DECK, Concealed, Evidence
from firmware_bridge.observations import AnyObservation
from simulators.devices.scripted_device import SETS_DEVICE, SINGLES_DEVICE

PILES = ("tray", "burnt", "aside", "dropped", "discards", "deck", "B1", "D", "nowhere", "")
PLACES = ("B1", "B3", "B9", "D", "nowhere")
HUGE = 2**40
FACTS = (
    Facts(),
    Facts(handled=True, places_certain=True, order_known=True),
    Facts(handled=False, places_certain=False, order_known=False),
    Facts(counted_wrong=False),
    Facts(dealer_hand=False, before_close=True),
    Facts(wrong_number=True, misplaced=True, curable=True, affects_play=False),
)


def every_operation(state: TableState) -> Iterator[AnyOperation]:
    """Yield every operation, with valid and invalid arguments."""
    yield from _course(state)
    yield from _noticed(state)
    yield from _decisions(state)
    for number, witness in product((0, 39, 40, 49, 52, 60, -1, HUGE), ("a witness", "")):
        yield operations.CountCards("stub", number, witness)
        yield operations.CountAgain("stub", number, witness)
    yield from _corrections(state)
    for pile, number in product(PILES, (0, 1, 3, 4, 52)):
        yield operations.CountCards(pile, number, "a witness")
    yield from _decks()
    yield from _recalls(state)
    yield operations.ContinueRound()
    yield operations.ReturnToService()
    for authority, text in product(("shift manager", " "), ("the fire alarm", "")):
        yield operations.AbandonRound(authority, text)
    yield from _duty_and_maintenance(state)


def _course(state: TableState) -> Iterator[AnyOperation]:
    """Yield the operations that open and pause the table, and those of a round's course."""
    yield operations.OpenTable()
    yield operations.CloseTable()
    yield operations.ShuffledOutside("batch shuffler")
    yield operations.PlaceYourBets()
    yield operations.CancelStart()
    yield from (operations.OccupyBoxes(boxes) for boxes in ((1, 3, 6), (), (7,), (0,), (2, 2), (-1, HUGE)))
    yield from _wagers(state)
    yield operations.ReopenBets()
    yield operations.NoMoreBets()
    yield from (operations.ShowFirstCard(card) for card in (None, DECK[0], DECK[-1]))
    yield operations.PlayersExamined()
    yield from (operations.HandleCards(place) for place in PLACES)
    for place, bettor in product(("B1", "B3", "D"), ("ann", "bob", "nobody")):
        yield operations.HandleCards(place, viewed=True, bettor=bettor)
    for place in PLACES:
        read = (
            tuple(held.face.expose() for held in hand.cards if held.face)
            if (hand := state.round.hands.get(place))
            else ()
        )
        yield from (
            operations.ExposeHand(place, cards)
            for cards in (None, read, DECK[:3], DECK[-3:], DECK[:2], DECK[:4], (DECK[0],) * 3, ())
        )
        yield from (operations.NameExposed(place, cards) for cards in (read[:1], DECK[:2], DECK[:4], ()))
    yield operations.RecordSettled()
    yield operations.ConcludeRound()
    yield from (operations.PauseTable(reason) for reason in ("drop", "", " "))
    yield operations.ResumeTable()


def _noticed(state: TableState) -> Iterator[AnyOperation]:
    """Yield reports of irregularities, cards at other places and cards dealt by hand."""
    for kind, where in product(Kind, (None, "B1", "D", "nowhere")):
        yield operations.ReportIrregularity(kind, where)
        yield operations.ReportIrregularity(kind, where, 3, 4)
    for kind in Kind:
        yield operations.ReportIrregularity(kind, "D", earlier=True)
    at = operations.CardAt
    lying = [(card.ordinal, place) for place, hand in state.round.hands.items() for card in hand.cards]
    yield operations.PlaceCards(tuple(at(ordinal, "D" if place != "D" else "B1") for ordinal, place in lying))
    yield from (
        operations.PlaceCards(cards)
        for cards in (
            (),
            (at(1, "B3"),),
            (at(1, "D"), at(1, "D")),
            (at(HUGE, "D"),),
            (at(1, "dropped"), at(4, "discards")),
            (at(1, "discards"),),
            (at(2, "dropped"),),
        )
    )
    yield from (operations.DealByHand(count, because) for count, because in product((0, 1, 3, HUGE), ("dead", "")))
    yield operations.ReportIrregularity(Kind.WRONG_COUNT, "B1", -1, HUGE, "x" * 1000)


def _duty_and_maintenance(state: TableState) -> Iterator[AnyOperation]:
    """Yield the operations of duty and maintenance."""
    yield operations.DealerOn()
    yield operations.DealerOff()
    ids = tuple(found.id for found in state.open)
    yield from (operations.TakeOver(named) for named in (ids, ids[1:], (*ids, HUGE), (*ids, *ids), ()))
    for name, token_hash in product(("Left", "", "x" * 60), ("5e" * 32, "5e", "")):
        yield operations.EnrolScreen(name, token_hash)
    yield from (operations.RemoveScreen(screen) for screen in ("5e" * 6, ""))
    yield operations.SignOn()
    yield operations.LockScreen()
    yield from (operations.BeginMaintenance(reason) for reason in ("cleaning", " "))
    yield operations.EndMaintenance()
    for instruction, count in product(operations.Instruction, (0, 3, HUGE, -1)):
        yield operations.InstructDevice(instruction, count)


def _decks() -> Iterator[AnyOperation]:
    """Yield the operations on decks, with valid and invalid names."""
    for name, back, count in (("A", "red", 52), ("B", "blue", 52), ("C", "red", 52), ("", "", 52), ("D", "green", 51)):
        yield operations.BringDeck(name, back, f"seal of {name}", count, "a witness")
    for name in ("A", "B", "", "nowhere"):
        yield operations.LoadDeck(name)
        yield operations.ShuffledOutside("batch shuffler", name)
        yield from (operations.TakeDeckOut(name, why, count, "a witness") for why, count in (("worn", 52), ("", -1)))
        yield from (operations.QuarantineDeck(name, why) for why in ("marked", ""))
        yield from (operations.ReleaseDeck(name, "examined", count, "a witness") for count in (52, 51))
        yield operations.ReleaseDeck(name, "", 52, "")
    yield operations.CutDeck()


def _recalls(state: TableState) -> Iterator[AnyOperation]:
    """Yield recalls for the round in progress, for the round before and for an unknown round."""
    number = state.round.number
    for of_round, place in product((number, number - 1, 0, HUGE), ("", "B1", "tray", "nowhere")):
        yield operations.RecallCards(of_round, "the camera", place)
    yield operations.RecallCards(number, " ", "B1")


def _wagers(state: TableState) -> Iterator[AnyOperation]:
    """Yield bettors and bets, valid and invalid."""
    yield from (operations.EnterBettor(who, seat) for who, seat in (("ann", 1), ("bob", None), ("", 1), ("cy", HUGE)))
    yield from (operations.BettorLeaves(who) for who in ("ann", "nobody"))
    for who, wager, box, amount in product(("ann", "nobody"), ("main", "tie", "?"), (0, 1, 3, HUGE), (10, 0, -1)):
        yield operations.PlaceWager(who, wager, box, amount)
    yield operations.PlaceWager("ann", "tie", 2, 10, overlooked=True)
    yield from (operations.PlaceWager("ann", "main", 1, 10, placed_by=name) for name in ("Lim", "ann", "bob", " "))
    yield from (operations.PlaceWager("bob", wager, 1, 5) for wager in ("win", "royal", "picture_perfect"))
    yield from (operations.ChangeWager(bet, amount) for bet, amount in product((1, HUGE), (5, 20, 0)))
    yield from (operations.TakeBackWager(bet) for bet in (1, 2, HUGE))
    yield operations.RejectExcess()
    yield operations.RestrictBetting()
    yield operations.RestrictBetting((2,), ((1, 1),), ("ann",))
    yield operations.RestrictBetting((HUGE,), ((1, -1),))


def _decisions(state: TableState) -> Iterator[AnyOperation]:
    """Yield decisions on open irregularities, with outdated revisions, and on unknown irregularities."""
    named = [(found.id, found.revision, found.ordinals) for found in state.open]
    outdated = [(found.id, found.revision - 1, found.ordinals) for found in state.open]
    for irregularity, revision, ordinals in [*named, *outdated, (0, 0, ()), (HUGE, -1, (1, 2))]:
        yield from (operations.ConfirmIrregularity(irregularity, revision, facts) for facts in FACTS)
        yield operations.DenyIrregularity(irregularity, revision, "it is not so")
        yield operations.DenyIrregularity(irregularity, revision, "")
        for order in (ordinals, tuple(reversed(ordinals)), (), (1, 1), (HUGE,)):
            yield operations.NameOrder(irregularity, revision, order)
        for place, choice in product(("B1", "B3", "D", "nowhere"), Choice):
            yield operations.ChooseOption(irregularity, revision, place, choice)
        yield operations.Reconstruct(irregularity, revision)
        yield operations.ChooseOption(irregularity, revision, "B1", Choice.CONTINUE, absent=True)
        yield from (
            operations.ChooseOption(irregularity, revision, place, Choice.WITHDRAW, bettor=bettor)
            for place, bettor in product(("B1", "B2"), ("ann", "bob"))
        )
        yield operations.Rule(irregularity, revision, RulingAction.RETURN_BETS, "manager", "so", bets=(1,))
        yield operations.Rule(irregularity, revision, RulingAction.CONTINUE, "manager", "so", bets=(1, 2))
        for action in RulingAction:
            yield operations.Rule(irregularity, revision, action, "shift manager", "so decided")
            yield operations.Rule(irregularity, revision, action, "manager", "so", ("B1", "B3"), ordinals)
            yield operations.Rule(irregularity, revision, action, "", "")


def _corrections(state: TableState) -> Iterator[AnyOperation]:
    """Yield corrections of every entry that may be corrected, and of some that may not."""
    handled, boxes = operations.HandleCards("B3", viewed=True), operations.OccupyBoxes((1, 5))
    instead = (None, handled, boxes, operations.CountCards("stub", 40, "a witness"), operations.ShowFirstCard(DECK[7]))
    for entered in state.round.entered:
        yield from (operations.CorrectEntry(entered.entry, "keyed wrongly", said) for said in instead)
        if isinstance(entered.operation, operations.ExposeHand):
            at = entered.operation.place
            yield operations.CorrectEntry(entered.entry, "misread", operations.ExposeHand(at, DECK[20:23]))
        if isinstance(entered.operation, operations.ReportIrregularity):
            other_box = replace(entered.operation, place="B1")
            yield operations.CorrectEntry(entered.entry, "another box", other_box)
    yield from (operations.CorrectEntry(entry, "") for entry in (0, state.entry, HUGE))
    for bet, amount, box in product((0, 1, HUGE), (0, 7), (1, 2)):
        yield operations.CorrectBet(bet, amount, "it lay otherwise", "ann", "main", box)
        yield operations.CorrectBet(bet, amount, "Lim placed it", "ann", "main", box, "Lim")


def every_person(state: TableState) -> Iterator[PersonActed]:
    """Yield every operation by the lowest and the highest rank, some for another round, and repeats."""
    for number, operation in enumerate(every_operation(state)):
        for role in (Role.DEALER, Role.SHIFT_MANAGER):
            yield PersonActed(f"every-{number}-{role}", str(role), role, state.round.number, operation)
    for round_number in (-5, state.round.number - 2, state.round.number - 1, state.round.number + 1, HUGE):
        pause = operations.PauseTable("at another time")
        yield PersonActed(f"round-{round_number}", "dealer", Role.DEALER, round_number, pause)
    if state.answers:
        yield PersonActed(
            state.answers[-1].operation_id, "dealer", Role.DEALER, state.round.number, operations.OpenTable()
        )
    yield PersonActed("", "", Role.DEALER, state.round.number, operations.OpenTable())


def every_observation(state: TableState) -> Iterator[AnyObservation]:
    """Yield every observation, with plausible and impossible values."""
    shuffle, dispensed = state.decks.in_play.shuffle, state.decks.in_play.dispensed
    left = state.decks.in_play.loaded - dispensed
    cards = tuple(Concealed(DECK[(dispensed + n) % 52], shuffle, dispensed + 1 + n) for n in range(6))
    o = observations
    yield from (
        o.Started("power"),
        o.Started("watchdog"),
        o.PowerLow(),
        o.ButtonPressed("red"),
        o.SelfTestFinished(False, "lamp"),
        o.SelfTestFinished(True),
        o.CheckFailed("memory"),
        o.CheckFailed("program"),
        o.CheckFailed("fan"),
    )
    yield from (o.ShuffleStarted(2), o.ShuffleAborted(2, 20), o.StubUnloaded(2, 52), o.FaceUpFound(7, 3, 2))
    yield from (o.CardDrawn(shuffle + 7, 1, 51, 2, cards[0]), o.SetDispensed(shuffle + 7, 1, 49, 2, cards[:3]))
    yield from (o.DeckLoaded(1, 52), o.DeckLoaded(2, None), o.DeckLoaded(0, 51, 9), o.DeckLoaded(1, -1, HUGE))
    yield from (o.ShuffleStarted(1), o.ShuffleStarted(0))
    yield from (
        o.ShuffleFinished(1, shuffle + 1, 52),
        o.ShuffleFinished(1, 0, 51),
        o.ShuffleFinished(2, -1, 0, 1, 1, 1, 1, 1, 1),
        o.ShuffleFinished(2, shuffle + 7, 52),
    )
    yield from (o.ShuffleAborted(1, 20), o.ShuffleAborted(0, 0, 1, 1, 1, 1, 1, 1))
    for size in range(7):
        yield o.SetDispensed(shuffle, dispensed + 1, left - size, 1, cards[:size])
    yield o.SetDispensed(shuffle, dispensed + 1, left - 3, 1, (None, None, None), foreign=1)
    yield from (o.SetDispensed(shuffle + 1, 1, 49, 1, cards[:3]), o.SetDispensed(shuffle, 50, -7, 1, cards[:3]))
    yield from (o.SetRemoved(shuffle, dispensed), o.SetRemoved(-1, HUGE))
    for face_up, foreign in product((None, False, True), (0, 1)):
        yield o.CardDrawn(shuffle, dispensed + 1, left - 1, 1, cards[0], face_up, foreign)
    yield from (
        o.CardDrawn(shuffle, dispensed + 3, left - 3, 1, None),
        o.CardDrawn(shuffle + 1, 0, HUGE, 0, None, True),
    )
    for size, known in product((0, 1, 2, 3, 6), (False, True)):
        yield o.CardsDrawnTogether(shuffle, dispensed + 1, left - size, 1, known, cards[:size])
    yield from (
        o.FaceUpFound(shuffle, dispensed + 1, 1, cards[0]),
        o.FaceUpFound(shuffle, 52, 1),
        o.FaceUpFound(0, -1, 0),
    )
    yield from (o.StubUnloaded(1, state.stub_due), o.StubUnloaded(1, 39), o.StubUnloaded(0, -1))
    yield from (o.Jammed("exit"), o.Jammed(""), o.JamCleared("exit"), o.DoorMoved(True), o.DoorMoved(False))
    yield from (o.Tampered("case"), o.ReportsLost(1, 3, 9), o.ReportsLost(0, 9, 3), o.NotUnderstood("short"))
    yield from (o.GapSuspected("5 came after 3"), o.Alarmed("E3"), o.Noted("stand-by"))


def every_report(state: TableState) -> Iterator[AnyInput]:
    """Yield each observation as the next report, one also repeated and after a restart, gaps, contradictions."""
    device = state.device
    later = (device.uptime_ms or 0) + 5
    for observation in every_observation(state):
        yield DeviceReported(device.boot, device.last_report + 1, later, observation, Evidence(b"x"))
    drawn = observations.CardDrawn(state.decks.in_play.shuffle, state.decks.in_play.dispensed + 1, 0, 1, None)
    yield DeviceReported(device.boot, device.last_report, later, drawn, Evidence(b""))
    yield DeviceReported(device.boot, device.last_report + 1, (device.uptime_ms or 0) - 1, drawn, Evidence(b""))
    yield DeviceReported(device.boot + 1, 1, None, drawn, Evidence(b""))
    yield ReportsMissing(device.boot, device.last_report + 1, device.last_report + 4)
    yield ReportsMissing(device.boot + 1, 1, None)
    yield ReportsMissing(device.boot, device.last_report + 1, None, withheld=True)
    yield DeviceContradicted("report", device.boot, device.last_report, Evidence(b"x"))
    yield DeviceContradicted("answer", device.boot, HUGE, Evidence(b"x"))
    yield DeviceContradicted("unknown_answer", device.boot, 0, Evidence(b"x"))


def every_link(state: TableState) -> Iterator[AnyInput]:
    """Yield devices that connect, disconnect, answer and send a status, and the daemon's start."""
    status = status_of(state)
    statuses = (
        status,
        replace(status, moving=True),
        replace(status, dispensed=status.dispensed + 1, tray_occupied=not status.tray_occupied),
        replace(status, shuffle=status.shuffle + 1, exit_held=not status.exit_held),
        replace(status, last_report=status.last_report + 1),
        replace(status, boot=status.boot + 1, last_report=0),
    )
    yield from (StatusReceived(one) for one in statuses)
    opened = tuple(one.id for one in state.device.open_commands)
    yield StatusReceived(status, (*opened, HUGE))
    for unit, simulated in product(Unit, (True, False)):
        yield from (DeviceConnected(identity_of(state, unit, simulated), one) for one in statuses)
    yield from (DeviceGone("link-lost", "The cable was pulled."), DeviceGone("other", "Another device.", refused=True))
    for command_id in {0, HUGE, *(opened.id for opened in state.device.open_commands)}:
        yield from (CommandAnswered(command_id, True), CommandAnswered(command_id, False, "jam"))
    settings = state.settings or Settings("NC", Unit.SETS, 7)
    for changed in (settings, replace(settings, box_count=9, unit=Unit.SINGLES), replace(settings, unit=Unit.SETS)):
        yield DaemonStarted("T1", state.simulated, changed, "start-9", state.host_boot)
    yield DaemonStarted("T1", state.simulated, settings, "start-9", f"not {state.host_boot}")
    record = ConfigurationRecord("9", DeviceRecord("serial:///dev/ttyS9"))
    for chosen in (None, settings, replace(settings, box_count=9, unit=Unit.SINGLES)):
        yield ConfigurationRead(record, chosen)


def every_caller(state: TableState) -> Iterator[AnyInput]:
    """Yield PIN attempts, refused requests, expired files, and damage."""
    for uid, right, utc_ns in product((0, HUGE), (True, False), (0, HUGE)):
        yield PinTried("dealer", uid, right, utc_ns)
    for screen, right in product(("5e" * 6, ""), (True, False)):
        yield PinTried("dealer", None, right, HUGE, screen)
    yield from (RefusedAtDoor("not-admitted", uid, 3) for uid in (None, 0, HUGE))
    yield RefusedAtDoor("pin-locked", None, 3, "5e" * 6)
    yield DamageFound("journal-damaged", "The journal is damaged.")
    yield from (FilesExpired(files) for files in ((), (FileRecord("000001.journal", "5e" * 16, HUGE, "00" * 32),)))


def every_input(state: TableState) -> Iterator[AnyInput]:
    yield from every_caller(state)
    yield from every_person(state)
    yield from every_report(state)
    yield from every_link(state)


def status_of(state: TableState) -> DeviceStatus:
    """Return the status of a device that agrees with the journal."""
    deck, device = state.decks.in_play, state.device
    return DeviceStatus(
        boot=device.running_boot,
        last_report=device.last_report if device.boot == device.running_boot else 0,
        uptime_ms=1,
        shuffle=deck.shuffle,
        loaded=deck.loaded,
        dispensed=deck.dispensed,
        remaining=deck.loaded - deck.dispensed,
        sets_dispensed=0,
        tray_occupied=bool(state.decks.tray),
        exit_held=bool(device.exit_held),
        moving=False,
        last_command=device.moving.id if device.moving else 0,
    )


def identity_of(state: TableState, unit: Unit, simulated: bool) -> DeviceIdentity:
    return DeviceIdentity(
        kind="shuffler" if unit is Unit.SETS else "shoe",
        unit="sets" if unit is Unit.SETS else "singles",
        maker="test",
        model="any",
        serial="T-2",
        firmware="1",
        firmware_digest="0" * 64,
        capabilities=SETS_DEVICE if unit is Unit.SETS else SINGLES_DEVICE,
        simulated=simulated,
        deck_size=52,
        boot=state.device.running_boot,
    )
