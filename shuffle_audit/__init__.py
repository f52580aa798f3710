"""The audit of a shuffler: orders of decks, each with the order that went in, compared with models of shuffles.

    partial_orders  decks that are known in part, as orders of fewer cards
    orders          a deck by the names of its cards, and decks as arrays: the place in the order in of each card out
    packed_decks    decks in little memory, to be read in blocks
    seen_orders     the orders of whole decks, and of those that are known in part
    patterns        counts in one order: rising sequences, peaks, neighbours, cycles, guessed cards
    exact           exact distributions of these counts under uniform orders; sums over several decks
    models          shuffles: uniform, riffle, shelves, by hand, and machines with a fault
    procedures      tests of decks: each with its statistic, its null distribution and its source
    favoured_places, repeated_orders  the most frequent card and place; repeated shuffles
    cells           the rarest of many counts, from the exact chance of each
    shown           the cards of the orders out, by what they are; no order in is needed
    faces_at_places, neighbours, earlier_decks   cards and kinds of cards at places, after each other, and as before
    sampled         procedures with a sampled null distribution, such as chi-square of card against position
    faces           the faces of the cards, and runs of colour, pictures and suits
    dealing         the hands that each game deals from decks, and what wagers gain by them
    hands_dealt     classes of hands, and wins, losses and ties of boxes, compared with the exact odds
    money           the cost of a shuffle: the simulated change of each wager's house edge
    games_dealt     the given decks dealt by all games, compared with the exact odds
    table_hands     the hands in a table's journal, in all rounds and while each box is in play
    kinds           kinds of bad machines, with the decks that find each, and what no audit sees
    edges           the cost in all games: the wagers whose house edge a shuffle changes
    evidence        a measure that grows deck after deck and may be checked at any time; the likeliest shuffle
    face_evidence   the same for cards and kinds of cards at places, without an order in
    verdict         the verdict of procedures and evidence, at one stated chance of a false alarm
    regulators      the chi-square of card against position, as regulators ask for it
    power           how often the verdict finds a model, and how many decks that takes
    order_files     decks in files: JSON Lines and CSV
    journal_orders, journal_recalls   decks in a table's journal, as far as cards were exposed or recalled
    following       decks as they arrive, from a growing file or a journal
    monitor, monitor_meters           the evidence after each deck of a live table, its alarm, and metrics
    commands        `cardshoe audit`

A shuffler should be uniform: each of the n! orders is equally likely, whatever went in. If the order in was random and
is not known, every shuffler that does not look at faces passes, so only a fault that faces show can be found.

Only this package, an extra, and simulated shufflers that use a model import numpy.
"""

from typing import Final

MOST_CARDS: Final = 416
"""The largest deck: eight decks of 52."""
