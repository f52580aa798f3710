"""Messages of `GET /v1/screen` for the states that the page has to show, made from tables that reached them.

Each is what the daemon would send; only the screen, the people and the time are made up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from controller.api.bodies import encode
from controller.api.in_language import in_language
from controller.api.screen_state import LastView, PersonView, ScreenView, own_part, table_message, with_own_part
from controller.api.screen_state import MessageKind as Receiver
from controller.api.view import LinkView, view_of
from controller.games.specification import Choice, Kind, Unit
from controller.language import ENGLISH, Speaker
from controller.roles import Role
from controller.table import operations
from controller.table.offers import offers
from controller.table.phases import Phase
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge.messages import AnyText, Message
from tests.table.every_state import to_phase
from tests.table.harness import TableHarness

NOW: Final = 1_795_000_000_000_000_000  # nanoseconds since 1970
HANDS: Final = {"B1": "KD QC JS", "B3": "9D 8C KS", "B6": "2D 3C TS", "D": "KH 7S TD"}
ALL_HANDS: Final = {
    "B1": "KD QC JS", "B2": "2D 3C AS", "B3": "QD 4C TS", "B4": "9D 8C KS", "B5": "9C 5D 5H", "B6": "AD AC TD",
    "D": "KH 4S TH",
}  # fmt: skip
"""Against four points: three pictures, six, which wins half, a tie, seven, nine, two."""
CONTINUE, WITHDRAW = Choice.CONTINUE, Choice.WITHDRAW
SEVEN: Final = (1, 2, 3, 4, 5, 6, 7)
SCREEN: Final = ScreenView(True, "0a1b2c3d4e5f", "Table 7 left", "ana", "Ana", NOW + 36_000_000_000_000)
PEOPLE: Final = (
    PersonView("ana", "Ana", "dealer", 0, 5),
    PersonView("sam", "Sam Ho", "pit_supervisor", 0, 4),
    PersonView("li", "Li Wei", "pit_manager", 0, 5),
    PersonView("kim", "Kim Lau", "shift_manager", NOW + 240_000_000_000, 0),
)
STORY: Final = Message("{line}.", {"line": Message("card {ordinal} lies face up in the device", {"ordinal": 4})})
Made = Callable[[], TableHarness]


def message(
    state: TableState, sentence: AnyText = STORY, *, operates: bool = True, language: str = ENGLISH
) -> dict[str, Any]:
    """Return a screen's message for a table in that state, in its language."""
    link = LinkView("ready", 0.4, 1) if state.device.connected else LinkView("lost", 12.0, 1, "link-lost")
    last = LastView(state.entry, NOW, sentence)
    offered = offers(state) if operates else ()
    told = table_message(state, view_of(state, link), offered, last, Receiver(operates))
    shared = in_language(told, Speaker(language))
    own = own_part(SCREEN, PEOPLE) if operates else own_part(ScreenView(), ())
    made: dict[str, Any] = msgspec.json.decode(with_own_part(encode(shared), own))
    return made


def beat(state: dict[str, Any]) -> dict[str, Any]:
    device = state["view"]["device"]
    return {"utc_ns": NOW, "age": device["age"], "link": device["link"]}


def examples(language: str = ENGLISH) -> dict[str, dict[str, Any]]:
    """Return every message, by the name of its state."""
    return {name: message(made.state, language=language) for name, made in tables()}


def asked_at(screen: str, ago: int = 1, language: str = ENGLISH) -> dict[str, Any]:
    """Return the table after a person at the screen asked to abandon the round, `ago` seconds ago."""
    state = examples(language)["abandoning"]
    asked = {"asked_by": "kim", "asked_screen": screen, "asked_utc_ns": NOW - ago * 1_000_000_000}
    offers = [one | asked if one["operation"] == "abandon_round" else one for one in state["offers"]]
    return state | {"offers": offers}


def ending_at(screen: str) -> dict[str, Any]:
    """Return the table after the first request, at the screen, to end a round in which nobody is paid."""
    table = _nobody_paid()
    table.do(operations.RecordSettled())
    table.do(operations.ConcludeRound())
    state = message(table.state)
    asked = {"asked_by": "kim", "asked_screen": screen, "asked_utc_ns": NOW - 1_000_000_000}
    return state | {"offers": [one | asked if one["asked"] else one for one in state["offers"]]}


def tables() -> Iterator[tuple[str, TableHarness]]:
    for phase in Phase:
        if phase is not Phase.DEALING_SINGLES:
            yield str(phase), to_phase(Unit.SETS, phase)
    yield "dealing_singles", to_phase(Unit.SINGLES, Phase.DEALING_SINGLES)
    for name, make in MORE.items():
        yield name, make()


def _dealing(taken: int = 2, **more: Any) -> TableHarness:
    table = TableHarness(**more).start().to_betting()
    table.do(operations.NoMoreBets())
    table.take(taken)
    return table


def _dealt(**more: Any) -> TableHarness:
    table = TableHarness(hands=HANDS, **more).start().to_dealing()
    table.deal()
    return table


def _reported(kind: Kind, place: str | None = None, **more: Any) -> TableHarness:
    table = _dealt() if kind is not Kind.SIMULTANEOUS else _dealing(2)
    table.report(kind, place, **more)
    return table


def _away() -> TableHarness:
    table = _dealing(2)
    table.lose_link()
    return table


def _back() -> TableHarness:
    table = _away()
    table.connect()
    return table


def _closed_away() -> TableHarness:
    table = to_phase(Unit.SETS, Phase.CLOSED)
    table.lose_link()
    return table


def _three_boxes_away() -> TableHarness:
    settings = Settings("NC", Unit.SETS, 3, count_stub_by_hand=True)
    table = TableHarness(boxes=(1, 2, 3), settings=settings).start().to_betting()
    table.do(operations.NoMoreBets())
    table.take(2)
    table.lose_link()
    return table


def _all_results() -> TableHarness:
    settings = Settings("NC", Unit.SETS, 9, count_stub_by_hand=True)
    table = TableHarness(boxes=SEVEN, settings=settings, hands=ALL_HANDS).start().to_dealing()
    table.take(6)
    table.report(Kind.EXPOSED_CARD, "B5")
    table.confirm()
    table.choose(**{place: WITHDRAW if place == "B5" else CONTINUE for place in table.state.round.live_places})
    table.deal()
    table.expose_all()
    return table


def _bets_of_each() -> TableHarness:
    """Return the bets of two bettors, one with two kinds of bets."""
    table = TableHarness(boxes=(2, 3, 6), hands={place: ALL_HANDS[place] for place in ("B2", "B3", "B6", "D")}).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.EnterBettor("Ann", 1))
    table.do(operations.EnterBettor("Bob", 3))
    table.do(operations.PlaceYourBets())
    for bettor, wager, box in (("Ann", "main", 2), ("Ann", "main", 6), ("Bob", "main", 3), ("Ann", "tie", 3)):
        table.do(operations.PlaceWager(bettor, wager, box, 100))
    table.do(operations.NoMoreBets())
    table.deal()
    table.expose_all()
    return table


def _touched() -> TableHarness:
    table = _dealt()
    table.do(operations.HandleCards("B1"))
    table.do(operations.HandleCards("B3", viewed=True))
    return table


def _paused() -> TableHarness:
    table = _dealing(2)
    table.do(operations.PauseTable("a dispute at box 3"))
    return table


def _choosing() -> TableHarness:
    table = _dealing(2)
    table.report(Kind.EXPOSED_CARD, "B3")
    table.confirm()
    return table


def _all_choose() -> TableHarness:
    """Return seven bettors who choose; one has chosen."""
    table = TableHarness(boxes=SEVEN).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    for number in SEVEN:
        table.do(operations.EnterBettor(f"Ann {number}", number))
    table.do(operations.PlaceYourBets())
    for number in SEVEN:
        table.do(operations.PlaceWager(f"Ann {number}", "main", number, 100))
    table.do(operations.NoMoreBets())
    table.take(2)
    table.report(Kind.EXPOSED_CARD, "B2")
    table.confirm()
    found = table.open
    table.do(operations.ChooseOption(found.id, found.revision, "B2", Choice.WITHDRAW, bettor="Ann 2"))
    return table


def _ordering() -> TableHarness:
    table = _dealing(2)
    table.report(Kind.SIMULTANEOUS)
    table.confirm(order_known=False)
    return table


def _abandoning() -> TableHarness:
    table = _dealing(2)
    table.do(operations.AbandonRound("Kim Lau", "fire alarm"), Role.SHIFT_MANAGER)
    return table


def _first_card_shown(taken: int) -> TableHarness:
    table = TableHarness(game_id="F3").start().to_betting()
    table.close_bets()
    table.take(taken)
    return table


def _nobody_paid() -> TableHarness:
    """Return a table at which the Dealer beats the only box."""
    hands = {"B1": "2D 3C TS", "D": "KH 7S TD"}
    table = TableHarness(boxes=(1,), hands=hands).start().to_dealing()
    table.deal()
    table.expose_all()
    return table


def _swapped() -> TableHarness:
    table = _dealt(unit=Unit.SINGLES)
    table.swap("B1", "B6")
    return table


def _miscounted() -> TableHarness:
    table = _dealing(2)
    table.do(operations.CountCards("stub", 40, "sam"))
    return table


def _moving() -> TableHarness:
    table = _swapped()
    table.confirm(handled=False)
    return table


def _turned_down() -> TableHarness:
    table = _reported(Kind.EXPOSED_CARD, "B3", card=3)
    table.confirm()
    table.all_continue()
    return table


def _picked_up() -> TableHarness:
    table = _dealing(2)
    table.do(operations.PlaceCards((operations.CardAt(5, "dropped"),)))
    table.report(Kind.DROPPED_CARD, "B3", card=2)
    table.confirm(reconstructable=False)
    table.all_continue()
    return table


def _taken_out() -> TableHarness:
    table = _dealt()
    table.handle("B1")
    table.report(Kind.WRONG_COUNT, "D", counted=4)
    table.confirm(reconstructable=True)
    return table


def _face_up_ahead() -> TableHarness:
    table = _dealing(1)
    table.device.find_face_up(8)
    table.confirm(Role.DEALER)
    return table


def _every_box(game_id: str, boxes: int) -> TableHarness:
    """Return a table with a bet at each box, once all hands are turned over."""
    settings = Settings(game_id, Unit.SETS, boxes, count_stub_by_hand=True)
    table = TableHarness(boxes=tuple(range(1, boxes + 1)), settings=settings, game_id=game_id).start().to_dealing()
    table.deal()
    table.expose_all()
    return table


def _fourth_card() -> TableHarness:
    """Return a deal in which a card of the second hand lies at the first one."""
    table = _dealing(2)
    table.do(operations.PlaceCards((operations.CardAt(4, "B1"),)))
    return table


MORE: Final[dict[str, Made]] = {
    "touched": _touched,
    "all results": _all_results,
    "bets of each": _bets_of_each,
    "three boxes": lambda: _every_box("NC", 3),
    "eight boxes": lambda: _every_box("RTP", 8),
    "bets both ways": lambda: _every_box("F3", 3),
    "fourth card": _fourth_card,
    "nobody is paid": _nobody_paid,
    "swapped": _swapped,
    "paused": _paused,
    "away": _away,
    "three boxes away": _three_boxes_away,
    "closed away": _closed_away,
    "back": _back,
    "four cards": lambda: _reported(Kind.WRONG_COUNT, "D", counted=4),
    "late bet": lambda: _reported(Kind.LATE_BET, "B3"),
    "foreign card": lambda: _reported(Kind.FOREIGN_CARD),
    "exposed": lambda: _reported(Kind.EXPOSED_CARD, "B3"),
    "ordering": _ordering,
    "choosing": _choosing,
    "all choose": _all_choose,
    "miscounted": _miscounted,
    "moving": _moving,
    "turned down": _turned_down,
    "picked up": _picked_up,
    "taken out": _taken_out,
    "face up in the device": _face_up_ahead,
    "abandoning": _abandoning,
    "deal begins after the First Card": lambda: _first_card_shown(0),
    "dealing after the First Card": lambda: _first_card_shown(2),
}
