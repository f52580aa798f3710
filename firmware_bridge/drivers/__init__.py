"""Drivers: the protocols of devices, without any I/O.

A driver takes bytes and the time, and returns bytes to send and what it heard (`firmware_bridge.drivers.base`).
"""
