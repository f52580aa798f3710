"""The message for a screen: the table, what people can do, and the words for both.

The message is the same bytes for every screen of one kind and language. Each screen's identity, and who may sign there,
is added to it. It contains public facts only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec

from controller.api.bodies import encode
from controller.api.feed import Published
from controller.api.screen_lines import Names, line_for_screens
from controller.api.view import TableView
from controller.games.own_words import BANKER, DEALER, PLAYER, OwnWords
from controller.games.specification import KINDS
from controller.language import ENGLISH
from controller.rules.dealing_order import Place
from controller.table.offers import Offer, reportable
from controller.table.state import TableState
from firmware_bridge.messages import AnyText, message

BY_RULING: Final = "ruling"
"""The end of an irregularity by a person's ruling."""


class WagerView(msgspec.Struct, frozen=True):
    """A kind of wager that may be placed, with the table's limits; `maximum` 0: none.

    `main`: it puts a box in play. `on_dealer`: it is placed on the Dealer's spot and does not belong to a box.
    """

    id: str
    name: AnyText
    minimum: int
    maximum: int
    main: bool
    on_dealer: bool


class LayoutView(msgspec.Struct, frozen=True):
    """The constants of a round. `labels`: the names of the places. `clockwise`: the direction of the deal."""

    boxes: int = 0
    clockwise: bool = True
    labels: dict[Place, AnyText] = {}
    wagers: tuple[WagerView, ...] = ()
    wagers_entered: bool = False
    first_card: bool = False
    every_hand: bool = False
    hands_by_device: bool = False
    second_counter_signs: bool = False
    bettors: tuple[str, ...] = ()


class ReportView(msgspec.Struct, frozen=True):
    """A kind of irregularity that may be reported now. `place`, `card`, `counted`: whether the report asks for it.

    `places`: those that may be named. `earlier`: it may also be reported about the previous round.
    """

    kind: str
    label: AnyText
    place: bool
    card: bool
    counted: bool
    places: tuple[Place, ...] = ()
    now: bool = True
    earlier: bool = False


class LastView(msgspec.Struct, frozen=True):
    """The latest event, in a sentence. `entry` 0: nothing has happened since the daemon started."""

    entry: int = 0
    utc_ns: int = 0
    sentence: AnyText = ""
    by: str = ""  # the name of the person who entered it; empty: it came from the device


class ScreenView(msgspec.Struct, frozen=True):
    """The screen itself. `enrolled`: people may operate the table at it. `dealer`: the person who
    is signed on at it.
    """

    enrolled: bool = False
    id: str = ""
    name: str = ""
    dealer: str = ""
    dealer_name: str = ""
    until_utc_ns: int = 0


class PersonView(msgspec.Struct, frozen=True):
    """A person who may sign at the screen. `tries_left`: wrong PINs until a lock."""

    id: str
    name: str
    role: str
    locked_until_utc_ns: int = 0
    tries_left: int = 0


class TableMessage(msgspec.Struct, frozen=True):
    """The message for all screens of a kind and language. `turned`: the entry that last changed the offers' meaning."""

    entry: int
    turned: int
    view: TableView
    offers: tuple[Offer, ...]
    layout: LayoutView
    reports: tuple[ReportView, ...]
    last: LastView
    language: str


class OwnPart(msgspec.Struct, frozen=True):
    """The part for one screen. `page`: the version of the console's files that the daemon serves."""

    screen: ScreenView = ScreenView()
    people: tuple[PersonView, ...] = ()
    page: str = ""


class Beat(msgspec.Struct, frozen=True):
    """The message of each second. `age`: seconds since the device last sent something; None: not known. `seen`: at a
    simulated table, what only eyes see there.
    """

    utc_ns: int
    age: float | None
    link: str
    seen: str = ""


class MessageKind(NamedTuple):
    """The kind of message. `operates`: with what people can do."""

    operates: bool
    language: str = ENGLISH
    whole: bool = False  # whether each text comes with its message


def table_message(
    state: TableState, view: TableView, offered: tuple[Offer, ...], last: LastView, kind: MessageKind
) -> TableMessage:
    """Return the message, in English. `offered`: what people can do now, which a display does not get."""
    return TableMessage(
        entry=state.entry,
        turned=state.turn.entry,
        view=view,
        offers=offered if kind.operates else (),
        layout=layout_of(state),
        reports=reports_of(state) if kind.operates else (),
        last=last if kind.operates else msgspec.structs.replace(last, by=""),
        language=kind.language,
    )


def with_own_part(shared: bytes, own: bytes) -> bytes:
    """Join both JSON objects into a single object."""
    return b"%s,%s" % (shared[:-1], own[1:])


def own_part(screen: ScreenView, people: Iterable[PersonView], page: str = "") -> bytes:
    return encode(OwnPart(screen, tuple(people), page))


def layout_of(state: TableState) -> LayoutView:
    if state.settings is None:
        return LayoutView()
    words, rules = state.game.words, state.table_rules
    boxes = range(1, state.settings.box_count + 1)
    wagers = []
    for wager in state.law.wagers:
        limit = rules.limits.get(wager.id)
        minimum, maximum = (limit.minimum, limit.maximum or 0) if limit is not None else (1, 0)
        wagers.append(WagerView(wager.id, wager.title, minimum, maximum, wager.main, wager.on_dealer))
    return LayoutView(
        boxes=state.settings.box_count,
        clockwise=not state.game.counter_clockwise,
        labels=_labels(words, boxes),
        wagers=tuple(wagers),
        wagers_entered=bool(state.bettors or state.layout.bets),
        first_card=state.game.first_card is not None,
        every_hand=state.game.every_hand,
        hands_by_device=state.settings.hands_by_device,
        second_counter_signs=state.settings.second_counter_signs,
        bettors=tuple(bettor.id for bettor in state.bettors),
    )


def _labels(words: OwnWords, boxes: Iterable[int]) -> dict[Place, AnyText]:
    labels: dict[Place, AnyText] = {
        f"B{number}": message("Player {number}" if words.place == PLAYER else "Box {number}", number=number)
        for number in boxes
    }
    labels[DEALER] = message("Banker" if words.dealer == BANKER else "Dealer")
    return labels


def reports_of(state: TableState) -> tuple[ReportView, ...]:
    if state.settings is None:
        return ()
    words = state.game.words
    return tuple(
        ReportView(
            kind=found.kind,
            label=words.own(KINDS[found.kind]),
            place=found.place,
            card=found.card,
            counted=found.counted,
            places=found.places,
            now=found.now,
            earlier=found.earlier,
        )
        for found in reportable(state)
    )


def _is_not_shown(event: dict[str, Any]) -> bool:
    if event["event"] == "stub_counted":
        return bool(event["by"] == "device" and event["count"] == event["due"])
    return bool(event["event"] == "operation_refused")


def last_of(recent: Iterable[Published], words: OwnWords, names: Names) -> LastView:
    """Return the latest of these events that people are shown. `recent`: newest first.

    Refusals are left out: their callers have read them, and nothing has happened. So is the device's count of a
    complete stub, which would replace what people did. If a ruling resolved something, the ruling is shown.
    """
    last, by_ruling = LastView(), False
    for event in recent:
        said = msgspec.json.decode(event.payload)
        if last.entry and said["utc_ns"] != last.utc_ns:
            break
        if last.entry and said["event"] == "operation_taken":
            return msgspec.structs.replace(last, by=names.get(said["person"], said["person"]))
        ruled = by_ruling and said["event"] == "ruled"
        if ruled or (not last.entry and not _is_not_shown(said)):
            line = line_for_screens(said, words, names)
            last = LastView(last.entry or event.entry, said["utc_ns"], line) if line else last
            by_ruling = said.get("outcome") == BY_RULING
    return last
