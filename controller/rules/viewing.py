"""The right to look at a hand that has bets on it (RTP 3.7, 3.10, 3.11, 3.14, NC 1.15, 3.10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from controller.games.wager_specification import Viewer
from controller.rules.law import Law
from controller.rules.layout import Layout, seated_player
from firmware_bridge.messages import Message, message

NO_VIEWER_YET: Final[Mapping[str, int]] = {}


class ViewingRefusal(msgspec.Struct, frozen=True):
    """The reason why a bettor may not look at a hand, as a phrase, and its clause."""

    said: Message
    clause: str


def viewer(law: Law, layout: Layout, box: int, viewing: Mapping[str, int] = NO_VIEWER_YET) -> str | None:
    """Return the bettor who looks at the hand of a box; None if nobody controls it and the Dealer opens it (RTP 3.14).

    `viewing` maps each bettor to the box whose hand he has already looked at. Where a bettor may look at one hand only,
    a bettor who has looked at another is passed over and plays this hand blind (RTP 1.1.1, 3.7). If the document does
    not say which of several bettors looks, the first who placed a bet there does.
    """
    if not law.game.examining:
        return None
    for bettor_id in _possible_viewers(law, layout, box):
        if not (law.game.betting.one_hand_viewed and viewing.get(bettor_id, box) != box):
            return bettor_id
    return None


def _possible_viewers(law: Law, layout: Layout, box: int) -> tuple[str, ...]:
    """Return the bettors of a box who may look at its hand, in the order of precedence."""
    bettors = tuple(dict.fromkeys(bet.bettor for bet in layout.on(box)))
    if law.game.betting.seated_to_view:
        bettors = tuple(bettor for bettor in bettors if layout.bettor(bettor).seat is not None)
    if law.game.betting.viewer is Viewer.SEATED_ELSE_HIGHEST:
        seated = seated_player(law, layout, box)
        return () if seated is None else (seated,)
    return bettors


def viewing_refusal(
    law: Law, layout: Layout, bettor_id: str, box: int, viewing: Mapping[str, int] = NO_VIEWER_YET
) -> ViewingRefusal | None:
    """Return why a bettor may not look at the hand of a box, or None if he may. `viewing` is as for `viewer`."""
    betting = law.game.betting
    if not law.game.examining:
        said = message("in this game the Dealer exposes every hand; leave the cards where they lie")
        return ViewingRefusal(said, "")
    name = law.game.words.box
    if all(bet.bettor != bettor_id for bet in layout.on(box)):
        said = message("{bettor} has no bet on {box}; let a bettor of {box} look", bettor=bettor_id, box=name(box))
        return ViewingRefusal(said, betting.viewer_clause)
    if betting.seated_to_view and layout.bettor(bettor_id).seat is None:
        said = message("{bettor} is not seated; only seated players look at cards", bettor=bettor_id)
        return ViewingRefusal(said, betting.seated_to_view)
    elsewhere = viewing.get(bettor_id, box)
    if betting.one_hand_viewed and elsewhere != box:
        said = message(
            "{bettor} looks at {other} and may look at one hand only; the Dealer opens the hand of {box}",
            bettor=bettor_id,
            other=name(elsewhere),
            box=name(box),
        )
        return ViewingRefusal(said, betting.one_hand_viewed)
    named = viewer(law, layout, box, viewing)
    if betting.viewer is Viewer.UNSAID or named == bettor_id:
        return None
    if named:
        said = message("{bettor} looks at the hand of {box}; hand the cards over", bettor=named, box=name(box))
    else:
        said = message("the Dealer opens the hand of {box}; hand the cards over", box=name(box))
    return ViewingRefusal(said, betting.viewer_clause)
