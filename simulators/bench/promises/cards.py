"""Cards, counts and the status of a deck that is dealt: docs/cardlink.md, "Bodies" and "Commands".

The tests judge the recording of one deck (`dealing`).
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from firmware_bridge.drivers.cardlink import messages
from simulators.bench.promise import Measurement, check, promise
from simulators.bench.promises.dealing import DECK_SIZE, SET_SIZE, DeckRecord
from simulators.bench.promises.orders import said
from simulators.bench.promises.sealing import check_shortest

SET_WITHIN: Final = 30.0  # seconds
SILENT_WITHIN: Final = 2.0  # seconds; docs/cardlink.md requires 1 s
SHUFFLE_WITHIN: Final = 120.0  # seconds
CARDS: Final = frozenset({messages.NOT_READ, messages.FOREIGN, *range(1, DECK_SIZE + 1)})
MOVES: Final = (messages.DispenseOrder, messages.ShuffleOrder, messages.UnloadStubOrder, messages.RunSelfTestOrder)


def needs(condition: object, why: str) -> None:
    if not condition:
        pytest.skip(why)


def cards_of(report: Any) -> list[int]:
    """Return the card numbers in a report."""
    match report:
        case messages.CardDrawnReport(card=card) | messages.FaceUpFoundReport(card=card):
            return [card]
        case messages.SetDispensedReport(cards=cards) | messages.CardsDrawnTogetherReport(cards=cards):
            return list(cards)
    return []


class TestCardPromises:
    """The device's reports and statuses of one deck are consistent."""

    @promise("Bodies", "Card numbers", "no reserved number is sent")
    async def test_no_reserved_card_number_is_sent(self, dealt: DeckRecord) -> None:
        sent = [card for one in dealt.reports for card in cards_of(one.body)]
        needs(sent, "the device sent no card")
        strange = sum(card not in CARDS for card in sent)
        check(not strange, f"{strange} of {len(sent)} card numbers are reserved ones")

    @promise("Bodies", "Card numbers", "each card of a deck is reported once")
    async def test_no_card_is_sent_twice(self, dealt: DeckRecord) -> None:
        sets = dealt.found(messages.SetDispensedReport)
        needs(sets, "the device formed no set")
        known = [card for one in sets for card in one.cards if 1 <= card <= DECK_SIZE]
        check(len(known) == len(set(known)), f"{len(known) - len(set(known))} cards were reported a second time")

    @promise("Sealed frames", "Lengths", "the length of a report does not tell one card from another")
    async def test_a_card_is_one_byte(self, dealt: DeckRecord) -> None:
        for one in dealt.reports:
            check_shortest(one.plain)

    @promise("Bodies", "Reports", "a shuffle is started and finished, its id is not 0, and its deck is the one loaded")
    async def test_a_shuffle_is_reported(self, dealt: DeckRecord) -> None:
        needs(dealt.shuffled, "no fresh deck was in the device, or it does not shuffle")
        started, finished = dealt.found(messages.ShuffleStartedReport), dealt.found(messages.ShuffleFinishedReport)
        check(bool(started and finished), "a shuffle was done without *shuffle started* and *shuffle finished*")
        check(
            started[-1].deck == finished[-1].deck,
            "a shuffle was finished with a different deck than it was started with",
        )
        check(finished[-1].shuffle != 0, "the shuffle's id is 0")
        check(len({one.shuffle for one in finished}) == len(finished), "a shuffle's id was used again")

    @promise("Commands", "shuffle", "a shuffle comes to its end")
    async def test_it_shuffles_in_time(self, dealt: DeckRecord) -> None:
        needs(dealt.shuffled, "no fresh deck was in the device, or it does not shuffle")
        longest = max(step.seconds for step in dealt.of(messages.ShuffleOrder) if step.answer.done)
        dealt.measure(Measurement("to shuffle a deck", longest, "s", SHUFFLE_WITHIN))

    @promise("Signs of life", "sends", "a status each second, also while cards move")
    async def test_statuses_come_while_cards_move(self, dealt: DeckRecord) -> None:
        needs(dealt.shuffled, "no fresh deck was in the device, or it does not shuffle")
        dealt.measure(Measurement("without a status during a shuffle", dealt.silence, "s", SILENT_WITHIN))

    @promise("Commands", "hold exit", "a set in motion is finished before the hold is answered")
    async def test_a_hold_waits_for_the_set_in_motion(self, dealt: DeckRecord) -> None:
        needs(dealt.held_early is not None, "no deck was shuffled, or the device forms no sets on command")
        check(not dealt.held_early, "hold exit was answered before the set in motion was reported")

    @promise("Commands", "4", "a command still being carried out is finished, and not answered on the new link")
    async def test_a_command_over_a_new_link_is_finished_without_an_answer(self, dealt: DeckRecord) -> None:
        needs(dealt.answered_late is not None, "the device does not unload its stub, or nothing was shuffled")
        check(dealt.finished_late is True, "a command in motion was abandoned when a new link was made")
        check(not dealt.answered_late, "a command of the previous link was answered on a new one")

    @promise("Commands", "dispense", "a set is formed of as many cards as were ordered")
    async def test_it_forms_sets_in_time(self, dealt: DeckRecord) -> None:
        tried = [step for step in dealt.of(messages.DispenseOrder) if step.answer.reason not in ("held", "unable")]
        needs(tried, "no deck was shuffled, or the device forms no sets on command")
        check(tried[0].answer.done, f"dispense of a deck just shuffled was answered {said(tried[0].answer)}")
        formed = [step.seconds for step in tried if step.answer.done]
        dealt.measure(Measurement("to form a set", max(formed), "s", SET_WITHIN))

    @promise("Bodies", "Status", "after a shuffle `shuffle` is its id, `loaded` its count, and nothing is dispensed")
    async def test_the_status_after_a_shuffle(self, dealt: DeckRecord) -> None:
        needs(dealt.shuffled, "no fresh deck was in the device, or it does not shuffle")
        step = next(step for step in dealt.of(messages.ShuffleOrder) if step.answer.done)
        finished, status = dealt.found(messages.ShuffleFinishedReport)[0], step.status
        check(status.shuffle == finished.shuffle, f"`shuffle` is {status.shuffle}, the shuffle was {finished.shuffle}")
        check(status.loaded == finished.count, f"`loaded` is {status.loaded}, the shuffle counted {finished.count}")
        check((status.dispensed, status.sets_dispensed) == (0, 0), "cards of a deck just shuffled count as dispensed")
        check(status.last_command == step.command_id, "`last_command` is not the shuffle that was done")

    @promise("Bodies", "Reports", "a set names its shuffle, its deck, where it begins and what remains")
    async def test_sets_run_on(self, dealt: DeckRecord) -> None:
        sets = dealt.found(messages.SetDispensedReport)
        needs(sets, "the device formed no set")
        finished = dealt.found(messages.ShuffleFinishedReport)[-1]
        due = 1
        for one in sets:
            check(one.shuffle == finished.shuffle, f"a set is of shuffle {one.shuffle}, not {finished.shuffle}")
            check(one.deck == finished.deck, f"a set is of deck {one.deck}, the deck shuffled is {finished.deck}")
            check(one.ordinal == due, f"a set begins at card {one.ordinal}, not {due}")
            check(len(one.cards) >= SET_SIZE, f"a set of {SET_SIZE} names {len(one.cards)} cards")
            due += len(one.cards)
            left = finished.count - due + 1
            check(one.remaining == left, f"`remaining` of a set is {one.remaining}, {left} are left")

    @promise("Bodies", "Status", "`dispensed`, `remaining` and `sets_dispensed` count what was reported")
    async def test_the_status_counts_what_was_reported(self, dealt: DeckRecord) -> None:
        needs(dealt.found(messages.SetDispensedReport), "the device formed no set")
        for step in dealt.steps:
            status = step.status
            if not status.shuffle or not status.loaded:
                continue
            sets = [
                one.body
                for one in dealt.reports
                if isinstance(one.body, messages.SetDispensedReport)
                and one.body.shuffle == status.shuffle
                and one.frame.number <= status.last_report
            ]
            out = sum(len(one.cards) for one in sets)
            check(status.dispensed == out, f"`dispensed` is {status.dispensed}, {out} cards were reported")
            check(status.sets_dispensed == len(sets), f"`sets_dispensed` is {status.sets_dispensed}, not {len(sets)}")
            left = status.loaded - status.dispensed
            check(status.remaining == left, f"`remaining` is {status.remaining}, `loaded` less `dispensed` is {left}")

    @promise("Bodies", "Status", "`tray_occupied` is true while a set lies in the tray")
    async def test_the_tray_is_known(self, dealt: DeckRecord) -> None:
        needs("tray_sensor" in dealt.said.capabilities, "the device has no tray sensor")
        formed = [step for step in dealt.of(messages.DispenseOrder) if step.answer.done]
        needs(formed, "the device formed no set")
        check(all(step.status.tray_occupied for step in formed), "`tray_occupied` is false after a set was formed")

    @promise("Commands", "9", "a dispense is refused as `held` while the exit is held, before `tray` and `empty`")
    @promise("Commands", "hold exit", "no card leaves while the exit is held")
    async def test_no_set_is_formed_while_the_exit_is_held(self, dealt: DeckRecord) -> None:
        held = False
        tried = 0
        for step in dealt.steps:
            if isinstance(step.order, messages.HoldExitOrder | messages.ReleaseExitOrder):
                held = step.answer.done and isinstance(step.order, messages.HoldExitOrder)
            elif held and isinstance(step.order, messages.DispenseOrder):
                tried += 1
                reasons = ("held", "unable", "door", "jam")
                check(step.answer.reason in reasons, f"with the exit held, dispense was answered {said(step.answer)}")
        needs(tried, "no dispense was tried while the exit was held")

    @promise("Commands", "9", "a dispense is refused as `tray` while a set lies in the tray")
    async def test_a_second_set_does_not_join_the_first(self, dealt: DeckRecord) -> None:
        needs("tray_sensor" in dealt.said.capabilities, "the device has no tray sensor")
        second = [step for step in dealt.of(messages.DispenseOrder) if step.answer.reason == "tray"]
        formed = [step for step in dealt.of(messages.DispenseOrder) if step.answer.done]
        needs(formed, "the device formed no set")
        lifted = len(dealt.found(messages.SetRemovedReport))
        check(bool(second) or lifted >= len(formed), "a second set was formed onto the one in the tray")

    @promise("Commands", "9", "a shuffle is refused as `no fresh deck` once cards of it were dealt")
    async def test_a_deck_that_was_dealt_from_is_not_shuffled(self, dealt: DeckRecord) -> None:
        refused = [step.answer for step in dealt.steps if not step.answer.done]
        for answer in refused:
            check(0 < len(answer.reason.encode()) <= 32, f"a refusal gives no reason, or a long one: {said(answer)}")
        formed = False
        for step in dealt.steps:
            formed = formed or (isinstance(step.order, messages.DispenseOrder) and step.answer.done)
            if formed and isinstance(step.order, messages.ShuffleOrder):
                said_so = step.answer.reason in ("no fresh deck", "unable", "door", "jam")
                check(said_so, f"a shuffle, after cards were dealt, was answered {said(step.answer)}")

    @promise("Commands", "", "one command that moves cards is open at a time: another is answered `busy`")
    @promise("Commands", "9", "reasons are those at the moment when the command arrives")
    async def test_a_second_command_that_moves_cards_is_busy(self, dealt: DeckRecord) -> None:
        needs(dealt.beside is not None, "no fresh deck was in the device, or it does not shuffle")
        assert dealt.beside is not None
        refused = (dealt.beside.done, dealt.beside.reason) == (False, "busy")
        check(refused or not dealt.overlapped, f"a self-test during a shuffle was answered {said(dealt.beside)}")

    @promise("Commands", "unload stub", "what comes out is counted, a set in the tray included, and the tray is empty")
    async def test_the_stub_adds_up(self, dealt: DeckRecord) -> None:
        steps = [step for step in dealt.of(messages.UnloadStubOrder) if step.answer.done and dealt.shuffled]
        needs(steps and steps[-1] is dealt.steps[-1], "the device does not unload its stub, or nothing was shuffled")
        unloaded = dealt.found(messages.StubUnloadedReport)
        check(bool(unloaded), "the stub was unloaded without *stub unloaded*")
        lifted = len(dealt.found(messages.SetRemovedReport)) * SET_SIZE
        finished = dealt.found(messages.ShuffleFinishedReport)[-1]
        out = unloaded[-1].count + lifted
        check(out == finished.count, f"{finished.count} cards were shuffled, {out} came out")
        check(not steps[-1].status.tray_occupied, "`tray_occupied` is true after the stub was unloaded")

    @promise("Bodies", "Status", "`moving` is false when nothing moves, and `last_command` the last that was done")
    async def test_last_command_is_true_of_each_step(self, dealt: DeckRecord) -> None:
        last = dealt.began.last_command
        for step in dealt.steps:
            last = step.command_id if step.answer.done and isinstance(step.order, MOVES) else last
            if isinstance(step.order, messages.ShuffleOrder) and not step.answer.done:
                last = step.status.last_command  # a self-test may have been done at the same time
            check(step.status.last_command == last, f"`last_command` is {step.status.last_command}, not {last}")
            check(not step.status.moving, "`moving` is true though the command came to its end")
