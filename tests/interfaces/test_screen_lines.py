"""Lines of events for people at a screen: names, suit signs, and no path of the machine."""

from __future__ import annotations

import pytest

from controller.api.screen_lines import line_for_screens, names_with_screens
from controller.games.own_words import OwnWords
from controller.games.specification import Kind
from controller.language import Speaker
from tests.table.harness import TableHarness

NAMES = {"ana": "Ana Ruiz", "e04": "Left", "#12": 'a bet after "No more bets"'}


@pytest.mark.parametrize(
    ("event", "line"),
    [
        ({"event": "dealer_came", "dealer": "ana"}, "Ana Ruiz deals from now on."),
        ({"event": "dealer_came", "dealer": "ana2"}, "ana2 deals from now on."),
        ({"event": "hand_exposed", "place": "B3", "cards": ["TH", "4D", "KS"]}, "Box 3 shows 10♥ 4♦ K♠."),
        (
            {"event": "device_lost", "code": "transport-lost", "sentence": "The serial port /dev/ttyACM0 is gone."},
            "Device lost: check its power and its cable.",
        ),
        ({"event": "screen_removed", "screen": "e04"}, "Screen Left removed."),
        ({"event": "service_changed", "service": "reconciling", "cause": "/dev/ttyACM0 is gone."}, None),
        (
            {"event": "handed_over", "to_dealer": "ana", "from_dealer": "", "open": [12, 14]},
            'Ana Ruiz takes over the table; open: a bet after "No more bets", 14.',
        ),
        ({"event": "command_done"}, None),
    ],
)
def test_a_line_for_screens(event: dict[str, object], line: str | None) -> None:
    said = line_for_screens(event, OwnWords(), NAMES)
    assert (None if said is None else str(said)) == line


def test_a_text_that_a_person_wrote_is_not_changed() -> None:
    said = line_for_screens({"event": "table_paused", "reason": "ana saw KS"}, OwnWords(), NAMES)
    assert str(said) == "Paused: ana saw KS."


@pytest.mark.parametrize(("title", "game"), [("round {number} begins", "NC"), ("table resumed", ""), ("Dealer", "NC")])
def test_a_title_that_is_not_the_games_own_is_never_translated(title: str, game: str) -> None:
    """Texts of the program, each recorded as the title of a game by another version."""
    event = {"event": "game_chosen", "title": title, "version": "", "effective": "", "settings": {"game": game}}
    said = line_for_screens(event, OwnWords(), NAMES)
    assert said is not None
    assert title in Speaker("zh-Hans")(said)


def test_the_matters_that_are_open_have_names() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.report(Kind.LATE_BET, "B3")
    names = names_with_screens({}, table.state)
    assert {key: str(name) for key, name in names.items()} == {f"#{table.open.id}": 'a bet after "No more bets"'}
