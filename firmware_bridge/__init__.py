"""Card shoes and shufflers: what they report, which commands they take, and how they are connected.

Knows nothing of games. Bytes come in through a transport, a driver (without I/O of its own) turns them into
observations, and only the link keeper connects and reconnects.
"""
