"""The table: decides every input, records the result as events, and folds the events to a state.

    decide(state, input) -> events      judges an input by the rules: whether it is permitted, and what follows
    evolve(state, event) -> state       sets what the event names and judges nothing

An input is journaled with its events. The state is the fold of all events; what the journal stores of it
is a cache (saved_state).

Vocabulary    inputs, operations (what people enter), events (what is recorded), phases (of a round, and of service);
              each is one catalogue, since the journal, the API and all features share it
State         state: `TableState` and its groups, by how long they last
                  device     the device by its reports, and its open commands; replaced when another device is connected
                  decks      the deck in play, the waiting deck, and cards outside the device that are in no hand
                  duty       the dealer, a pause, maintenance: independent of rounds
                  round      everything that is reset when a round begins
                  earlier    the previous round, kept while its errors may still be reported
                  open       open irregularities
              round_state, model: the values in it (round, card, hand, deck, irregularity)
              settings: what the casino chose

A feature is a module that has everything about the operations it is named after: what refuses them, what they do, who
may enter them and when, and what people are offered (`feature.OperationRow`). It imports features below it, no circle.

The table      opening, pausing, duty, maintenance, screens (screens and PINs)
A round        starting, betting, first_card, dealing, exposing, settling, recall
Cards          decks, counts, card_places
The device     device_reports, reconciliation (does its status agree with the journal?), admissions (what stops it),
               inference (what no device reports), power_failures
Irregularities irregularities/: raising (which row of the irregularity table) -> questions (what people read)
               -> reporting, adjudication (confirm, deny, choose, name an order) -> rulings -> dispositions (the effects
               of the clause); corrections of wrong entries -> reopening (what rested on them)

A person's operation: perform (is it refused?) -> permissions (the rows of all features) -> the feature.
A device's report: device_reports -> dealing, for cards that leave it.
After every input: device_commands issues the commands that the device needs now, next_step describes the next act,
offers lists what people can enter.
"""
