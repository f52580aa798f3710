"""The next step: every state has one, and the table permits it."""

from __future__ import annotations

import pytest

from controller.api.view import LinkView, view_of
from controller.games.specification import Kind, RulingAction, Unit
from controller.roles import Role
from controller.rules.dealing_order import DEALER, box
from controller.table import events, operations
from controller.table.counts import ledger_of
from controller.table.evolve import fold
from controller.table.inputs import DeviceGone, PersonActed
from controller.table.next_step import BY_PHASE
from controller.table.offers import primary_act
from controller.table.operations import AnyOperation
from controller.table.perform import can
from controller.table.phases import AFTER_DEAL, Phase, Service
from firmware_bridge.observations import Jammed
from tests.table.every_state import every_state, to_phase
from tests.table.harness import TableHarness
from tests.table.said import headline, next_step, next_steps

UNTIL_NEXT = (
    'Errors found before "Place your bets" may still change the result '
    "(NC 5.5.1, NC 5.5.2, NC 5.5.3, NC 5.5.5, NC 5.9)."
)


def test_every_phase_has_one() -> None:
    assert set(BY_PHASE) == set(Phase)


def test_there_is_one_sentence_in_every_state() -> None:
    for name, state in every_state():
        if state.settings is not None:
            said = next_step(state)
            assert said.endswith((".", "?")), f"{name}: {said}"


@pytest.mark.parametrize(
    ("phase", "said"),
    [
        (Phase.CLOSED, "Open the table."),
        (Phase.IDLE, 'Announce "Place your bets".'),
        (Phase.DEALING_SETS, "Deal 3 cards to box 6."),
        (Phase.EXAMINING, "When the players have looked at their hands, turn over the Dealer's hand."),
        (Phase.CONCLUDED, f"Round over. Collect the cards. Put the collected cards into the shuffler. {UNTIL_NEXT}"),
        (Phase.MAINTENANCE, "Under maintenance: instruct the device, or end the maintenance."),
    ],
)
def test_the_next_step_is_that_of_the_phase(phase: Phase, said: str) -> None:
    assert next_step(to_phase(Unit.SETS, phase).state) == said


def test_settling_goes_step_by_step() -> None:
    table = TableHarness().start().to_dealing().deal().expose_all()
    assert next_step(table.state) == f'Pay the bets, then press "Paid". {HALF}'
    table.do(operations.RecordSettled())
    assert next_step(table.state) == "End the round."
    table.do(operations.ConcludeRound())
    assert next_step(table.state).startswith("Confirm to end the round")


WON, LOST, TIED = "KD QC JS", "2D 3C TS", "KS 7D TC"  # against a picture and seven points
HALF = "1:2 is paid: Player wins on 6 points."


@pytest.mark.parametrize(
    ("hands", "said"),
    [
        ((WON, LOST), 'Pay and take the bets, then press "Paid".'),
        ((WON,), 'Pay the bets, then press "Paid".'),
        ((WON, TIED), 'Pay and return bets, then press "Paid".'),
        ((LOST,), 'Take the bets, then press "Settled".'),
        ((TIED,), 'Return the bets, then press "Settled".'),
        ((LOST, TIED), 'Take or return bets, then press "Settled".'),
    ],
)
def test_settling_names_only_the_acts_that_are_due(hands: tuple[str, ...], said: str) -> None:
    boxes = tuple(range(1, len(hands) + 1))
    dealt = dict(zip(map(box, boxes), hands, strict=True)) | {DEALER: "KH 7S TD"}
    table = TableHarness(boxes=boxes, hands=dealt).start().to_dealing().deal().expose_all()
    assert next_step(table.state) == said


def test_open_irregularities_come_before_the_deal() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    table.report(Kind.EXPOSED_CARD, "B1")
    turned = "If play goes on, the exposed card of box 1 is turned face down."
    assert next_step(table.state) == f"Call the pit supervisor. Was a card of box 1 exposed? {turned}"
    table.confirm()
    options = "continue (NC 5.7.1: the hand goes on as it is) or withdraw the bets (NC 5.7.3)?"
    assert next_step(table.state) == f"Ask boxes 1, 3 and 6: {options} {turned}"


def test_a_void_that_was_asked_for_is_asked_for_again() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.FOREIGN_CARD)
    found = table.open
    table.do(operations.ConfirmIrregularity(found.id, found.revision), Role.PIT_SUPERVISOR)
    assert next_step(table.state) == (
        "A card that does not belong to this deck was found: the round becomes void. Repeat to confirm, or decide "
        "otherwise."
    )


def test_a_foreign_cards_deck_is_not_to_be_loaded_again() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.FOREIGN_CARD)
    table.confirm()
    table.do(operations.RecordSettled())
    assert next_step(table.state).startswith(
        "The deck is out of use (a card that does not belong to this deck was found)"
    )


def test_after_a_lifted_void_the_stub_is_dealt_by_hand() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    table.report(Kind.FOREIGN_CARD)
    table.confirm()
    entry = table.state.round.entered[-1].entry
    table.do(operations.CorrectEntry(entry, "it is ours"), Role.PIT_SUPERVISOR)
    table.deny()
    assert " by hand from the stub" in next_step(table.state)
    table.do(operations.DealByHand(3, "the stub is out"), Role.PIT_SUPERVISOR)


def test_without_its_device_a_round_is_dealt_by_hand_or_waits() -> None:
    table = TableHarness().start().to_dealing()
    table.lose_link()
    lost = "The shuffler is not connected: check its power and its cable."
    assert next_steps(table.state) == (lost, "Or call the pit supervisor to deal by hand.")
    table.connect()
    assert next_step(table.state).endswith("Compare the table with the screen, then continue the round.")


def test_a_deck_that_still_has_to_be_counted_has_no_account() -> None:
    """The hands of the previous round do not count."""
    table = TableHarness().start().to_dealing()
    table.take()
    table.do(operations.AbandonRound("the shift manager", "fire"), Role.SHIFT_MANAGER)
    table.do(operations.AbandonRound("the shift manager", "fire"), Role.SHIFT_MANAGER)
    table.do(operations.BeginMaintenance("a new belt"), Role.PIT_SUPERVISOR)
    assert ledger_of(table.state) is None
    table.do(operations.EndMaintenance(), Role.PIT_SUPERVISOR)
    assert ledger_of(table.state) is None
    table.fresh_deck()
    ledger = ledger_of(table.state)
    assert ledger is not None
    assert ledger.whole


def test_an_open_irregularity_does_not_hide_an_absent_or_stopped_device() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    table.report(Kind.EXPOSED_CARD, "B1")
    turned = "If play goes on, the exposed card of box 1 is turned face down."
    asked = f"Call the pit supervisor. Was a card of box 1 exposed? {turned}"
    table.lose_link()
    assert next_step(table.state).startswith(f"{asked} The shuffler is not connected: ")
    table.connect()
    assert next_step(table.state).startswith(f"{asked} The shuffler is back")
    table.do(operations.ContinueRound())
    assert next_step(table.state) == asked


def test_next_step_does_not_wait_for_a_shuffle_of_a_shoe() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take()
    for _ in range(2):
        table.do(operations.AbandonRound("the shift manager", "fire"), Role.SHIFT_MANAGER)
    table.do(operations.RecordSettled())
    assert next_step(table.state).endswith("Shuffle a full deck, put it into the shoe, and record the shuffle.")


def test_the_next_step_shows_what_was_noticed_instead_of_its_kind() -> None:
    table = TableHarness().start().to_dealing().deal()
    hands = table.state.round.hands
    other = tuple(card.face.expose() for card in hands["B1"].cards if card.face)
    table.do(operations.ExposeHand("D", other))
    assert next_step(table.state).startswith("Is your entry of the Dealer's hand right? ")


def test_a_refused_device_does_not_ask_to_check_its_cable() -> None:
    table = TableHarness().start()
    table.give(DeviceGone("device-proof", "The device could not prove its key: check `key_file`.", refused=True))
    said = next_step(table.state)
    assert said.startswith("Call the pit supervisor: the shuffler cannot be used. The device could not prove its key")
    table.do(operations.ReturnToService(), Role.PIT_SUPERVISOR)
    assert next_step(table.state) == "Wait until the shuffler is connected."


def test_a_jam_is_named_once() -> None:
    table = TableHarness().start().to_dealing()
    table.device.report(Jammed("exit"))
    assert next_step(table.state).count("jam") == 1
    assert next_step(table.state).endswith("Clear the shuffler.")


GONE = "The shuffler is not connected: check its power and its cable."
BACK = "The shuffler is back. Compare the table with the screen, then continue the round."


@pytest.mark.parametrize(
    ("game_id", "said"),
    [
        ("TP", "Wait for boxes 1, 3 and 6 to return the cards, then turn them over."),
        ("RTP", "Wait for boxes 1, 3 and 6 to return the cards, then turn them over."),
        ("NC", "When the players have looked at their hands, turn over the Dealer's hand."),
        ("P3", "Wait for boxes 1, 3 and 6 to return the cards, then turn them over."),
        ("F3", "Turn over all hands."),
    ],
)
def test_after_the_deal_the_act_precedes_the_trouble_of_an_unneeded_device(game_id: str, said: str) -> None:
    table = TableHarness(game_id=game_id).start().to_dealing().deal()
    table.lose_link()
    assert next_step(table.state) == f"{said} {GONE}"
    table.connect()
    assert next_step(table.state) == f"{said} {BACK}"
    table.expose_all()
    assert next_step(table.state).startswith("Pay ")
    assert next_step(table.state).endswith(BACK)
    table.settle()
    assert next_step(table.state) == f"End the round. {BACK}"
    table.do(operations.ConcludeRound())
    assert next_step(table.state).startswith("Confirm to end the round")


def test_a_deal_by_hand_comes_before_the_trouble_of_the_device() -> None:
    table = TableHarness().start().to_dealing()
    table.lose_link()
    table.do(operations.DealByHand(3, "the shuffler is dead"), Role.PIT_SUPERVISOR)
    by_hand = "Deal 3 cards to box 3 by hand from the stub. Call the pit supervisor to enter it."
    assert next_step(table.state) == f"{by_hand} {GONE}"


def test_an_unloaded_stub_waits_until_the_round_is_continued() -> None:
    table = TableHarness().start().to_dealing()
    table.take(3)
    table.device.ignores_commands = True
    table.take()
    table.lose_link()
    table.expose_all()
    assert next_step(table.state) == f"The stub is not counted yet; count it by hand first. {GONE}"
    table.connect()
    assert next_step(table.state) == BACK


def test_the_act_comes_first_wherever_it_is_accepted() -> None:
    acts: dict[Phase, tuple[AnyOperation, ...]] = {
        Phase.EXAMINING: (operations.ExposeHand("D"),),
        Phase.EXPOSING: (operations.ExposeHand("B1"), operations.ExposeHand("B3"), operations.ExposeHand("B6")),
        Phase.SETTLING: (operations.RecordSettled(), operations.ConcludeRound()),
        Phase.DEALING_SETS: (operations.DealByHand(1, "it is dead"),),
        Phase.DEALING_SINGLES: (operations.DealByHand(1, "it is dead"),),
    }
    told = 0
    for name, state in every_state():
        begun = state.phase in AFTER_DEAL or state.round.by_hand
        if state.settings is None or state.held or state.service is Service.IN_SERVICE or not begun:
            continue
        if state.phase not in acts or state.round.abandon_asked:
            continue
        told += 1
        accepted = any(
            can(state, PersonActed("1", "Pit", Role.PIT_SUPERVISOR, state.round.number, act))
            for act in acts[state.phase]
        )
        first = next_step(state).startswith(" ".join(map(str, BY_PHASE[state.phase](state))))
        assert first or not accepted, f"{name}: {next_step(state)}"
    assert told


def test_a_requested_void_comes_first() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.report(Kind.EXPOSED_CARD, "B1")
    table.report(Kind.FOREIGN_CARD)
    assert next_step(table.state).startswith("Call the pit supervisor. Was a card of box 1 exposed?")
    found = table.state.open[-1]
    table.do(operations.ConfirmIrregularity(found.id, found.revision), Role.PIT_SUPERVISOR)
    assert next_step(table.state).startswith(
        "A card that does not belong to this deck was found: the round becomes void."
    )
    view = view_of(table.state, LinkView())
    assert [one.kind for one in view.irregularities] == [Kind.FOREIGN_CARD, Kind.EXPOSED_CARD]
    _, sentence = table.refused(operations.ExposeHand("D"))
    assert "the round becomes void" in sentence


def test_a_wrong_count_of_a_hand_comes_before_the_count_of_the_deck() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.count(table.state.stub_due - 1)
    table.report(Kind.WRONG_COUNT, "B1", counted=4)
    assert next_step(table.state).startswith("Does box 1 have 4 cards?")
    view = view_of(table.state, LinkView())
    assert [one.kind for one in view.irregularities] == [Kind.WRONG_COUNT, Kind.DECK_COUNT]
    _, sentence = table.refused(operations.ExposeHand("D"))
    assert "Does box 1 have 4 cards?" in sentence


@pytest.mark.parametrize("kind", [Kind.LATE_BET, Kind.SIDE_WITHOUT_MAIN])
def test_matters_without_a_hold_are_decided_before_the_conclusion(kind: Kind) -> None:
    table = TableHarness().start().to_dealing().deal().expose_all().settle()
    assert next_step(table.state) == "End the round."
    table.report(kind, "B1")
    said = next_step(table.state)
    assert said.startswith("An irregularity of this round is open. ")
    assert table.refused(operations.ConcludeRound())[1] == said
    table.deny()
    assert next_step(table.state) == "End the round."


@pytest.mark.parametrize("game_id", ["TP", "RTP", "NC", "P3"])
def test_with_no_hand_in_play_the_dealers_is_turned_over(game_id: str) -> None:
    """No hand can come back."""
    table = TableHarness(game_id=game_id, boxes=(1,)).start().to_dealing().deal()
    table.report(Kind.WRONG_VIEWER, "B1")
    table.rule(RulingAction.REMOVE_HANDS, places=("B1",))
    assert table.at(Phase.EXAMINING)
    assert not table.state.round.live_places
    assert next_step(table.state) == "No hand is in play. Turn over the Dealer's hand."
    table.expose("D")


def test_a_request_to_abandon_the_round_leaves_the_act_of_the_phase() -> None:
    """A single request changes nothing: the device still gives out the next set."""
    table = TableHarness().start().to_dealing()
    before = next_step(table.state), primary_act(table.state)
    table.do(operations.AbandonRound("the shift manager", "the fire alarm"), Role.SHIFT_MANAGER)
    assert table.state.round.abandon_asked
    assert (next_step(table.state), primary_act(table.state)) == before


def test_a_deck_that_must_not_be_dealt_from_is_put_in_again() -> None:
    table = to_phase(Unit.SETS, Phase.IDLE)
    failed = events.DeckMadeUnusable(table.state.decks.in_play.deck)
    state = fold(table.state, [(table.state.entry + 1, failed)])
    assert next_step(state) == "The deck must be shuffled again. Put the deck in again to be shuffled."
    assert headline(state) == "Put the deck in again to be shuffled."
