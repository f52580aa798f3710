"""Whether a shuffler shuffles: orders of decks, each with the order that went in, against models of shuffles.

    deck_orders a deck by the names of its cards, before and after
    partial_orders decks that are known in part, as orders of fewer cards
    orders      decks as arrays: which place of the order in lies at each place of the order out
    patterns    what is counted in one order: rising sequences, peaks, neighbours, cycles, cards that were guessed
    exact       how often each count comes where every order is equally likely; sums over several decks
    distances   how far a shuffle is from that: total variation and others, as published for riffles and shelves
    models      shuffles: uniform, riffle, shelves, by hand, and machines with a fault
    procedures  tests of decks: each with its statistic, its null distribution and its source
    favoured_places, repeated_orders what comes together most often; a shuffle that comes again
    sampled     those whose null distribution is sampled, and the regulators' chi-square of card against position
    chi_square  its tail, for the naive form of that test
    faces       what lies on the cards, and runs of colour, pictures and suits
    dealing     hands from decks, as each game deals them, and what wagers gain by them
    hands_dealt classes of hands, and what boxes win, lose and tie, against the exact odds
    money       what a shuffle costs: the change of each wager's house edge, simulated
    games_dealt given decks as all games deal them, against the exact odds
    edges       what a shuffle costs in all games: the wagers whose house edge it changes
    evidence    what is gathered deck after deck, at which one may look at any time
    verdict     what both say of given decks, at one stated chance of a false alarm
    suspects    which shuffle it is: likelihood ratios of models with a known distribution
    regulators  the chi-square of card against position, as regulators ask for it
    power       how often that finds a model, and how many decks it takes
    limits      the largest deck
    order_files decks in files: JSON Lines and CSV
    journal_orders, journal_recalls decks in the journal of a table, as far as its cards were exposed or recalled
    following   decks as they come, from a file that grows or a journal
    monitor, monitor_meters the evidence after each deck of a live table, its alarm, and metrics
    commands    `cardshoe audit`

Uniform is what a shuffler is to be: each of the n! orders is equally likely, whatever went in. Where what went in
was random and is not known, every shuffler that does not look at faces passes: nothing can be said then.

numpy is imported here, and where a simulated shuffler uses a model: this package is an extra.
"""
