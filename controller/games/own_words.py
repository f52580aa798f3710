"""What a document calls its places and outcomes: the words of headings and of sentences about its hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from controller.messages import Message, all_of, message

DEALER: Final = "D"
BANKER: Final = "Banker"
PLAYER: Final = "Player"


class OwnWords(NamedTuple):
    """`place` and `places` stand before the number of a betting box; `wins` and `loses` are said of its hand."""

    dealer: str = "Dealer"
    place: str = "box"
    places: str = "boxes"
    wins: str = "wins"
    loses: str = "loses"

    @property
    def dealers_hand(self) -> Message:
        return message("the Banker's hand" if self.dealer == BANKER else "the Dealer's hand")

    def box(self, number: int) -> Message:
        return message("Player {number}" if self.place == PLAYER else "box {number}", number=number)

    def spot(self, number: int) -> Message:
        """Return where bets lie: a box, or the Dealer's spot, which has the number 0."""
        if number:
            return self.box(number)
        return message("the Banker's spot" if self.dealer == BANKER else "the Dealer's spot")

    def of(self, place: str) -> Message:
        """Return a place of the deal.

        >>> str(OwnWords().of("B2")), str(OwnWords("Banker", "Player").of("B2")), str(OwnWords("Banker").of("D"))
        ('box 2', 'Player 2', 'the Banker')
        """
        if place == DEALER:
            return message("the Banker" if self.dealer == BANKER else "the Dealer")
        return self.box(int(place[1:]))

    def of_all(self, places: Sequence[str]) -> Message:
        """Return several places of the deal in one phrase, the Dealer last.

        >>> str(OwnWords().of_all(["B1", "B3", "D"])), str(OwnWords().of_all(["B2"]))
        ("boxes 1 and 3 and the Dealer's hand", 'box 2')
        """
        boxes = tuple(int(place[1:]) for place in places if place != DEALER)
        named = [self.box(number) for number in boxes]
        if len(boxes) > 1:
            named = [message("Players {numbers}" if self.place == PLAYER else "boxes {numbers}", numbers=boxes)]
        if DEALER in places:
            named.append(self.dealers_hand)
        return all_of(named)

    def own(self, text: str) -> str:
        """A phrase that is the same for all games, with this one's names for whose hand it is.

        The Dealer remains who deals: it is the hand that has another name.

        >>> OwnWords("Banker", "Player").own("the Dealer's hand ranks higher than the box's")
        "the Banker's hand ranks higher than the Player's"
        """
        return text.replace("the Dealer's", f"the {self.dealer}'s").replace("the box's", f"the {self.place}'s")

    def said_of(self, outcome: str, tie_word: str) -> str:
        """What a box's hand did; `outcome` as `controller.rules.hands.Outcome` names it."""
        return {"win": self.wins, "lose": self.loses, "tie": tie_word}[outcome]
