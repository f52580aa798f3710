"""The table: decides every input, records the result as events, and folds the events to a state.

    decide(state, input) -> events      judges an input by the rules: whether it is permitted, and what follows
    evolve(state, event) -> state       sets what the event names and judges nothing

An input is journaled with its events. The state is the fold of all events; it is never stored.

Vocabulary    inputs, operations (what people enter), events (what is recorded), phases (of a round, and of service)
State         state: `TableState` and its groups, by how long they last
                  device     the device by its reports, and its open commands; replaced when another device is connected
                  decks      the deck in play, the waiting deck, and cards outside the device that are in no hand
                  duty       the dealer, a pause, maintenance: independent of rounds
                  round      everything that is reset when a round begins
                  earlier    the previous round, kept while its errors may still be reported
                  open       open irregularities
              round_state, model: the values in it (round, card, hand, deck, irregularity)
              settings: what the casino chose

A person's operation
    perform (is it refused?) -> permissions (one row an operation: rank, phases, `verify`, `act`)
    -> rounds, exposing, betting, decks, counts, card_places, service, or irregularities/
A device's report
    device_reports -> dealing (cards that leave it), inference (what no device reports), interruptions (power)
The link
    reconciliation (does the device's status agree with the journal?) -> service
An irregularity
    irregularities/raising (which row of the irregularity table) -> questions (the sentence that people read)
    -> adjudication (confirm, deny, choose, name an order) -> rulings -> dispositions (the effects of the clause)
    irregularities/corrections (of wrong entries) -> reopening (what rested on them)
After every input
    device_commands issues the commands that the device needs now; next_step describes the next act in a sentence
"""
