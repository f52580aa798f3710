"""Power failures during a round, of the PC, the device or both: RTP 5.13, NC 5.4; TP has no clause.

One irregularity is raised for device and PC; a person confirms or denies it, and a person continues the round.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from controller.games.specification import Choice, Facts, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.model import Stage
from controller.table.phases import Phase, Service
from controller.table.settings import ChosenReading, Settings
from firmware_bridge.commands import Shuffle
from firmware_bridge.observations import DeckLoaded
from tests.table.deck_hands import ORDER, OTHER
from tests.table.harness import TableHarness, cards

ESTABLISHED = ChosenReading("established_by", "mathematically")
HANDS = {"RTP": {"B1": "KD 5C 9S"}, "NC": {"B1": "TC 5C 9S"}, "TP": {}}
SIDE = {"RTP": "royal", "NC": "three_pictures"}  # conclusively won or lost as soon as these cards are shown


def the_pc(table: TableHarness) -> None:
    table.start_daemon_again("pc-2")
    table.connect()


def the_device(table: TableHarness) -> None:
    table.lose_link()
    table.device.reboot()
    table.connect()


def both(table: TableHarness) -> None:
    table.start_daemon_again("pc-2")
    table.device.reboot()
    table.connect()


CUTS = pytest.mark.parametrize("fail", [the_pc, the_device, both])
Cut = Callable[[TableHarness], None]


def begun(game_id: str, unit: Unit = Unit.SINGLES) -> TableHarness:
    """Return a table at the beginning of the deal. Ann and Bob have each bet on one box."""
    settings = Settings(game_id, unit, 3, True, () if game_id == "TP" else (ESTABLISHED,))
    table = TableHarness(unit, (1, 2), HANDS[game_id], settings=settings, game_id=game_id).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    for bettor, box in (("ann", 1), ("bob", 2)):
        table.do(operations.EnterBettor(bettor, box))
        table.do(operations.PlaceWager(bettor, "main", box, 10))
    if game_id in SIDE:
        table.do(operations.PlaceWager("ann", SIDE[game_id], 1, 5))
    table.do(operations.NoMoreBets())
    return table


def shown(game_id: str) -> TableHarness:
    """Return a table with every card dealt and the hand of box 1 open: a wager on it has won or lost."""
    table = begun(game_id).deal()
    for place in ("D", "B1") if game_id == "NC" else ("B1",):
        table.expose(place)
    return table


def power_claims(table: TableHarness) -> list[str]:
    return [event.noticed_by for event in table.events_of(events.IrregularityRaised) if event.kind == "power_failure"]


# -- the clauses -------------------------------------------------------------------------------------------------------


@CUTS
def test_rtp_5_13_1_bettors_may_withdraw_and_the_other_hands_are_played(fail: Cut) -> None:
    table = begun("RTP")
    table.take(4)
    fail(table)
    assert (table.open.row.id, table.open.row.clause, table.open.stage) == ("I17", "RTP 5.13.1", Stage.CLAIMED)
    assert table.at(Service.RECONCILING)
    assert table.exit_is_held()
    table.confirm()
    found = table.open
    table.do(operations.ChooseOption(found.id, found.revision, "B1", Choice.WITHDRAW, bettor="ann"))
    table.do(operations.ChooseOption(found.id, found.revision, "B2", Choice.CONTINUE, bettor="bob"))
    assert table.at(Service.RECONCILING), "a round is continued by a person"
    table.do(operations.ContinueRound())
    table.finish()
    assert [one.verdict for one in table.state.round.settlement if one.bettor == "ann"] == ["returned", "returned"]
    assert len(power_claims(table)) == 1


@CUTS
def test_rtp_5_13_2_with_an_outcome_established_the_round_continues(fail: Cut) -> None:
    table = shown("RTP")
    fail(table)
    assert (table.open.row.id, table.open.row.clause) == ("I18", "RTP 5.13.2")
    table.confirm()
    table.do(operations.ContinueRound())
    for place in ("B2", "D"):
        table.expose(place)
    table.settle().conclude()
    assert not table.events_of(events.RoundVoided)


@CUTS
def test_nc_5_4_2_with_nothing_established_the_round_is_void(fail: Cut) -> None:
    table = begun("NC")
    table.take(4)
    fail(table)
    assert (table.open.row.id, table.open.row.clause) == ("I17", "NC 5.4.2")
    table.confirm(affects_play=True)
    assert table.last(events.RoundVoided).clause == "NC 5.4.2"
    table.heartbeat()
    assert table.at(Service.IN_SERVICE)
    table.fresh_deck()
    table.do(operations.RecordSettled())
    table.do(operations.PlaceYourBets())


@CUTS
def test_nc_5_4_1_with_an_outcome_established_the_round_continues(fail: Cut) -> None:
    table = shown("NC")
    fail(table)
    assert (table.open.row.id, table.open.row.clause) == ("I18", "NC 5.4.1")
    table.confirm(affects_play=True)
    table.do(operations.ContinueRound())
    table.expose("B2")
    table.settle().conclude()
    assert not table.events_of(events.RoundVoided)


@CUTS
def test_where_the_document_is_silent_a_shift_manager_rules(fail: Cut) -> None:
    table = begun("TP")
    table.take(4)
    fail(table)
    assert (table.open.row.id, table.open.row.clause, table.open.stage) == ("I17", "", Stage.RULING)
    ruling = operations.Rule(table.open.id, table.open.revision, RulingAction.CONTINUE, "pit manager", "goes on")
    assert table.refused(ruling, Role.PIT_MANAGER)[0] == "role"
    table.rule(RulingAction.CONTINUE)
    table.do(operations.ContinueRound())
    table.finish()


# -- the claim ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fail", "noticed_by", "word"),
    [(the_pc, "inference", "the PC was restarted"), (the_device, "device", "power"), (both, "inference", "the PC")],
)
def test_a_power_failure_is_raised_once_with_its_evidence(fail: Cut, noticed_by: str, word: str) -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    fail(table)
    assert power_claims(table) == [noticed_by]
    claim = table.last(events.IrregularityRaised)
    assert word in str(claim.note)
    assert (claim.report is not None) is (noticed_by == "device")


@pytest.mark.parametrize("denied", [True, False])
def test_a_device_report_after_a_denial_is_claimed_again(denied: bool) -> None:
    """A denial that the PC lost power does not cover the device. A confirmed claim is not raised again."""
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.start_daemon_again("pc-2")
    if denied:
        table.deny(Role.SHIFT_MANAGER)
    else:
        table.confirm(affects_play=False, by=Role.SHIFT_MANAGER)
        table.rule(RulingAction.CONTINUE) if table.state.open else None
    table.device.reboot()
    table.connect()
    assert power_claims(table) == (["inference", "device"] if denied else ["inference"])
    if denied:
        table.deny(Role.SHIFT_MANAGER)
        table.report(Kind.POWER_FAILURE)
        assert table.open.kind is Kind.POWER_FAILURE, "people may report it all the same"
        table.deny(Role.SHIFT_MANAGER)
    table.do(operations.ContinueRound())
    known = len(power_claims(table))
    the_device(table)
    assert len(power_claims(table)) == known + 1, "another interruption is another claim"


@pytest.mark.parametrize("cause", ["watchdog", "reset", "anything"])
def test_a_device_restarted_without_losing_power_is_only_reconciled(cause: str) -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.lose_link()
    table.device.reboot(cause)
    table.connect()
    assert not table.state.open
    table.do(operations.ContinueRound())
    table.finish()


def test_a_brown_out_is_a_power_failure() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.lose_link()
    table.device.reboot("brown_out")
    table.connect()
    assert power_claims(table) == ["device"]


@pytest.mark.parametrize("host_boot", ["pc-1", ""])
def test_a_daemon_restart_on_a_running_pc_is_not_a_power_failure(host_boot: str) -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.start_daemon_again(host_boot)
    table.connect()
    assert not table.state.open
    table.do(operations.ContinueRound())
    table.finish()


def test_between_rounds_a_power_failure_is_not_raised() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().finish()
    both(table)
    assert not table.state.open
    assert table.at(Service.IN_SERVICE)
    assert table.state.host_boot == "pc-2"
    table.to_dealing().finish()


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("in_round", [True, False])
def test_the_rest_of_a_deck_that_the_device_has_forgotten_is_not_dealt_from(unit: Unit, in_round: bool) -> None:
    """It is neither shuffled nor taken for the deck that people have shuffled and are about to put in."""
    table = TableHarness(unit).start().to_dealing().deal()
    if not in_round:
        table.finish()
    device = table.device
    table.lose_link()
    device.reboot("reset")
    device.deck, device.loaded, device.dispensed, device.shuffle = OTHER, len(device.inside), 0, 0
    named = ORDER if unit is Unit.SINGLES else None
    device.report(DeckLoaded(OTHER, None, named))
    device.shuffle = named or 0
    received = len(device.received)
    table.connect()
    if in_round:
        table.do(operations.ContinueRound())
        table.do(operations.CountCards("stub", 52 - table.state.round.dealt, "a witness"))
        table.finish()
    assert not [order for _, order in device.received[received:] if isinstance(order, Shuffle)]
    if unit is Unit.SINGLES:
        assert table.refused(operations.ShuffledOutside("batch shuffler"))[0] == "no-deck"
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"
    table.to_dealing().finish()
    assert not table.events_of(events.IrregularityRaised)


# -- reports after the failure -----------------------------------------------------------------------------------------


def test_a_card_drawn_while_the_pc_was_off_reaches_its_place_during_the_claim() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.start_daemon_again("pc-2")
    table.take()
    table.connect()
    assert [found.kind for found in table.state.open] == [Kind.POWER_FAILURE]
    assert [held.ordinal for held in table.state.round.hands["B6"].cards] == [3]
    table.confirm(affects_play=True)
    table.rule(RulingAction.CONTINUE)
    table.do(operations.ContinueRound())
    table.finish()


def test_a_card_drawn_after_everything_was_compared_is_taken_out_of_turn() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.start_daemon_again("pc-2")
    table.connect()
    table.take()
    assert [found.row.id for found in table.state.open] == ["I17", "I16"]
    assert not table.state.round.dealt


def test_nc_5_4_1_a_kept_report_may_establish_an_outcome() -> None:
    """A card came out face up, and its report was not received before the PC lost power."""
    table = begun("NC")
    table.start_daemon_again("pc-2")
    assert table.open.row.clause == "NC 5.4.2"
    table.device.draw(face_up=True)
    table.connect()
    power = next(found for found in table.state.open if found.kind is Kind.POWER_FAILURE)
    assert power.row.clause == "NC 5.4.1", "a card of no picture lies open at box 1: Three Pictures has lost"


def forgetful(*, acknowledges: bool, retains: bool, unit: Unit = Unit.SINGLES) -> TableHarness:
    table = TableHarness(unit)
    device = table.device
    device.capabilities = replace(device.capabilities, acknowledges=acknowledges, retains_reports=retains)
    table.start().to_dealing()
    table.take(2)
    return table


def test_nc_5_5_2_a_device_without_acknowledgements_needs_a_count_after_every_loss() -> None:
    table = forgetful(acknowledges=False, retains=True)
    table.lose_link()
    table.connect()
    assert (table.open.row.id, "cards may have passed unseen" in str(table.last(events.IrregularityRaised).note)) == (
        "I04",
        True,
    )
    table.count(len(table.device.inside))
    table.confirm()
    table.heartbeat()
    assert not table.state.open, "it was counted"
    table.do(operations.ContinueRound())
    table.finish()


def test_and_after_a_start_of_the_daemon() -> None:
    table = forgetful(acknowledges=False, retains=True)
    table.start_daemon_again()
    table.connect()
    assert [found.row.id for found in table.state.open] == ["I04"]


def test_a_forgetful_device_needs_a_count_only_after_a_power_failure() -> None:
    table = forgetful(acknowledges=True, retains=False)
    table.lose_link()
    table.connect()
    assert not table.state.open
    table.do(operations.ContinueRound())
    table.lose_link()
    table.device.reboot()
    table.lose_link()
    table.connect()
    assert sorted(found.row.id for found in table.state.open) == ["I04", "I17"]


def test_a_deck_that_was_counted_whole_is_no_longer_in_doubt() -> None:
    table = TableHarness()
    table.device.capabilities = replace(table.device.capabilities, acknowledges=False)
    table.start().to_dealing().deal()
    assert table.state.decks.in_play.stub == 40
    table.lose_link()
    table.connect()
    assert not table.state.open


def test_a_power_failure_between_rounds_raises_no_doubt() -> None:
    table = TableHarness()
    table.device.capabilities = replace(table.device.capabilities, acknowledges=False)
    table.start().to_dealing().finish()
    table.lose_link()
    table.connect()
    table.to_dealing().finish()
    assert not table.events_of(events.IrregularityRaised)


@CUTS
def test_rtp_5_13_2_the_rest_may_be_dealt_by_hand(fail: Cut) -> None:
    table = begun("RTP")
    table.take(3)
    fail(table)
    table.lose_link()
    table.device.linked = False
    assert table.refused(operations.DealByHand(6, "the device is dead"), Role.PIT_SUPERVISOR)[0] == "held"
    table.confirm()
    found = table.open
    for place, bettor in table.state.round.choosers:
        table.do(operations.ChooseOption(found.id, found.revision, place, Choice.CONTINUE, bettor=bettor))
    table.do(operations.DealByHand(6, "the device is dead"), Role.PIT_SUPERVISOR)
    assert table.at(Phase.EXAMINING)


# -- known cards -------------------------------------------------------------------------------------------------------


def test_rtp_5_13_1_a_corrected_later_hand_does_not_reopen_the_power_failure() -> None:
    table = begun("RTP")
    table.deal()
    the_device(table)
    table.confirm()
    found = table.open
    for place, bettor in table.state.round.choosers:
        table.do(operations.ChooseOption(found.id, found.revision, place, Choice.CONTINUE, bettor=bettor))
    table.do(operations.ContinueRound())
    table.expose("B1")
    entry = table.state.round.entered[-1].entry
    table.do(operations.CorrectEntry(entry, "it was not opened"), Role.PIT_SUPERVISOR)
    table.expose("B1")
    assert not table.state.open


def test_a_fact_that_the_table_knows_cannot_be_contradicted() -> None:
    table = begun("RTP")
    table.deal()
    table.expose("B1")
    table.report(Kind.POWER_FAILURE)
    otherwise = operations.ConfirmIrregularity(table.open.id, table.open.revision, Facts(established=False))
    code, sentence = table.refused(otherwise, Role.PIT_SUPERVISOR)
    assert (code, "Name the cards that people saw" in sentence) == ("fact", True)


@pytest.mark.parametrize("basis", ["exposed", "recognised"])
def test_rtp_5_13_a_denied_face_up_card_does_not_count_as_exposed(basis: str) -> None:
    settings = Settings("RTP", Unit.SINGLES, 3, True, (ESTABLISHED, ChosenReading("known_cards", basis)))
    table = TableHarness(Unit.SINGLES, (1, 2), HANDS["RTP"], settings=settings, game_id="RTP").start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    table.do(operations.EnterBettor("ann", 1))
    table.do(operations.PlaceWager("ann", "royal", 1, 5, overlooked=True))
    table.do(operations.PlaceWager("ann", "main", 1, 5))
    table.do(operations.PlaceWager("ann", "main", 2, 5))
    table.do(operations.NoMoreBets())
    table.device.draw(face_up=True)
    table.deny()
    table.report(Kind.POWER_FAILURE)
    assert table.open.facts.established is (basis == "recognised")


@pytest.mark.parametrize(
    ("named", "code"),
    [("2C 2C", "cards"), ("2C 3C 4C 5C", "cards"), ("KD", "elsewhere")],
    ids=["twice", "too many", "elsewhere"],
)
def test_an_impossible_card_is_not_named_as_exposed(named: str, code: str) -> None:
    table = begun("RTP")
    table.deal()
    table.expose("B1")
    refused, sentence = table.refused(operations.NameExposed("B2", cards(named)))
    assert (refused, bool(sentence)) == (code, True)
    table.do(operations.NameExposed("B2", cards("2C")))
    assert table.state.round.hands["B2"].named == cards("2C")
    table.do(operations.NameExposed("B2", ()))
    assert table.state.round.hands["B2"].named == ()
