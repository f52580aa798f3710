"""NC, clause by clause."""

from typing import Final

from controller.games.specification import Provision

DEFINITIONS: Final = (
    Provision("NC 1.1", outside="a synonym: the document's other word for a wager"),
    Provision(
        "NC 1.2",
        reading="any other device is a shoe, which deals card by card (3.12), whatever shuffled its cards",
    ),
    Provision("NC 1.3", outside="it says who is called the Dealer"),
    Provision("NC 1.4", reading="a shuffler that also deals is the kind of device that must yield sets (3.12.1)"),
    Provision("NC 1.5", reading="a hand is what one box or the Dealer was dealt in one round"),
    Provision("NC 1.6", outside="it says who is called the House"),
    Provision(
        "NC 1.7", reading="the Initial Bet is the main wager: a box takes part if one lies there before the deal"
    ),
    Provision("NC 1.8", reading="no commission is kept; a win with six points pays half instead"),
    Provision("NC 1.9", reading="a picture is a king, queen or jack of any suit, and counts nothing"),
    Provision(
        "NC 1.10", reading="who acts in a position has its powers: people log in with the rank in which they act"
    ),
    Provision("NC 1.11", reading="a Player is a bettor: a person with a wager in the round, seated or standing"),
    Provision("NC 1.12", reading="points are the sum of the values; of a sum above nine only the last digit"),
    Provision("NC 1.13", reading="to reconstruct is to bring cards to the places where the intended order puts them"),
    Provision("NC 1.14", reading="a round lasts from the announcement that opens betting until all are settled"),
    Provision(
        "NC 1.15",
        reading="the bettor who sits at a box is its viewer; if no one sits there, the one with the highest bet",
    ),
    Provision("NC 1.16", reading="others who bet on that box are standing: each chooses and is settled for himself"),
    Provision(
        "NC 1.17", reading="the Three Pictures Bet looks at the box's own hand unless the casino reads it otherwise"
    ),
    Provision("NC 1.18", reading="equal points decide the Tie Bet, whatever the result of the Initial Bet"),
    Provision("NC 1.19", reading="a void round is a round without results; it is never settled"),
)

MODE_OF_PLAY: Final = (
    Provision("NC 2.1", outside="a heading over the print of the cloth"),
    Provision("NC 2.1.1", outside="it shows what is printed on the cloth"),
    Provision(
        "NC 2.1.1.a", reading="how many boxes there are is the layout's: configured, and no box beyond it exists"
    ),
    Provision("NC 2.2", outside="a heading over the cards"),
    Provision("NC 2.2.1", reading="a round is dealt from one deck of 52; the cards of a round add up to it"),
)

BETTING: Final = (
    Provision("NC 3.1", reading="the Initial Bet wins if the hand ranks above the Dealer's"),
    Provision("NC 3.2", reading="points are 0 to 9, nine the best; three pictures stand outside that count"),
    Provision("NC 3.2.1", reading="an ace counts one"),
    Provision("NC 3.2.2", reading="two to nine count their face value"),
    Provision("NC 3.2.3", reading="ten, jack, queen and king count zero"),
    Provision("NC 3.3", reading="hands rank as Appendix C lists them"),
    Provision("NC 3.4", reading='"Place your Bets, please" begins the round and opens it to wagers'),
    Provision(
        "NC 3.5",
        reading="minimum and maximum of each kind of bet are the table's, from its configuration; a bet is checked "
        "against them when it is entered",
    ),
    Provision("NC 3.6", outside="it makes the Player answer for the size of his bet"),
    Provision("NC 3.7", reading="room that is left under a box's maximum may be filled by any other bettor"),
    Provision("NC 3.8", reading="one bettor may bet on several boxes"),
    Provision("NC 3.9", reading="a side bet needs an Initial Bet on that box by any bettor; it is on that box's hand"),
    Provision(
        "NC 3.10", reading="a bettor is viewer of one hand only; what he bets on a hand stays within its maximum"
    ),
    Provision("NC 3.11", reading='"No more Bets" closes the round to wagers; nothing leaves the device before'),
)

DEALING: Final = (
    Provision(
        "NC 3.12",
        reading="a device that yields single cards: one to each box with an Initial Bet, clockwise from the Dealer's "
        "left, then one to the Dealer, three times over",
    ),
    Provision(
        "NC 3.12.1",
        reading="a shuffler that deals yields sets: three cards to each box in turn, the Dealer last; one that yields "
        "single cards is refused",
    ),
    Provision(
        "NC 3.13",
        reading="when Players have examined their cards, which the house may have entered, the Dealer's hand is turned "
        "and compared",
    ),
    Provision("NC 3.13.1", reading="a higher ranking wins the Initial Bet"),
    Provision("NC 3.13.2", reading="a lower ranking loses the Initial Bet"),
    Provision("NC 3.13.3", reading="the same ranking returns the Initial Bet and pays the Tie Bet"),
    Provision("NC 3.13.4", reading="equal points with another ranking settle the Initial Bet and pay the Tie Bet"),
    Provision(
        "NC 4.1",
        reading="Initial Bet even money, half if the winning hand has six points (with pictures or without); Tie "
        "8 to 1, Three Pictures 16 to 1",
    ),
)

LIMITS: Final = (
    Provision(
        "NC 5.1",
        reading="before the close, what lies beyond a box's maximum is refused or goes back; seated bettors come "
        "before standing ones",
    ),
    Provision(
        "NC 5.1.1",
        reading="an excess noticed too late: the box's bettors share the maximum in proportion to their bets, and "
        "no share falls below the minimum as a result",
    ),
    Provision(
        "NC 5.1.2",
        reading="a bet below the minimum on such a box is not cut; in another reading no bet there is cut",
    ),
    Provision(
        "NC 5.2",
        reading="before the close, a bet that leaves its box below the minimum is refused, and the minimum is named",
    ),
    Provision("NC 5.2.1", reading="after the close, a bet below the minimum wins or loses as it lies"),
    Provision(
        "NC 5.3",
        reading="the bets of a bettor who left are settled; where options are asked he counts as going on, confirmed "
        "by a pit supervisor",
    ),
)

IRREGULARITIES: Final = (
    Provision(
        "NC 5.4",
        reading="an interruption counts only if it affects the round: with every card's place certain play goes on",
    ),
    Provision("NC 5.4.1", reading="some placed bet is won or lost already: play goes on to the end"),
    Provision("NC 5.4.2", reading="no placed bet is won or lost yet: the round is void"),
    Provision(
        "NC 5.5",
        reading="any of five situations voids the round; whether a wrong or unshuffled deck does so after the "
        "settlement (1.14) the casino may read otherwise",
    ),
    Provision(
        "NC 5.5.1",
        reading="a card that does not belong to the deck in play voids the round; "
        "whether one found after settlement was found during it is a setting",
    ),
    Provision("NC 5.5.2", reading="a count by hand that shows missing or extra cards voids the round"),
    Provision(
        "NC 5.5.3",
        reading="cards that were not shuffled since they were loaded, or since the last round, void the round the "
        "round",
    ),
    Provision(
        "NC 5.5.4",
        reading="cards in the wrong place, order or number, and no Player has handled any: if moving complete hands "
        "corrects it, the dealer moves them as the screen shows and confirms it before play goes on; otherwise the "
        "round is void",
    ),
    Provision(
        "NC 5.5.5",
        reading="a wrong number of cards in the Dealer's hand voids, unless the dealer can put the cards back into "
        "their order or the next round has begun",
    ),
    Provision(
        "NC 5.6", reading="once the next round has begun, nothing undoes the results and payments of earlier ones"
    ),
    Provision(
        "NC 5.7",
        reading="after any other dealing error each bettor chooses for himself; a bettor who goes on accepts what is "
        "dealt after that, and a second error is asked about under 5.17 unless the casino reads it otherwise",
    ),
    Provision("NC 5.7.1", reading="offered where the cards cannot be reconstructed: go on with the hand as it is"),
    Provision(
        "NC 5.7.2",
        reading="offered where they can: go on with the reconstructed hand; when every bettor has chosen, the dealer "
        "moves the cards as the screen shows, those of hands out of play too, and confirms it before play goes on",
    ),
    Provision(
        "NC 5.7.3",
        reading="offered always: the bet comes back; a hand on which no one goes on is dealt to its end and is dead",
    ),
    Provision("NC 5.8", reading="after the close nothing is placed, raised or withdrawn"),
    Provision(
        "NC 5.9",
        reading="a wrong number of cards in a Player's hand takes that hand out and returns its bets, unless it can be "
        "reconstructed or the next round has begun",
    ),
    Provision(
        "NC 5.10",
        reading="a card found face up in the device is the next card, and the deal goes on; behind the cards of the "
        'round it changes nothing, and before "No more Bets" 5.17 is asked',
    ),
    Provision(
        "NC 5.11",
        reading="cards drawn together in an unknown order: a pit supervisor or above names the order; "
        "whether also of cards for one hand is a setting",
    ),
    Provision(
        "NC 5.11.1",
        reading="whatever the order, each bettor then has the options of 5.7, after an earlier choice as second_error "
        "says; where the casino reads a known order as no error (order_in_log is none) no one has",
    ),
    Provision("NC 5.12", reading="an error found a round later is recorded with its own round and holds no other"),
    Provision(
        "NC 5.13",
        reading="wagers are settled as chips lay at the close; what was entered of them wrongly is corrected with the "
        "reason, by a pit supervisor or above",
    ),
    Provision("NC 5.14", reading="a side bet on a box without an Initial Bet is taken off and returned"),
    Provision("NC 5.15", reading="a void round returns all its bets"),
    Provision(
        "NC 5.16",
        reading="a bet that staff place at a Player's request is the Player's, who answers for where it lies; who "
        "placed it is kept with it where it is entered",
    ),
    Provision(
        "NC 5.17",
        reading="what no other clause resolves, and doubts about how to read one, wait for a ruling of the Table "
        "Games Shift "
        "Manager or above",
    ),
    Provision("NC App. A", outside="a drawing of the cloth, lost in our copy"),
    Provision("NC App. B", outside="another drawing of the cloth, lost in our copy"),
    Provision("NC App. C", reading="31 classes in order: three pictures, then by points and by two, one or no picture"),
)

PROVISIONS: Final[tuple[Provision, ...]] = (
    *DEFINITIONS,
    *MODE_OF_PLAY,
    *BETTING,
    *DEALING,
    *LIMITS,
    *IRREGULARITIES,
)
