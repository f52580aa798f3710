"""Card shoes and shufflers: what they report, which commands they take, and how they are connected.

This package knows nothing of games. A transport brings bytes, a driver (which does no I/O) turns them into
observations, and only the link keeper connects and reconnects.
"""
