"""What a document calls its places and outcomes: the words of headings and of sentences about its hands."""

from __future__ import annotations

from typing import Final, NamedTuple

from controller.games.specification import DEALER
from controller.rules.hands import Outcome


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

        >>> words_of("NC").of("B2"), words_of("F3").of("B2"), words_of("F3").of("D")
        ('box 2', 'Player 2', 'the Banker')
        """
        return f"the {self.dealer}" if place == DEALER else self.box(int(place[1:]))

    def own(self, text: str) -> str:
        """A phrase that is the same for all games, with this one's names for whose hand it is.

        The Dealer remains who deals: it is the hand that has another name.

        >>> words_of("F3").own("the Dealer's hand ranks higher than the box's")
        "the Banker's hand ranks higher than the Player's"
        """
        return text.replace("the Dealer's", f"the {self.dealer}'s").replace("the box's", f"the {self.place}'s")

    def said_of(self, outcome: Outcome, tie_word: str) -> str:
        return {Outcome.WIN: self.wins, Outcome.LOSE: self.loses, Outcome.TIE: tie_word}[outcome]


USUAL: Final = OwnWords()  # also of a game that has none of its own here
WON_AND_LOST: Final = OwnWords(wins="won", loses="lost")
OWN: Final = {
    "TP": WON_AND_LOST,  # TP 3.7
    "RTP": WON_AND_LOST,  # RTP 3.16
    "P3": WON_AND_LOST,  # P3 3.8
    "F3": OwnWords("Banker", "Player", "Players", "Win", "Lose"),  # F3 PM1, PM4
}


def words_of(game_id: str) -> OwnWords:
    return OWN.get(game_id, USUAL)
