"""Random bytes and spoilt real inputs for everything that reads what others wrote.

    targets   what is fuzzed: a name, the function, the exceptions that are its contract, real inputs to begin with
    mutate    spoils inputs, from a seed
    found     inputs that raised something else once

The short form is among the tests; `python -m tests.fuzz` is the long one (docs/testing.md).
"""
