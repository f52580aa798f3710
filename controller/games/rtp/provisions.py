"""RTP, clause by clause."""

from typing import Final

from controller.games.specification import Provision

DEFINITIONS: Final = (
    Provision("RTP 1.1", outside="it only opens the list of definitions"),
    Provision("RTP 1.1.1", reading="who bets on several positions looks at one hand and bets blind on the others"),
    Provision("RTP 1.1.2", reading="a picture is a jack, queen or king"),
    Provision("RTP 1.1.3", reading="a round lasts from the announcement that opens betting until wagers are settled"),
    Provision(
        "RTP 1.1.4",
        reading="Royal Pictures is one wager with six prices on the box's own hand, whatever the main wager does; "
        "the classes exclude one another",
    ),
    Provision("RTP 1.1.4.1", reading="Any Picture Pair: two pictures of one rank and a card that is not a picture"),
    Provision("RTP 1.1.4.2", reading="Any King: exactly one king in a hand that is not three pictures"),
    Provision("RTP 1.1.4.2.1", reading="a king with two cards that are not pictures is Any King"),
    Provision("RTP 1.1.4.2.2", reading="a king, a queen and a card that is not a picture are Any King"),
    Provision("RTP 1.1.4.2.3", reading="a king, a jack and a card that is not a picture are Any King"),
    Provision("RTP 1.1.4.3", reading="Three Pictures of this wager: three pictures not all of one rank"),
    Provision("RTP 1.1.4.4", reading="three jacks have a price of their own"),
    Provision("RTP 1.1.4.5", reading="three queens have a price of their own"),
    Provision("RTP 1.1.4.6", reading="three kings have a price of their own, the highest"),
    Provision(
        "RTP 1.1.5",
        reading="equal points and as many pictures are a standoff: the main wager is returned, which is not an outcome",
    ),
    Provision("RTP 1.1.6", reading="the Tie wager wins on equal points with the Dealer, and loses otherwise"),
)

MODE_OF_PLAY: Final = (
    Provision(
        "RTP 2.1", reading="a round is dealt from one deck of 52; a card of another back, or a joker, is foreign"
    ),
    Provision("RTP 2.2", reading="a playing area (3.9) is one kind's spot at one position"),
    Provision("RTP 2.2.1", reading="every position has a place for main wagers"),
    Provision("RTP 2.2.2", reading="every position has a place for Tie wagers"),
    Provision("RTP 2.2.3", reading="every position has a place for Royal Pictures wagers"),
)

BETTING: Final = (
    Provision("RTP 3.1", reading='"Place your bets, please" begins the round and opens it to wagers'),
    Provision("RTP 3.2", reading='"No more bets" closes the round to wagers; nothing leaves the device before'),
    Provision("RTP 3.3", reading="the main wager wins if the hand ranks above the Dealer's"),
    Provision(
        "RTP 3.4",
        reading="only positions with a main wager take part; several Players may bet on one, each wager between the "
        "table's minimum and maximum",
    ),
    Provision("RTP 3.5", reading="a side wager needs a main wager on that position by any Player"),
    Provision(
        "RTP 3.6",
        reading="a wager that staff place at a Player's request is the Player's, who answers for where it lies; who "
        "placed it is kept with it where it is entered",
    ),
    Provision("RTP 3.7", reading="a Player may bet on several positions and is viewer of one hand only"),
    Provision(
        "RTP 3.8",
        reading="a pit manager or above may keep a Player to one position: his wagers elsewhere are refused until that "
        "is lifted",
    ),
    Provision("RTP 3.9", reading="a playing area, one kind's spot at a position, takes three wagers at most"),
    Provision(
        "RTP 3.9.1",
        reading="a pit manager or above may let a position take fewer than three wagers of a kind",
    ),
    Provision("RTP 3.10", reading="the viewer of a shared hand is the seated Player who bet on it first"),
    Provision("RTP 3.11", reading="a Player who stands is never viewer of a hand"),
)

DEALING: Final = (
    Provision(
        "RTP 3.12",
        reading="a device that yields sets: three cards to each position with a wager, clockwise from the Dealer's "
        "left, the Dealer last",
    ),
    Provision(
        "RTP 3.12.1",
        reading="a device that yields single cards: one to each position and the Dealer, three times over",
    ),
    Provision("RTP 3.13", reading="each viewer looks at his cards; then the hand lies face up at its place"),
    Provision("RTP 3.14", reading="a hand that no Player controls is opened by the Dealer"),
    Provision("RTP 3.15", reading="the Dealer's hand is turned only when every other hand lies face up"),
    Provision("RTP 3.16", reading="each box is compared with the Dealer: won, lost or standoff"),
)

HANDS: Final = (
    Provision("RTP 3.17", reading="a hand has three cards, and its points come from the sum of their values"),
    Provision("RTP 3.17.1", reading="an ace counts one, two to nine count their face value"),
    Provision("RTP 3.17.1.1", reading="ten, jack, queen and king count zero, and a ten is not a picture"),
    Provision("RTP 3.18", reading="the points of a hand are a single digit, 0 to 9"),
    Provision("RTP 3.18.1", reading="a sum below ten is the points"),
    Provision("RTP 3.18.2", reading="for a sum of ten or more the last digit is the points"),
    Provision(
        "RTP 3.19",
        reading="the Tie wager is paid on equal points even if the ranking differs; three pictures count 0 unless the "
        "casino's reading says otherwise",
    ),
    Provision("RTP 3.20", reading="which pictures a hand holds never matters to its ranking, only how many"),
    Provision("RTP 3.21", reading="suits never matter"),
    Provision(
        "RTP 3.22",
        reading="31 classes: three pictures first, then by points, then by two, one or no picture; the example of "
        "Four, printed with a card too many, is read as 2 A A",
    ),
)

SETTLEMENT: Final = (
    Provision(
        "RTP 4.1",
        reading="main wager even money, half if the winning hand has six points (with pictures or without); Tie 8 to 1",
    ),
    Provision(
        "RTP 4.2",
        reading="Royal Pictures pay 188 for kings, 128 for queens, 88 for jacks, 18 for other three pictures, 8 for a "
        "picture pair, 1 for Any King",
    ),
)

IRREGULARITIES: Final = (
    Provision(
        "RTP 5.1",
        reading="foreign, extra, missing and unshuffled cards are each reported as such; a count decides on the number",
    ),
    Provision("RTP 5.1.1", reading="if if found in the round, they void it, and all wagers are returned"),
    Provision(
        "RTP 5.1.2",
        reading="rounds before the one in which they were found keep their outcomes; "
        "whether a settled round is such a one is a setting",
    ),
    Provision("RTP 5.2", reading='after "No more bets" no wager is taken and none is raised'),
    Provision(
        "RTP 5.3",
        reading="a wager taken back after the close is settled as if it still lay there, except under 5.7 and 5.13.1",
    ),
    Provision(
        "RTP 5.4",
        reading="cards in the wrong place, order or number, and no Player has handled any: if moving complete hands "
        "corrects it, the dealer moves them as the screen shows and confirms it before play goes on; otherwise the "
        "round is void",
    ),
    Provision(
        "RTP 5.5",
        reading="a wrong number of cards in a hand that its Player has viewed: that hand goes and its wagers come "
        "back, until the next round begins",
    ),
    Provision(
        "RTP 5.6", reading="a wrong distribution noted after handling: no card is moved, the round is played to its end"
    ),
    Provision(
        "RTP 5.7",
        reading="under 5.5 and 5.6 a Player may be permitted to withdraw before a further card is exposed; who may "
        "permit it is configured",
    ),
    Provision("RTP 5.8", reading="a card exposed in dealing is turned down and the deal goes on"),
    Provision("RTP 5.8.1", reading="from a device of single cards, an exposed first card of the round voids it"),
    Provision(
        "RTP 5.9",
        reading="a doubt about the number of cards is settled by a count by hand; a wrong one voids; "
        "whether after settlement too is a setting",
    ),
    Provision(
        "RTP 5.10",
        reading="a wager under the minimum is settled once; from then on that Player's are returned, won or lost",
    ),
    Provision("RTP 5.11", reading="a wager over the maximum wins and loses the maximum only"),
    Provision("RTP 5.12", reading="what an earlier round paid or took outside the limits stays as it is"),
    Provision("RTP 5.13", reading="a power failure is resolved by what the known cards have already decided"),
    Provision(
        "RTP 5.13.1",
        reading="no placed wager is won or lost yet: each Player may withdraw, all his wagers or none, and the rest of "
        "the round is finished",
    ),
    Provision("RTP 5.13.2", reading="some placed wager is won or lost already: no one withdraws, play goes on"),
)

GENERAL: Final = (
    Provision("RTP 6.1", reading="what no other clause covers waits for a ruling of the Gaming Shift Manager"),
    Provision("RTP 6.2", reading="a person in a higher position may do what a clause gives to a lower one"),
    Provision("RTP App. A", reading="a table has one to eight positions"),
    Provision("RTP App. B", reading="a table has one to eight positions, as Appendix A"),
)

PROVISIONS: Final[tuple[Provision, ...]] = (
    *DEFINITIONS,
    *MODE_OF_PLAY,
    *BETTING,
    *DEALING,
    *HANDS,
    *SETTLEMENT,
    *IRREGULARITIES,
    *GENERAL,
)
