"""The right to look at a hand that has bets on it (RTP 3.7, 3.10, 3.11, 3.14, NC 1.15, 3.10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from controller.games.wager_specification import Viewer
from controller.rules.law import Law
from controller.rules.layout import Layout, seated_player

NO_VIEWER_YET: Final[Mapping[str, int]] = {}


class ViewingRefusal(msgspec.Struct, frozen=True):
    """The reason why a bettor may not look at a hand: a sentence and its clause."""

    sentence: str
    clause: str


def viewer(law: Law, layout: Layout, box: int, viewing: Mapping[str, int] = NO_VIEWER_YET) -> str | None:
    """Return the bettor who looks at the hand of a box; None if nobody controls it and the Dealer opens it (RTP 3.14).

    `viewing` maps each bettor to the box whose hand he has already looked at. Where a bettor may look at one hand only,
    a bettor who has looked at another is passed over and plays this hand blind (RTP 1.1.1, 3.7). Where the document
    does not say which of several bettors looks, the first who placed a bet there does.
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
        return ViewingRefusal("in this game the Dealer exposes every hand; leave the cards where they lie", "")
    if all(bet.bettor != bettor_id for bet in layout.on(box)):
        return ViewingRefusal(
            f"{bettor_id} has no bet on box {box}; let a bettor of that box look", betting.viewer_clause
        )
    if betting.seated_to_view and layout.bettor(bettor_id).seat is None:
        return ViewingRefusal(f"{bettor_id} is not seated; only who sits looks at cards", betting.seated_to_view)
    elsewhere = viewing.get(bettor_id, box)
    if betting.one_hand_viewed and elsewhere != box:
        return ViewingRefusal(
            f"{bettor_id} looks at box {elsewhere} and may look at one hand only; the Dealer opens box {box}",
            betting.one_hand_viewed,
        )
    named = viewer(law, layout, box, viewing)
    if betting.viewer is not Viewer.UNSAID and named != bettor_id:
        whose = f"{named} looks at the hand of box {box}" if named else f"the Dealer opens the hand of box {box}"
        return ViewingRefusal(f"{whose}; hand the cards over", betting.viewer_clause)
    return None
