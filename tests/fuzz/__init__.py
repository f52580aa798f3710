"""Random bytes and mutated real inputs for every reader of other parties' input.

    targets   what is fuzzed: a name, the function, the exceptions of its contract, real inputs to start with
    mutate    mutates inputs, from a seed
    found     inputs that once raised something else

The tests run the short form; `python -m tests.fuzz` runs the long one (docs/testing.md).
"""
