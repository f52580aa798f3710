"""SK, clause by clause: what the program makes of each in its own words, or why it is outside. Exactly one of both."""

from typing import Final

from controller.games.specification import Provision

PROVISIONS: Final[tuple[Provision, ...]] = (
    Provision("SK 1.1", reading="the announcement begins the round"),
    Provision("SK 1.2", reading="nothing is placed or withdrawn after it"),
    Provision("SK 2.1", reading="the higher ranking wins even money, half with seven points; equal is returned"),
    Provision("SK 2.2", reading="the Tie wager wins 8 to 1 on equal points, or ranking as the setting says"),
    Provision("SK 2.3", reading="three cards of one suit pay 5 to 1, 40 to 1 if they are consecutive"),
    Provision("SK 3.1", reading="sets go hand by hand"),
    Provision("SK 3.2", reading="single cards go round by round"),
    Provision("SK 3.3", reading="hands are examined"),
    Provision("SK 3.4", reading="the Dealer exposes last"),
    Provision("SK 4.1", reading="a foreign card voids, and all wagers are returned"),
    Provision("SK 4.2", reading="after handling, an exposed card gives each bettor a choice"),
    Provision("SK 4.3", reading="before it, an exposed card voids"),
    Provision("SK 5.1", reading="results of an earlier round stand"),
    Provision("SK 5.2", reading="a count by hand that comes out wrong voids the round"),
    Provision("SK 5.3", reading="a wrong number of cards voids at the Dealer's hand and removes a Player's"),
    Provision("SK 5.4", reading="after a power failure an established outcome is played out, otherwise all is void"),
    Provision("SK 5.5", reading="the rest is the shift manager's to rule on"),
    Provision("SK 5.6", outside="the colour of the layout is no matter of a dealing device"),
)
