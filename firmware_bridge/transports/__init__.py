"""Transports: ways for bytes to a device and back, each under one small interface (`firmware_bridge.transports.base`).

A transport knows no protocol, and it never connects again by itself: that is the link keeper's.
"""
