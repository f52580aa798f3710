"""The table: one pure decision for every input.

    decide(state, input) -> events          the only place that judges (`decide`, with the rooms it hands to)
    evolve(state, event) -> state           sets what the event names and judges nothing

`phases` is the theory of the round, `state` what is known, `inputs`, `operations` and `events` the vocabulary.
"""
