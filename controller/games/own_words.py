"""A document's own words for its places and outcomes, in headings and in sentences about its hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, overload

from msgspec.structs import replace

from firmware_bridge.messages import AnyText, Argument, Message, message

DEALER: Final = "D"
BANKER: Final = message("Banker")
PLAYER: Final = message("Player")


class OwnWords(NamedTuple):
    """One document's words. `place` and `places` precede a box's number; `wins` and `loses` are verbs of its hand."""

    dealer: Message = message("Dealer")
    place: Message = message("box")
    places: Message = message("boxes")
    wins: Message = message("wins")
    loses: Message = message("loses")

    @property
    def dealers_hand(self) -> Message:
        return self.own(message("the {dealer}'s hand"))

    def box(self, number: int) -> Message:
        return message("Player {number}" if self.place == PLAYER else "box {number}", number=number)

    def spot(self, number: int) -> Message:
        """Return the name of the place of bets: a box, or the Dealer's spot, which has the number 0."""
        if number:
            return self.box(number)
        return self.own(message("the {dealer}'s spot"))

    def of(self, place: str) -> Message:
        """Return the name of a place of the deal.

        >>> str(OwnWords().of("B2")), str(OwnWords(BANKER, PLAYER).of("B2")), str(OwnWords(BANKER).of("D"))
        ('box 2', 'Player 2', 'the Banker')
        """
        if place == DEALER:
            return self.own(message("the {dealer}"))
        return self.box(int(place[1:]))

    def of_all(self, places: Sequence[str]) -> Message:
        """Return the names of several places of the deal in one phrase, the Dealer last.

        >>> str(OwnWords().of_all(["B1", "B3", "D"])), str(OwnWords().of_all(["B2"]))
        ("boxes 1 and 3 and the Dealer's hand", 'box 2')
        """
        boxes = tuple(int(place[1:]) for place in places if place != DEALER)
        named = [self.box(number) for number in boxes]
        if len(boxes) > 1:
            named = [message("Players {numbers}" if self.place == PLAYER else "boxes {numbers}", numbers=boxes)]
        if DEALER in places:
            named.append(self.dealers_hand)
        return named[0] if len(named) == 1 else Message("{parts}", {"parts": tuple(named)})

    @overload
    def own(self, said: Message) -> Message: ...
    @overload
    def own(self, said: AnyText) -> AnyText: ...
    def own(self, said: AnyText) -> AnyText:
        """Fill the slots `{dealer}` and `{box}` of a phrase that all games share with this game's owners of hands.

        Messages within the phrase are filled as well, and text that a casino wrote stays as it is. The person who deals
        remains the Dealer; only the hand has another name.

        >>> str(OwnWords(BANKER, PLAYER).own(message("the {dealer}'s hand ranks higher than the {box}'s")))
        "the Banker's hand ranks higher than the Player's"
        """
        return said if isinstance(said, str) else _filled(said, {"dealer": self.dealer, "box": self.place})


def _filled(said: Message, owners: dict[str, Message]) -> Message:
    """Return a message with the owners of hands in the slots for which it does not have an argument, also within nested
    messages.
    """
    args = {name: _argument(given, owners) for name, given in said.args.items()}
    texts = said.id + said.many
    missing = {name: owner for name, owner in owners.items() if f"{{{name}}}" in texts and name not in args}
    return replace(said, args=args | missing) if missing or args != said.args else said


def _argument(given: Argument, owners: dict[str, Message]) -> Argument:
    if isinstance(given, tuple):
        return tuple(_filled(one, owners) if isinstance(one, Message) else one for one in given)
    return _filled(given, owners) if isinstance(given, Message) else given
