"""The irregularity table of F3. If no row fits, the page is silent and names nobody who decides."""

from typing import Final

from controller.games.common import UNTIL_NEXT, as_wrong_count, reaching_settled
from controller.games.specification import Disposition, Facts, Kind, Row, explained
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
