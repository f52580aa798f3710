"""A simulated person does what the bench asks a person for: a good device keeps its promises, a bad one is found."""

from __future__ import annotations

import pytest

from simulators.bench.promise import BrokenPromiseError
from simulators.bench.promises.operator import TestOperatorPromises as OperatorPromises
from tests.bench.promised import Bed, good_device, in_virtual_time, kept_named

NAMES = sorted(name.removeprefix("test_") for name in vars(OperatorPromises) if name.startswith("test_"))


class Person:
    """Does as asked. `strong`: can draw cards from a locked shoe. `hands`: without them, nothing is done."""

    def __init__(self, bed: Bed, *, strong: bool = False, hands: bool = True) -> None:
        self.heard: list[str] = []
        self._bed = bed
        self._strong = strong
        self._hands = hands

    def __call__(self, sentence: str) -> None:
        self.heard.append(sentence)
        if not self._hands:
            return
        device, front = self._bed.device, self._bed.front
        if "draw" in sentence.lower():
            device.mechanism.draw(forced=self._strong)
        elif sentence.startswith(("Pull the cable", "Switch the device off")):
            front.unplug()
        elif sentence.startswith("Switch the device on again"):
            device.restart("power")


def ask_with(name: str, *, strong: bool = False, hands: bool = True, stays_open: bool = False) -> list[str]:
    """Run one test and return what the person was asked."""
    said: list[list[str]] = []

    async def run() -> None:
        bed = Bed(lambda: good_device("shoe"), operator=20)
        if stays_open:
            bed.device.link._on_host_lost = lambda: None
            bed.device.restart = lambda cause: None  # type: ignore[method-assign]
        bed.host.say = person = Person(bed, strong=strong, hands=hands)
        said.append(person.heard)
        await bed.host.open()
        try:
            await kept_named(name).judged(OperatorPromises(), bed.host)
        finally:
            bed.host.close()

    in_virtual_time(run)
    return said[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_good_shoe_keeps_it_and_the_person_is_asked(name: str) -> None:
    assert ask_with(name)


def test_a_count_down_is_shown_until_the_time_is_over() -> None:
    with pytest.raises(BrokenPromiseError, match="Bodies"):
        ask_with("cards_that_are_drawn_are_reported", hands=False)


def test_a_weak_lock_is_found() -> None:
    with pytest.raises(BrokenPromiseError, match=r"Commands.*a card left while the exit was held"):
        ask_with("no_card_can_be_drawn_while_the_exit_is_held", strong=True)


@pytest.mark.parametrize("name", ["a_pulled_cable_loses_nothing", "it_starts_with_its_exit_held"])
def test_an_exit_that_stays_open_is_found(name: str) -> None:
    with pytest.raises(BrokenPromiseError, match="cardlink v1, "):
        ask_with(name, stays_open=True)
