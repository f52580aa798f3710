"""The table: games as data, the rules, the state machine that enforces them, the journal, and the daemon around it.

Knows no bytes of any device. `rules` and `table` are pure; `journal` and `daemon` do the I/O.
"""
