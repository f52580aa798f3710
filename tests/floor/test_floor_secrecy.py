"""Two floors whose tables differ only in face-down cards look the same: on the page and in the terminal."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from rich.console import Console

from controller.api.bodies import encode
from controller.api.view import LinkView, view_of
from controller.commands.floor.screen import FloorScreen
from controller.commands.floor.telling import Telling
from controller.floor.address import Address, Broker
from controller.floor.broker import BrokerMessage
from controller.floor.follower import FloorFollower, FollowedPart
from controller.floor.page_stream import PageStream
from controller.floor.reporting import KEPT_FOR
from controller.floor.table_report import device_report, table_report
from controller.floor.topics import TablePlace, TopicSubject
from controller.games.specification import Unit
from controller.journal.codec import Moment
from controller.journal.outbox import DecisionMade
from controller.language import languages
from controller.roles import Role
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.state import TableState
from firmware_bridge.cards import Card
from tests.floor.many_tables import NOW
from tests.floor.page_reader import Log
from tests.interfaces.test_secrecy import OverheardTable, overhear_a_deal, turn, two_decks
from tests.support.journal_codec import table_codec

PLACE = TablePlace("vienna", "p1", "nc-07")
BOOT_NS = 5 * 10**12


class Still:
    """A clock that does not advance."""

    def now(self) -> Moment:
        return Moment(NOW, BOOT_NS)


class FloorTable(OverheardTable):
    """A table whose floor view is kept after each decision."""

    def __init__(self, game_id: str, unit: Unit, deck: list[Card]) -> None:
        super().__init__(game_id, unit, deck)
        self._codec_of_floor = table_codec()
        broker = Broker(Address("localhost", 1883, False), None)
        self.follower = FloorFollower(broker, FollowedPart(), lambda: BOOT_NS, Random(1), Log())
        self.follower.floor.connected()
        self.page = PageStream(self.follower, "", clock=lambda: 0.0)
        self.shown: list[bytes] = []

    def watch(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        super().watch(before, given, numbered)
        if not numbered:
            return
        written = self._codec_of_floor.encode(
            self.state.entry, given, [event for _, event in numbered], self.state.round.number
        )
        first, last = numbered[0][0] - 1, numbered[-1][0]
        made = DecisionMade(
            "a" * 32, "f" * 32, first, last, f"{last:064x}", "0" * 64, NOW, self.state.round.number,
            tuple(map(msgspec.Raw, written.events)),
        )  # fmt: skip
        view = view_of(self.state, LinkView("ready", 0.5, 1))
        for subject, said in (
            (TopicSubject.TABLE, table_report(view, NOW, NOW, {})),
            (TopicSubject.DEVICE, device_report(view, NOW)),
            (TopicSubject.JOURNAL, made),
        ):
            payload = msgspec.json.encode(said)
            self.follower._take(BrokerMessage(PLACE.topic(subject), payload, {}, False, 0, KEPT_FOR))
        assert not self.follower.floor.unread
        self.shown += self.drawn()

    def drawn(self) -> list[bytes]:
        found: list[bytes] = []
        for language in languages():
            found.append(encode(self.page.whole(language)))
            found.append(encode(self.page.story_of(PLACE, language)))
            screen = FloorScreen(self.follower, Telling(language, Still()), story=True)
            console = Console(width=120, color_system=None)
            with console.capture() as captured:
                console.print(screen.render(120, 60))
            found.append(captured.get().encode())
        return found


@pytest.mark.parametrize(("game_id", "unit"), [("NC", Unit.SETS), ("TP", Unit.SINGLES), ("F3", Unit.SINGLES)])
def test_face_down_cards_are_not_shown_on_the_floor(game_id: str, unit: Unit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.interfaces.test_secrecy.OverheardTable", FloorTable)
    one, two = (overhear_a_deal(game_id, unit, deck) for deck in two_decks())
    assert isinstance(one, FloorTable)
    assert isinstance(two, FloorTable)
    assert one.shown == two.shown
    assert one.public != two.public, "the decks differ"
    assert any(b"Dealing starts at" in part for part in one.shown), "the deal is shown"
    for table in (one, two):
        table.deny(Role.SHIFT_MANAGER)
        table.expose(turn(table))
    assert one.shown != two.shown, "what is turned over is shown"
