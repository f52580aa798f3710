"""The table: what an input decides, what is recorded of it, and the state that follows.

    decide(state, input) -> events      judges an input by the rules: permitted or refused, what follows
    evolve(state, event) -> state       sets what the event names and judges nothing

An input is journaled with its events. The state is the fold of all events; it is never stored.

Vocabulary    inputs, operations (what people enter), events (what is recorded), phases (of a round, and of service)
State         state: `TableState` and its groups, by how long they last
                  device     the device by its reports, and its open commands: until another one is connected
                  decks      the deck in play, the one that waits, what left the device and lies in no hand
                  duty       the dealer, a pause, maintenance: independent of rounds
                  round      everything that begins again with a round
                  earlier    the round before, whole, while an error of it may still be reported
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
    -> adjudication (confirm, deny, choose, name an order) -> rulings -> dispositions (what the clause brings about)
    irregularities/corrections (of wrong entries) -> reopening (what rested on them)
After every input
    device_commands issues what the device has to do now; next_step gives the next act as a sentence
"""
