"""What a document calls its places and outcomes: the words of headings and of sentences about its hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

DEALER: Final = "D"


class OwnWords(NamedTuple):
    """`place` and `places` stand before the number of a betting box; `wins` and `loses` are said of its hand."""

    dealer: str = "Dealer"
    place: str = "box"
    places: str = "boxes"
    wins: str = "wins"
    loses: str = "loses"

    @property
    def dealers_hand(self) -> str:
        return f"the {self.dealer}'s hand"

    def box(self, number: int) -> str:
        return f"{self.place} {number}"

    def spot(self, number: int) -> str:
        """Where bets lie: a box, or the Dealer's spot, which has the number 0."""
        return self.box(number) if number else f"the {self.dealer}'s spot"

    def of(self, place: str) -> str:
        """A place of the deal.

        >>> OwnWords().of("B2"), OwnWords("Banker", "Player").of("B2"), OwnWords("Banker").of("D")
        ('box 2', 'Player 2', 'the Banker')
        """
        return f"the {self.dealer}" if place == DEALER else self.box(int(place[1:]))

    def of_all(self, places: Sequence[str]) -> str:
        """Several places of the deal in one phrase, the Dealer last.

        >>> OwnWords().of_all(["B1", "B3", "D"]), OwnWords().of_all(["B2"])
        ("boxes 1 and 3 and the Dealer's hand", 'box 2')
        """
        boxes = [place[1:] for place in places if place != DEALER]
        named = [self.of(f"B{number}") for number in boxes]
        if len(boxes) > 1:
            named = [f"{self.places} {', '.join(boxes[:-1])} and {boxes[-1]}"]
        return " and ".join([*named, *([self.dealers_hand] if DEALER in places else [])])

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
