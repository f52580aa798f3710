"""The words for the device and its link in a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from controller.people_words import WORDS
from controller.people_words.table_of_words import NothingDoneError
from controller.people_words.tokens import Tokens
from controller.people_words.word import Word, plain
from controller.table import operations
from firmware_bridge.cards import Card
from simulators.scenarios.course import Course
from simulators.scenarios.table_course import NO_POWER

Act: TypeAlias = Callable[[Course], None]
TOGETHER: Final = 3  # cards in a set


def _read_swapped(tokens: Tokens) -> Act:
    first, second = tokens.place(), tokens.place()

    def swap(course: Course) -> None:
        cards = [
            operations.CardAt(ordinal, other)
            for place, other in ((first, second), (second, first))
            for ordinal in course.ordinals_at(place)
        ]
        course.enter(operations.PlaceCards(tuple(cards)))

    return swap


def _read_take(tokens: Tokens) -> Act:
    times = tokens.times("how many sets or cards are taken")

    def take(course: Course) -> None:
        for _ in range(times):
            course.device.give_out()

    return take


def _read_face_up(tokens: Tokens) -> Act:
    ordinal = tokens.number("the number of a card")

    def find(course: Course) -> None:
        try:
            course.device.find_face_up(ordinal)
        except ValueError as error:
            raise NothingDoneError(str(error)) from error

    return find


def _read_together(tokens: Tokens) -> Act:
    count = tokens.number("how many cards")
    known = tokens.maybe("order known")
    return lambda course: course.device.draw_together(count, order_known=known)


def _read_next_set(tokens: Tokens) -> Act:
    count = tokens.number("how many cards")

    def arm(course: Course) -> None:
        course.device.next_set = count

    return arm


def _read_unseen(tokens: Tokens) -> Act:
    count = tokens.number("how many cards")

    def lose(course: Course) -> None:
        course.device.pass_unseen(count)

    return lose


def _read_skips(tokens: Tokens) -> Act:
    count = tokens.number("how many cards")
    return lambda course: course.device.skip_count(count)


def _read_miscounts(tokens: Tokens) -> Act:
    by = tokens.number("how many more or fewer")

    def arm(course: Course) -> None:
        course.device.miscount = by

    return arm


def _deck_will(course: Course, change: Callable[[list[Card]], list[Card]]) -> None:
    course.device.alter_next_deck = change


def _put_in_another(course: Course) -> None:
    course.device.put_in_another()
    course.heartbeat()


def _arm_jam(course: Course) -> None:
    course.device.jams_next = True


def _power_back(course: Course) -> None:
    course.device.reboot()
    course.device.exit_held = True  # its lock closes
    course.connect()


DEVICE_STEPS: Final[Mapping[str, Word[Course]]] = {
    "swapped": Word(
        "swapped PLACE PLACE",
        "the hands of two places lie at each other's",
        _read_swapped,
        (operations.PlaceCards,),
    ),
    "take": Word("take NUMBER", "sets are lifted, or cards drawn, due or not", _read_take),
    "device face-up": Word("device face-up NUMBER", "a card lies face up inside", _read_face_up),
    "device together": Word("device together NUMBER [order known]", "cards are drawn at once", _read_together),
    "device next-set": Word("device next-set NUMBER", "the next set will have that many cards", _read_next_set),
    "device extra-set": Word(
        "device extra-set", "a set falls that was not ordered", plain(lambda course: course.device.form_set(TOGETHER))
    ),
    "device foreign": Word(
        "device foreign",
        "a card is drawn that the sensor takes for one of another deck",
        plain(lambda course: course.device.give_out(foreign=1)),
    ),
    "device unread": Word(
        "device unread",
        "a card is drawn from a shoe that does not recognise it",
        plain(lambda course: course.device.draw(unread=True)),
    ),
    "device dealt-face-up": Word(
        "device dealt-face-up",
        "a card comes face up out of a shoe that had not found it",
        plain(lambda course: course.device.draw(face_up=True)),
    ),
    "deck missing": Word(
        "deck missing",
        "the next deck will be a card short",
        plain(lambda course: _deck_will(course, lambda deck: deck[1:])),
    ),
    "deck extra": Word(
        "deck extra",
        "the next deck will have a card more",
        plain(lambda course: _deck_will(course, lambda deck: [deck[-1], *deck])),
    ),
    "deck duplicate": Word(
        "deck duplicate",
        "in the next deck one card will be there twice, and another not at all",
        plain(lambda course: _deck_will(course, lambda deck: [deck[-1], *deck[1:]])),
    ),
    "device another-deck": Word(
        "device another-deck",
        "another deck is put in during a round, in place of the rest of the one in play",
        plain(_put_in_another),
    ),
    "device unseen": Word("device unseen NUMBER", "that many cards leave it and it does not notice", _read_unseen),
    "device skips": Word("device skips NUMBER", "that many cards leave it, counted and not reported", _read_skips),
    "device miscounts": Word(
        "device miscounts NUMBER", "its count of the stub will be wrong by that many", _read_miscounts
    ),
    "device jams": Word("device jams", "it will jam when it next moves cards", plain(_arm_jam)),
    "device cleared": Word("device cleared", "the jam is cleared", plain(lambda course: course.device.clear_jam())),
    "power lost": Word("power lost", "the device has no power", plain(lambda course: course.lose_link(NO_POWER))),
    "power back": Word("power back", "its power is back, and it is connected again", plain(_power_back)),
    "pc restarted": Word(
        "pc restarted", "the PC had no power; the daemon starts again on it", plain(lambda course: course.start_host())
    ),
    "link lost": Word("link lost", "the cable was pulled", plain(lambda course: course.lose_link())),
    "link back": Word("link back", "it is connected again", plain(lambda course: course.connect())),
}


STEPS: Final[Mapping[str, Word[Course]]] = {**WORDS, **DEVICE_STEPS}
"""The words of steps. If one word begins with another, the longer one counts."""
