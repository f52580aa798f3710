"""The clauses of F3: the irregularity table, and the reading of each clause.

If no row fits, the page is silent and names nobody who decides.
"""

from typing import Final

from controller.games.common import UNTIL_NEXT, as_wrong_count, reaching_settled
from controller.games.specification import Disposition, Facts, Kind, Provision, Row, explained
from controller.roles import Role
from firmware_bridge.messages import Message, message

FACES_UP: Final = explained(
    message("a card lies face up"), message("at this table every card is dealt face up")
)  # reading 45


def invalid(kind: Kind, because: Message, when: Facts | None = None) -> tuple[Row, ...]:
    """Return rows for a round without a result, in which every wager is refunded (X2)."""
    return reaching_settled(Row(kind, "F3 X2", Disposition.VOID, because, when or Facts()))


NUMBER_OF_CARDS: Final = (
    *invalid(Kind.WRONG_COUNT, message("the Banker's hand has a wrong number of cards"), Facts(dealer_hand=True)),
    *invalid(Kind.WRONG_COUNT, message("a Player's hand has a wrong number of cards"), Facts(dealer_hand=False)),
)

IRREGULARITIES: Final = (
    *invalid(Kind.WRONG_DISTRIBUTION, message("cards are in the wrong place or order, handled or not")),
    *NUMBER_OF_CARDS,
    Row(
        Kind.EXPOSED_CARD,
        "F3 PM5",
        Disposition.CONTINUE,
        explained(
            message("the first card was exposed"), message("it is the First Card, which is shown before the deal")
        ),
        when=Facts(first_card=True),
        confirms=Role.DEALER,
    ),
    Row(
        Kind.EXPOSED_CARD,
        "F3 PM2",
        Disposition.CONTINUE,
        FACES_UP,
        confirms=Role.DEALER,
        under=(("faces", "up"),),
    ),
    Row(
        Kind.FACE_UP_IN_DEVICE,
        "F3 X1",
        Disposition.RESHUFFLE,
        message("a card was exposed while the deck was shuffled"),
        when=Facts(shuffling=True),
        noticed=UNTIL_NEXT,
    ),
    Row(
        Kind.FACE_UP_IN_DEVICE,
        "F3 PM2",
        Disposition.CONTINUE,
        FACES_UP,
        when=Facts(before_close=False, shuffling=False, in_stub=False),
        confirms=Role.DEALER,
        under=(("faces", "up"),),
    ),
    *as_wrong_count(Kind.SIMULTANEOUS, NUMBER_OF_CARDS),
    *invalid(
        Kind.SIMULTANEOUS, message("cards came together and are in the wrong order or place"), Facts(misplaced=True)
    ),
    *as_wrong_count(Kind.OTHER_DEALING_ERROR, NUMBER_OF_CARDS),
    *invalid(Kind.OTHER_DEALING_ERROR, message("an error of sequence or placement"), Facts(misplaced=True)),
    Row(
        Kind.CARD_IN_SHUFFLING,
        "F3 X1",
        Disposition.RESHUFFLE,
        message("a card fell or was exposed while the deck was shuffled"),
        noticed=UNTIL_NEXT,
    ),
    *invalid(Kind.DROPPED_CARD, message("a card was dropped in dealing")),
    Row(
        Kind.SIDE_WITHOUT_MAIN,
        "F3 PM4",
        Disposition.CONTINUE,
        explained(message("a side bet has no main bet"), message("no bet in this game needs another")),
        confirms=Role.DEALER,
    ),
    *invalid(Kind.PLAYER_EXPOSED, message("a card was dropped"), Facts(dropped=True)),
)

PROVISIONS: Final[tuple[Provision, ...]] = (
    Provision("F3 PM1", reading=message("four places: the Banker and Players 1 to 3; anyone may bet on any of them")),
    Provision(
        "F3 PM2",
        reading=message(
            "one deck; the deal follows the bets: three cards to each of four places, hand by hand, "
            "counter-clockwise, bet on or not; the First Card decides the first place"
        ),
    ),
    Provision("F3 PM3", reading=message("each Player's hand is compared with the Banker's by ranking")),
    Provision("F3 PM4", reading=message("Win, Lose, Tie and Pair Plus at each Player, Pair Plus alone at the Banker")),
    Provision(
        "F3 PM5",
        reading=message(
            "the First Card is shown before the deal and belongs to no hand; A 5 9 K begin with the Banker, 2 6 "
            "10, 3 7 J and 4 8 Q with Players 1, 2 and 3"
        ),
    ),
    Provision(
        "F3 item 1", reading=message("points rank hands first; the number of pictures decides between equal points")
    ),
    Provision(
        "F3 item 2",
        reading=message("the ten and pictures count zero; only the last digit of the sum counts, for 10 and 20 too"),
    ),
    Provision(
        "F3 item 3", reading=message("P, 2P and 3P stand for one, two and three pictures wherever a hand is named")
    ),
    Provision("F3 item 4", reading=message("a hand is written as its pictures and then its points, as P8 or 2P0")),
    Provision(
        "F3 item 5",
        reading=message("3P is the best hand, 2P9 the next; without pictures 9 is the best; suits never matter"),
    ),
    Provision(
        "F3 item 6", reading=message("the same ranking is a tie: Win and Lose are refunded, and the Tie wager wins")
    ),
    Provision("F3 item 7", reading=message("31 classes, from 3P over 2P9, P9 and 9 down to 2P0, P0 and 0")),
    Provision(
        "F3 item 8",
        reading=message(
            "Pair Plus looks at one hand: straight flush, three of a kind, straight, flush or pair; the ace stands "
            "below 2 or above the king, never between"
        ),
    ),
    Provision("F3 O1", reading=message("Win and Lose pay even money, Tie 8 and 3P 16 for each unit staked")),
    Provision(
        "F3 O2", reading=message("a wager won with six points in the winning hand, Player's or Banker's, pays half")
    ),
    Provision("F3 O3", reading=message("Pair Plus pays 40, 30, 6, 3 or 1")),
    Provision("F3 X1", reading=message("a card that falls or is exposed while the deck is shuffled: shuffle again")),
    Provision(
        "F3 X2",
        reading=message(
            "a card dropped in dealing, a wrong order, place or number of cards: the round is void and every wager "
            "is refunded; whether after settlement too is a setting"
        ),
    ),
)
