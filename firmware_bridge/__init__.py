"""The device: what a card shoe or shuffler can say and be told, and every way of talking to one.

Knows nothing of games. Bytes come in through a transport, a driver (without I/O of its own) turns them into
observations, and the link keeper alone connects and reconnects.
"""
