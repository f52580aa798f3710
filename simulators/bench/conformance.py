"""Tests for every device, and for every cardlink device. `cardshoe bench --device URL` runs them on a real device.

The device contains a deck that was not dealt from. It is not asked to do what it says it cannot do. A measurement that
exceeds its limit is a failure of the device.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NoReturn

import pytest

from firmware_bridge.cards import DECK, Card
from firmware_bridge.commands import Dispense, HoldExit, ReleaseExit, RunSelfTest
from firmware_bridge.device_url import DEFAULT_DRIVER
from firmware_bridge.drivers.base import Answered, LinkReady, Reported, StatusHeard
from firmware_bridge.observations import CardDrawn, CardsDrawnTogether, SelfTestFinished
from simulators.bench.bench import Bench, BenchError
from simulators.bench.promise import Measurement, on_its_loop
from simulators.bench.recognition import Tally, decks_needed

LINK_WITHIN: Final = 5.0  # seconds until a link is up
ANSWER_WITHIN: Final = 1.0  # seconds for a command that moves no card
SIGN_OF_LIFE_WITHIN: Final = 2.0  # seconds; cardlink sends one per second
MOST_DAMAGED: Final = 1  # frames of a link, which may begin in the middle of one
ANSWERS: Final = 10
SIGNS: Final = 2


class TestEveryDevice:
    """Tests for the device of any driver."""

    @on_its_loop
    async def test_is_ready_in_time(self, bench: Bench) -> None:
        begun = bench.now
        ready = await bench.ready()
        bench.measure(Measurement("until the link stands", bench.now - begun, "s", LINK_WITHIN))
        assert ready.identity.kind in ("shuffler", "shoe")
        assert ready.identity.deck_size == 52

    @on_its_loop
    async def test_is_ready_again_after_its_link_was_dropped(self, bench: Bench) -> None:
        first = await bench.ready()
        begun = bench.now
        await bench.make_new_link()
        bench.measure(Measurement("until the link stands again", bench.now - begun, "s", LINK_WITHIN))
        again = [thing for thing in bench.received if isinstance(thing, LinkReady)][-1]
        assert again.identity.serial == first.identity.serial

    @on_its_loop
    async def test_answers_or_refuses_every_command(self, bench: Bench) -> None:
        await bench.ready()
        answer = await bench.answer_to(HoldExit())
        assert answer.done or answer.reason

    @on_its_loop
    async def test_its_line_is_clean(self, bench: Bench) -> None:
        await bench.ready()
        await bench.answer_to(HoldExit())
        statistics = bench.keeper.health.statistics
        damaged = statistics.frames_corrupt + statistics.frames_overlong
        bench.measure(Measurement("damaged frames", damaged, "", MOST_DAMAGED))

    @on_its_loop
    async def test_reports_the_cards_that_a_person_draws(self, bench: Bench) -> None:
        """Check the cards that a person draws, as many as `--draws N` says."""
        identity = (await bench.ready()).identity
        if not bench.draws:
            pytest.skip("no cards are drawn: --draws N says how many a person will draw")
        if identity.unit == "sets":
            pytest.skip("no single cards are drawn from this device")
        if identity.capabilities.holds_exit:
            await bench.answer_to(ReleaseExit())
        bench.say(f"Draw {bench.draws} cards now.")
        cards = await bench.collect(lambda: _cards_drawn(bench), bench.draws)
        assert len(cards) == bench.draws
        recognised = sum(cards)
        bench.measure(Measurement("cards not recognised", bench.draws - recognised, "", 0))

    @on_its_loop
    async def test_recognises_cards_in_a_known_order(self, bench: Bench) -> None:
        """Check the decks that a person draws in a known order, as many as `--recognition DECKS` says."""
        identity = (await bench.ready()).identity
        sample = bench.sample
        if sample is None:
            pytest.skip("no decks are drawn: --recognition DECKS says how many a person will draw")
        if identity.unit == "sets":
            pytest.skip("no single cards are drawn from this device, and a shuffler's order is not known")
        needed = decks_needed(sample.limit)
        assert sample.decks >= needed, f"a limit of {sample.limit:g} % takes at least {needed} decks"
        tally = Tally()
        for deck in range(sample.decks):
            tally.add(sample.order(deck), await _known_deck(bench, deck, holds=identity.capabilities.holds_exit))
        for line in tally.lines():
            bench.say(line)
        bench.measure_all(tally.measurements(sample))


async def _known_deck(bench: Bench, deck: int, *, holds: bool) -> list[Card | None]:
    """Return what the device read of a deck whose cards a person draws one at a time. Deck 0 is the deck in the
    device.
    """
    assert bench.sample is not None
    name = f"Deck {deck + 1} of {bench.sample.decks}"
    first = bench.sample.order(deck)[0].code
    place = len(bench.received) if deck else 0
    if holds:
        await bench.answer_to(ReleaseExit())
    bench.say(
        f"{name}: {'put it in, in its order' if deck else 'it lies in the device'}, {first} first. Draw 52 cards."
    )
    for number in range(1, len(DECK) + 1):
        found = await bench.collect(lambda: _faces_drawn(bench, place), number)
        assert len(found) >= number, f"{name}: {len(found)} of 52 cards were reported, so their places are not known"
    assert len(found) == len(DECK), f"{name}: {len(found)} cards were reported of 52"
    return list(found)


def _faces_drawn(bench: Bench, place: int) -> list[Card | None]:
    """Return every card drawn since that place, None for one that was not read."""
    drawn: list[Card | None] = []
    for thing in bench.received[place:]:
        match thing:
            case Reported(observation=CardDrawn(card=card)):
                drawn.append(card.expose() if card is not None else None)
            case Reported(observation=CardsDrawnTogether()):
                raise BenchError("two cards came together, so their places are not known: begin again")
    return drawn


def _cards_drawn(bench: Bench) -> list[bool]:
    """Return for every card drawn whether it was recognised."""
    drawn: list[bool] = []
    for thing in bench.received:
        match thing:
            case Reported(observation=CardDrawn(card=card)):
                drawn.append(card is not None)
            case Reported(observation=CardsDrawnTogether(cards=cards)):
                drawn += [card is not None for card in cards]
    return drawn


class TestCardlinkDevice:
    """Tests of what the protocol promises."""

    @pytest.fixture(autouse=True)
    def _only_cardlink(self, bench: Bench) -> None:
        if bench.url.driver != DEFAULT_DRIVER:
            pytest.skip(f"{bench.url.driver} promises less than cardlink")

    @on_its_loop
    async def test_says_who_it_is(self, bench: Bench) -> None:
        identity = (await bench.ready()).identity
        assert re.fullmatch(r"[0-9A-Za-z_-]{1,64}", identity.serial)
        assert identity.maker
        assert identity.model
        assert identity.firmware
        assert re.fullmatch(r"[0-9a-f]{64}", identity.firmware_digest)
        assert identity.deck_size == 52

    @on_its_loop
    async def test_gives_a_sign_of_life(self, bench: Bench) -> None:
        ready = await bench.ready()
        status = (await bench.wait_for(StatusHeard)).status
        assert status.boot == ready.identity.boot
        assert status.uptime_ms >= ready.status.uptime_ms

    @on_its_loop
    async def test_gives_its_signs_of_life_in_time(self, bench: Bench) -> None:
        await bench.ready()
        longest = 0.0
        for _ in range(SIGNS):
            begun, place = bench.now, len(bench.received)
            await bench.wait_for(StatusHeard, after=place)
            longest = max(longest, bench.now - begun)
        bench.measure(Measurement("longest time without a sign of life", longest, "s", SIGN_OF_LIFE_WITHIN))

    @on_its_loop
    async def test_answers_in_time(self, bench: Bench) -> None:
        await bench.ready()
        longest = 0.0
        for _ in range(ANSWERS):
            begun = bench.now
            assert (await bench.answer_to(HoldExit())).done
            longest = max(longest, bench.now - begun)
        bench.measure(Measurement("longest time until an answer", longest, "s", ANSWER_WITHIN))

    @on_its_loop
    async def test_goes_on_where_the_host_stopped(self, bench: Bench) -> None:
        """Check that nothing acknowledged comes again on a new link, and that the boot is the same."""
        first = await bench.ready()
        await bench.answer_to(HoldExit())
        held = bench.held
        await bench.make_new_link()
        again = [thing for thing in bench.received if isinstance(thing, LinkReady)]
        assert again[-1].identity == first.identity
        numbers = [(thing.boot, thing.number) for thing in bench.received if isinstance(thing, Reported)]
        assert len(numbers) == len(set(numbers))
        assert bench.held >= held

    @on_its_loop
    async def test_repeats_what_is_not_acknowledged(self, bench: Bench) -> None:
        bench.acknowledges = False
        await bench.ready()
        if not (await bench.answer_to(RunSelfTest())).done:
            self._cannot(bench, "the device does not run its self-test")
        await bench.make_new_link()

        def of_self_tests() -> Sequence[Reported]:
            reports = (thing for thing in bench.received if isinstance(thing, Reported))
            return [one for one in reports if isinstance(one.observation, SelfTestFinished)]

        twice = await bench.collect(of_self_tests, 2)
        if len(twice) < 2:
            raise BenchError("the report of the self-test was not sent again although nothing acknowledged it")
        assert twice[0].number == twice[-1].number
        assert twice[0].evidence == twice[-1].evidence

    @on_its_loop
    async def test_carries_a_command_out_once(self, bench: Bench) -> None:
        await bench.ready()
        hold = bench.send(HoldExit())
        bench.send(HoldExit(), hold)
        await bench.wait_for(Answered)
        assert (await bench.answer_to(ReleaseExit())).done
        assert (await bench.answer_to(HoldExit())).done
        answers = [thing.command_id for thing in bench.received if isinstance(thing, Answered)]
        assert answers.count(hold) == 1

    @on_its_loop
    async def test_holds_its_exit(self, bench: Bench) -> None:
        identity = (await bench.ready()).identity
        if not identity.capabilities.holds_exit or identity.capabilities.dispenses != "on_command":
            self._cannot(bench, "the device holds no exit, or forms no sets on command")
        assert (await bench.answer_to(HoldExit())).done
        answer = await bench.answer_to(Dispense(3))
        assert (answer.done, answer.reason) == (False, "held")

    @staticmethod
    def _cannot(bench: Bench, why: str) -> NoReturn:
        """Skip a test that needs a missing capability; with `strict` (our own shuffler has everything) fail it."""
        if bench.strict:
            pytest.fail(why)
        pytest.skip(why)
