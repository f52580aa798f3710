"""Transports: connections that carry bytes to a device and back, with one interface (`transports.base`).

A transport knows no protocol and never reconnects: the link keeper does.
"""
