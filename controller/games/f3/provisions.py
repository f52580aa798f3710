"""F3, point by point."""

from typing import Final

from controller.games.specification import Provision

PROVISIONS: Final[tuple[Provision, ...]] = (
    Provision("F3 PM1", reading="four places: the Banker and Players 1 to 3; anyone may bet on any of them"),
    Provision(
        "F3 PM2",
        reading="one deck; the deal follows the bets: three cards to each of four places, hand by hand, "
        "counter-clockwise, bet on or not; the First Card decides the first place",
    ),
    Provision("F3 PM3", reading="each Player's hand is compared with the Banker's by ranking"),
    Provision("F3 PM4", reading="Win, Lose, Tie and Pair Plus at each Player, Pair Plus alone at the Banker"),
    Provision(
        "F3 PM5",
        reading="the First Card is shown before the deal and belongs to no hand; A 5 9 K begin with the Banker, 2 6 "
        "10, 3 7 J and 4 8 Q with Players 1, 2 and 3",
    ),
    Provision("F3 item 1", reading="points rank hands first; the number of pictures decides between equal points"),
    Provision(
        "F3 item 2", reading="the ten and pictures count zero; only the last digit of the sum counts, for 10 and 20 too"
    ),
    Provision("F3 item 3", reading="P, 2P and 3P stand for one, two and three pictures wherever a hand is named"),
    Provision("F3 item 4", reading="a hand is written as its pictures and then its points, as P8 or 2P0"),
    Provision(
        "F3 item 5", reading="3P is the best hand, 2P9 the next; without pictures 9 is the best; suits never matter"
    ),
    Provision("F3 item 6", reading="the same ranking is a tie: Win and Lose are refunded, and the Tie wager wins"),
    Provision("F3 item 7", reading="31 classes, from 3P over 2P9, P9 and 9 down to 2P0, P0 and 0"),
    Provision(
        "F3 item 8",
        reading="Pair Plus looks at one hand: straight flush, three of a kind, straight, flush or pair; the ace stands "
        "below 2 or above the king, never between",
    ),
    Provision("F3 O1", reading="Win and Lose pay even money, Tie 8 and 3P 16 for each unit staked"),
    Provision("F3 O2", reading="a wager won with six points in the winning hand, Player's or Banker's, pays half"),
    Provision("F3 O3", reading="Pair Plus pays 40, 30, 6, 3 or 1"),
    Provision("F3 X1", reading="a card that falls or is exposed while the deck is shuffled: shuffle again"),
    Provision(
        "F3 X2",
        reading="a card dropped in dealing, a wrong order, place or number of cards: the round is void and every wager "
        "is refunded; whether after settlement too is a setting",
    ),
)
